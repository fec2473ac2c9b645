import type { Fact, Source, Verdict } from '../data.ts';
import type { CourseChart } from '../simulation/data.ts';

/**
 * The report of a watch, or of several side by side, as the crate `report` derives it from their
 * directory (`headworks report DIR --json` prints the same).
 */
export interface WatchReport {
  title: string;
  started: string;
  version: string;
  verdict: Verdict;
  warnings: string[];
  tables: Table[];
  /** When the watches looked, in seconds since they began. */
  looks: number[];
  figures: TimeFigure[];
  method: Fact[];
  sources: Source[];
  files: string[];
}

/** Figures as they are to be read. */
export interface Table {
  id: string;
  title: string;
  /** What it repeats, such as `Table 5`, or nothing. */
  place: string;
  hint: string;
  /** What the rows are. */
  of: string;
  columns: string[];
  rows: { name: string; cells: string[] }[];
}

export interface TimeFigure {
  id: string;
  title: string;
  caption: string;
  charts: CourseChart[];
}
