import type { Fact, Source, Verdict } from '../data.ts';
import type { Figure } from '../simulation/data.ts';

/**
 * The report of a search for the knee, or of an experiment of searches, as the crate `report` derives it
 * (`headworks report DIR --json` prints the same). Times are seconds, rates per second, shares 0..1.
 */
export interface SearchReport {
  title: string;
  version: string;
  verdict: Verdict;
  warnings: string[];
  compared: Figure[];
  searches: OneSearch[];
  method: Fact[];
  sources: Source[];
}

export interface OneSearch {
  id: string;
  name: string;
  directory: string;
  /** Capacity, interval and bottleneck in a line. */
  result: string;
  why: string[];
  evidence: string[];
  order: string[];
  next: string[];
  basis: string[];
  figures: Figure[];
}
