import type { Estimate, Fact, Source, Verdict } from '../data.ts';

/**
 * The report of sweeps of the simulator, as the crate `report` derives it from their directory
 * (`headworks report DIR --json` prints the same). Times are seconds, rates per second, shares
 * 0..1.
 */
export interface SimulationReport {
  title: string;
  version: string;
  verdict: Verdict;
  warnings: string[];
  checks: Check[];
  figures: Figure[];
  method: Fact[];
  sources: Source[];
}

/** A statement, held against what came out. */
export interface Check {
  /** Where it is made, such as `Figure 4`. */
  place: string;
  statement: string;
  holds: boolean;
  evidence: string;
}

export interface Figure {
  id: string;
  title: string;
  /** What it repeats, such as `Figure 4`, or nothing. */
  place: string;
  caption: string;
  x: Axis;
  y: Axis;
  curves: { name: string; points: Place[] }[];
}

export interface Axis {
  label: string;
  unit: Unit;
  logarithmic: boolean;
}

export type Unit = 'plain' | 'percent' | 'seconds' | 'bytes' | 'rate';

export interface Place {
  x: number;
  y: Estimate;
  note: string;
}
