import type { Estimate, Fact, Source, Verdict } from '../data.ts';

/**
 * The report of the simulator or its sweeps, as the crate `report` derives it from their directory
 * (`headworks report DIR --json` prints the same). Times are seconds, rates per second, shares
 * 0..1.
 */
export interface SimulationReport {
  title: string;
  version: string;
  verdict: Verdict;
  warnings: string[];
  checks: Check[];
  /** Of a single simulation: for all requests, and then for each class. */
  outcomes: Outcome[];
  course: Course | null;
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

/** `null` where nothing was observed. */
export interface Outcome {
  name: string;
  rejected: Estimate | null;
  mean: Estimate | null;
  p50: Estimate | null;
  p90: Estimate | null;
  p99: Estimate | null;
  throughput: Estimate | null;
}

/** One replication over simulated time, in intervals that follow one another from 0. */
export interface Course {
  /** Of the intervals. */
  ends: number[];
  /** Of the intervals that the beginning has for itself, in more detail. */
  beginning: number[];
  /** In each interval. */
  arrivals: number;
  /** When it ended. */
  warmup: number;
  figures: CourseFigure[];
}

export interface CourseFigure {
  id: string;
  title: string;
  caption: string;
  /** Whether it shows the beginning in more detail, and not the whole. */
  beginning: boolean;
  /** Whether the y axis is logarithmic at first; `null` where it cannot be. */
  logarithmic: boolean | null;
  charts: CourseChart[];
}

export interface CourseChart {
  title: string;
  label: string;
  unit: Unit;
  lines: {
    name: string;
    values: (number | null)[];
    /** The least and the greatest of each interval; empty where only values are shown. */
    ranges: ([number, number] | null)[];
  }[];
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
  marks: Mark[];
  /** From where on there is more than can be carried. */
  overload: number | null;
}

/** Where along the bottom something begins. */
export interface Mark {
  x: number;
  name: string;
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
