import type { Estimate, Outcome, Outcomes, Point } from '../schemas.ts';
import { ends } from '../words.ts';

/** A figure and how sure it is. */
export interface Measured {
  value: number;
  ends: [number, number] | null;
  /** Of a prediction: by which those of one answer are compared with each other. */
  chance?: [number, number];
}

/** What becomes of the sessions of one class. */
export interface Figures {
  /** Sessions per second. */
  completed: Measured | null;
  /** The share of those that have begun. */
  completion: Measured | null;
  /** Seconds. */
  p95: Measured | null;
  /** How many have ended; `null` where it is a prediction. */
  sessions: number | null;
}

/** One side of a comparison, predicted or measured. */
export interface Side {
  classes: Map<string, Figures>;
  /** Sessions per second, of all classes. */
  total: Measured | null;
}

/** Standard normal deviate of 95 %. */
const Z = 1.96;
/** What has no interval, as a measured percentile, is taken to be known to a fifth. */
export const TOLERANCE = 0.2;
/** From here on all are said to be completed: fewer than one of 200 are not. */
const ALL = 0.995;

/**
 * A rate over a time, with the interval of a Poisson count (square-root approximation). `n` have been seen;
 * the rate is of more where those that are under way are reckoned in.
 */
export function measuredRate(perSecond: number, seconds: number, n: number): Measured {
  if (seconds <= 0) return { value: perSecond, ends: null };
  const each = n > 0 ? perSecond / n : 1 / seconds;
  const low = Math.max(0, Math.sqrt(n) - Z / 2) ** 2;
  const high = (Math.sqrt(n + 1) + Z / 2) ** 2;
  return { value: perSecond, ends: [low * each, high * each] };
}

/** A share of `n`, with Wilson's interval (1927). */
export function measuredShare(p: number, n: number): Measured {
  if (n < 1) return { value: p, ends: null };
  const centre = (p + Z ** 2 / (2 * n)) / (1 + Z ** 2 / n);
  const half = (Z / (1 + Z ** 2 / n)) * Math.sqrt((p * (1 - p)) / n + Z ** 2 / (4 * n ** 2));
  return { value: p, ends: [Math.max(0, centre - half), Math.min(1, centre + half)] };
}

export function span(outcome: Outcome): number {
  return Math.max(0, outcome.to - outcome.from);
}

/** How many have ended. */
export function sessionsOf(outcome: Outcome): number {
  return outcome.classes.reduce((sum, one) => sum + one.sessions, 0);
}

/** `isPaired` says whether it is compared with a point of the same answer: only then are the users the same. */
export function predictedSide({ classes, throughput }: Point, isPaired = true): Side {
  const estimated = (estimate: Estimate | null | undefined): Measured | null => {
    if (!estimate) return null;
    const { mean, chance } = estimate;
    const known = { value: mean, ends: ends(estimate) };
    return isPaired ? { ...known, chance: [chance[0] ?? mean, chance[1] ?? mean] } : known;
  };
  const each = classes.map(({ name, completed, completion, p95 }): [string, Figures] => [
    name,
    {
      completed: estimated(completed),
      completion: estimated(completion),
      p95: estimated(p95),
      sessions: null,
    },
  ]);
  return { classes: new Map(each), total: estimated(throughput) };
}

function seen({ sessions, completion }: Outcomes): number {
  return sessions * (completion ?? 0);
}

export function measuredSide(outcome: Outcome): Side {
  const seconds = span(outcome);
  const each = outcome.classes.map((one): [string, Figures] => [
    one.name,
    {
      completed: measuredRate(one.completed, seconds, seen(one)),
      completion: one.completion == null ? null : measuredShare(one.completion, one.sessions),
      p95: one.p95 == null ? null : { value: one.p95, ends: null },
      sessions: one.sessions,
    },
  ]);
  const sum = (of: (one: Outcomes) => number): number =>
    outcome.classes.reduce((all, one) => all + of(one), 0);
  return {
    classes: new Map(each),
    total:
      sessionsOf(outcome) > 0
        ? measuredRate(
            sum((one) => one.completed),
            seconds,
            sum(seen),
          )
        : null,
  };
}

/** From where to where it may be. */
export function reach({ value, ends }: Measured): [number, number] {
  return ends ?? [value * (1 - TOLERANCE), value * (1 + TOLERANCE)];
}

/** What a figure is of: differences that are too small to act on are none, however sure they are. */
export type Kind = 'rate' | 'share' | 'time';

/** The least difference: of a share as it is, of rates and times as a part of the first. */
const LEAST: Record<Kind, number> = { rate: 0.02, share: 0.005, time: 0.1 };

/** Whether a difference is too small to speak of. */
export function isSlight(kind: Kind, from: number, to: number): boolean {
  return Math.abs(to - from) < LEAST[kind] * (kind === 'share' ? 1 : Math.abs(from));
}

/** Whether a difference would matter much, if it is one: five times the least. */
export function isGreat(kind: Kind, from: number, to: number): boolean {
  return Math.abs(to - from) >= 5 * LEAST[kind] * (kind === 'share' ? 1 : Math.abs(from));
}

/** Whether `to` is noticeably more than `from` (1), less (-1), or neither: the intervals overlap, or it is slight. */
export function change(
  kind: Kind,
  from: Measured | null | undefined,
  to: Measured | null | undefined,
): -1 | 0 | 1 {
  if (!from || !to || isSlight(kind, from.value, to.value)) return 0;
  // What a model is off by is in all its predictions alike.
  const [a, b] = from.chance && to.chance ? [from.chance, to.chance] : [reach(from), reach(to)];
  if (b[0] > a[1]) return 1;
  return b[1] < a[0] ? -1 : 0;
}

export function isAll(completion: Measured | null | undefined): boolean {
  return (completion?.value ?? 0) >= ALL;
}

/** What came of sessions that began between the beginnings of both; percentiles cannot be told apart like that. */
export function minus(all: Outcome, later: Outcome): Outcome | null {
  // Of those that began last it may not be known yet.
  const to = Math.min(later.from, all.to);
  const seconds = to - all.from;
  if (seconds < 1) return null;
  const classes = all.classes.map((one): Outcomes => {
    const rest = later.classes.find(({ name }) => name === one.name);
    const sessions = Math.max(0, one.sessions - (rest?.sessions ?? 0));
    const completed = Math.max(0, seen(one) - (rest ? seen(rest) : 0));
    const of = (rate: (outcomes: Outcomes) => number): number =>
      Math.max(0, rate(one) * span(all) - (rest ? rate(rest) * span(later) : 0)) / seconds;
    return {
      name: one.name,
      starts: of(({ starts }) => starts),
      completed: of((outcomes) => outcomes.completed),
      completion: sessions > 0 ? Math.min(1, completed / sessions) : null,
      sessions,
      p50: null,
      p95: null,
    };
  });
  return { from: all.from, to, classes };
}

/** The same outcome with the percentiles of another, by class. */
export function withPercentiles(outcome: Outcome, from: Outcome | null): Outcome {
  const classes = outcome.classes.map((one): Outcomes => {
    const other = from?.classes.find(({ name }) => name === one.name);
    return { ...one, p50: other?.p50 ?? null, p95: other?.p95 ?? null };
  });
  return { ...outcome, classes };
}

/** Whether sessions have ended of which no percentile is known. */
export function lacksPercentiles({ classes }: Side): boolean {
  const ended = [...classes.values()].filter(({ sessions }) => (sessions ?? 0) > 0);
  return ended.length > 0 && ended.every(({ p95 }) => p95 === null);
}
