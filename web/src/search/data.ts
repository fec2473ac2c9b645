import type { Estimate, Fact, Source, Verdict } from '../data.ts';
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
  effects: Effect[];
  compared: Figure[];
  searches: OneSearch[];
  method: Fact[];
  sources: Source[];
}

/** The capacity at a level of what was varied, and how it differs from that at the first. */
export interface Effect {
  factor: string;
  beside: string;
  level: string;
  capacity: Estimate;
  repeats: number;
  /** In how many of them the first level was measured too. */
  pairs: number;
  /** Repeat by repeat. */
  times: Estimate | null;
  chance: number | null;
  is_confounded: boolean;
  /** What somebody else found. */
  published: { source: string; times: number } | null;
  verdict: 'more' | 'less' | 'chance' | '';
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
  predicted: string[];
  figures: Figure[];
}
