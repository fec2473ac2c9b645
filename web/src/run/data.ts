import type { Estimate, Fact, Source, Verdict } from '../data.ts';

/**
 * The report of a single run, as the crate `report` derives it from the run's directory
 * (`headworks report DIR --json` prints the same). Times are seconds, rates per second, shares
 * 0..1. Unless it is said otherwise, of the requests that were due in the measuring window.
 */
export interface RunReport {
  title: string;
  /** How much load that was, in a few words. */
  load: string;
  started: string;
  ended: string | null;
  version: string;
  unit: 'requests' | 'sessions';
  window: [number, number];
  verdict: Verdict;
  contradictions: string[];
  summary: Summary;
  distributions: Distribution[];
  urls: { distinct: number; complete: boolean; rows: UrlRow[] };
  timeline: Timeline;
  steps: Steps;
  sizes: { bytes: number; transfer: number; count: number }[];
  counters: [string, number][];
  method: Fact[];
  sources: Source[];
  /** Files beside the report. */
  files: string[];
}

export interface Quantiles {
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  p999: number;
  max: number;
  /** With 0 the others mean nothing. */
  count: number;
}

export interface Summary {
  requests: number;
  responses: number;
  bytes: number;
  duration: number;
  rate: { offered: number; achieved: number };
  status: Record<string, number>;
  errors: Record<string, number>;
  censored: number;
  sessions: {
    started: number;
    completed: number;
    by_class: Record<string, ClassSummary>;
  };
  client: { cpu: number; lag: Quantiles; valid: boolean; why_invalid: string[] };
  connections: { opened: number; reused: number; syn_retransmits: number };
  interrupted: boolean;
  objectives?: { objective: string; measured: number | null; met: boolean }[];
}

export interface ClassSummary {
  started: number;
  completed: number;
  timeout: number;
  refused: number;
  error: number;
  censored: number;
  duration: Quantiles;
}

export type PhaseName = 'total' | 'connect' | 'processing' | 'transfer' | 'server';

export interface Distribution {
  phase: PhaseName;
  quantiles: Quantiles;
  /** Nines and latency: a share 1 - 10^-n of all is at or below the latency beside n. */
  curve: [number, number][];
}

export interface UrlRow {
  url: string;
  count: number;
  failed: number;
  bytes: number | null;
  total: Quantiles;
  connect: Quantiles;
  processing: Quantiles;
  transfer: Quantiles;
}

/** One value for each stretch of the run, warm-up and all. */
export interface Timeline {
  width: number;
  due: number[];
  begun: number[];
  answered: number[];
  errors: number[];
  opened: number[];
  syn_retransmits: number[];
  connect_timeouts: number[];
  total: Percentiles;
  connect: Percentiles;
  processing: Percentiles;
  transfer: Percentiles;
  lag: Percentiles;
  cpu: (number | null)[];
  running: (number | null)[];
}

export interface Percentiles {
  p50: (number | null)[];
  p90: (number | null)[];
  p99: (number | null)[];
}

export interface Steps {
  unit: string;
  ramp: boolean;
  /** In the order in which they were held. */
  held: { from: number; to: number; level: number }[];
  /** In rising order, those of one level put together. */
  rows: Step[];
}

export interface Step {
  level: number;
  seconds: number;
  requests: number;
  responses: number;
  offered: number;
  achieved: number;
  connections: number;
  timed_out: number;
  timeouts: Estimate | null;
  connect: StepPhase;
  processing: StepPhase;
  server: StepPhase;
  transfer: StepPhase;
  total: StepPhase;
}

export interface StepPhase {
  mean: Estimate | null;
  quantiles: Quantiles;
}
