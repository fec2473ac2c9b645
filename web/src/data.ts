import type { RunReport } from './run/data.ts';
import type { SearchReport } from './search/data.ts';
import type { SimulationReport } from './simulation/data.ts';
import type { WatchReport } from './watch/data.ts';

/** What the page carries: a report of one of five kinds. */
export type Data =
  | ({ kind: 'experiment' } & Report)
  | ({ kind: 'run' } & RunReport)
  | ({ kind: 'search' } & SearchReport)
  | ({ kind: 'simulation' } & SimulationReport)
  | ({ kind: 'watch' } & WatchReport);

/**
 * The report of an experiment, as the crate `report` derives it from an experiment's directory
 * (`headworks report DIR --json` prints the same). Times are seconds, rates per second,
 * shares 0..1.
 */
export interface Report {
  title: string;
  started: string;
  ended: string | null;
  interrupted: boolean;
  version: string;
  server: { kind: string; version: string };
  factor: { name: string; unit: string; levels: number[] };
  /** What was compared; with settings of its own once for each, such as `gate, look-ahead 4`. */
  subjects: string[];
  /** With `load`, a class was offered so many times the capacity at every level. */
  classes: { name: string; share: number; load?: number }[];
  capacity: { rate: Estimate; unit: string; directory: string } | null;
  verdict: Verdict;
  limits: Limit[];
  points: Point[];
  tests: Test[];
  method: Fact[];
  sources: Source[];
}

/** A figure with its 95 % interval; `null` where too few observations give none. */
export interface Estimate {
  value: number;
  ci: [number, number] | null;
}

export interface Verdict {
  headline: string;
  details: string[];
  figures: KeyFigure[];
}

export interface KeyFigure {
  value: string;
  label: string;
  note: string;
}

/** What sets the limit of a subject, why that is known, and what to do. */
export interface Limit {
  subject: string;
  /** As the end of a sentence. */
  limit: string;
  evidence: string[];
  next: string[];
}

/** One subject at one level, over every measured repeat. */
export interface Point {
  subject: string;
  level: number;
  /** Sessions per second that set out. */
  offered: number;
  /** Tests pooled. */
  repeats: number;
  started: number;
  /** Of those, then or later. */
  completed: number;
  /** Sessions completed inside the measuring windows, whenever they started. */
  completed_inside: number;
  /** The measuring windows together, in seconds. */
  window: number;
  /** `completed_inside` per second of the windows. */
  goodput: Estimate | null;
  classes: ClassPoint[];
  requests: Requests;
}

export interface ClassPoint {
  name: string;
  started: number;
  completed: number;
  share: Estimate | null;
  duration: Duration | null;
}

/** Session duration with think time taken out, of completed sessions. */
export interface Duration {
  count: number;
  mean: Estimate;
  median: Estimate;
  p90: Estimate;
}

export interface Requests {
  requests: number;
  responses: number;
  phases: { connect: Phase; processing: Phase; transfer: Phase };
  errors: { kind: string; count: number }[];
}

export interface Phase {
  /** Over all requests that came so far. */
  mean: number;
  /** The worst repeat's 99th percentile. */
  p99: number;
  count: number;
}

/** One test as it was run, whether or not it counts. */
export interface Test {
  directory: string;
  subject: string;
  level: number;
  repeat: number;
  offered: number;
  state: 'measured' | 'broken' | 'not valid';
  why: string[];
  /** Files in the directory, relative to the report. */
  files: string[];
  goodput: number | null;
  classes: { name: string; share: number | null; mean: number | null; median: number | null }[];
  client: { cpu: number; lag_p99: number } | null;
}

export interface Fact {
  label: string;
  value: string;
  /** Whether the value is a command line. */
  command: boolean;
}

/** A text that the experiment was made by, such as its spec. */
export interface Source {
  name: string;
  text: string;
}

/** Reads the data that the page carries; throws when it carries none. */
export function readData(): Data {
  const text = document.getElementById('data')?.textContent ?? 'null';
  const data = JSON.parse(text) as Data | null;
  if (data === null) {
    throw new Error('This page is the empty form of a report: `headworks report DIR` fills it.');
  }
  return data;
}

/** Whether levels are multiples of the server's capacity, so that 1 means "just full". */
export function isRelativeLoad(report: Report): boolean {
  return report.factor.unit === 'x capacity';
}
