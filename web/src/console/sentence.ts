import { lately, type Lately, type Samples } from './samples.ts';
import type { State } from './schemas.ts';
import { about, counted, rate, share } from './words.ts';

export type Severity = 'calm' | 'notice' | 'warning' | 'alarm';

/** Whether anybody suffers. */
export interface Sentence {
  severity: Severity;
  words: string;
  /** The same as long as it means the same, whatever its figures are. */
  meaning: string;
}

/** How far it looks back, s: one second of a few requests says little. */
export const LOOK_BACK = 10;
/** Shares below this are a single request now and then. */
const NEGLIGIBLE = 0.005;

export function sentence(state: State, samples: Samples): Sentence {
  const recent = samples.recent(LOOK_BACK);
  const all = samples.classes.map((name, index) => lately(recent, name, index));
  const unclassified = mean(recent.map((sample) => sample.unclassified));
  const waiting = mean(recent.map((sample) => sample.waiting));
  const shadow = state.mode === 'shadow';
  const down =
    state.upstream.servers.length > 0 && state.upstream.servers.every((one) => one.standing !== 'up');
  const load = overload(all, unclassified, shadow) ?? calm(all, waiting);
  const before = [
    down ? 'No server is up.' : '',
    state.draining ? 'Draining: clients are sent elsewhere.' : '',
    shadow ? 'Shadow mode:' : '',
  ].filter((words) => words !== '');
  const severity: Severity = down
    ? 'alarm'
    : state.draining && load.severity === 'calm'
      ? 'notice'
      : load.severity;
  return {
    severity,
    words: [...before, shadow ? lowerFirst(load.words, all) : load.words].join(' '),
    meaning: JSON.stringify([severity, down, state.draining, shadow, load.meaning]),
  };
}

function mean(values: number[]): number {
  return values.length > 0 ? values.reduce((a, b) => a + b, 0) / values.length : 0;
}

/** A class's name is not to be changed, only a word of ours. */
function lowerFirst(words: string, all: Lately[]): string {
  if (all.some((one) => words.startsWith(`${one.name}:`))) return words;
  return words.charAt(0).toLowerCase() + words.slice(1);
}

function refusedShare({ offered, refused }: Lately): number {
  return Math.min(1, refused / Math.max(offered, refused, 1e-9));
}

/** Where something is refused; `null` where nothing is. */
function overload(all: Lately[], unclassified: number, shadow: boolean): Sentence | null {
  const shares = all.map(refusedShare);
  const unknown = unclassified > 0.05;
  if (!unknown && shares.every((one) => one < NEGLIGIBLE)) return null;
  const are = shadow ? 'would be' : 'are';
  const refusals = all.flatMap((one, i) => {
    const refused = shares[i] ?? 0;
    return refused >= NEGLIGIBLE ? `${one.name}: ${share(refused)} of requests ${are} refused` : [];
  });
  const served = all.flatMap((one, i) => {
    const isIdle = one.offered < 0.05 && one.served < 0.05;
    return isIdle || (shares[i] ?? 0) >= NEGLIGIBLE ? [] : `${one.name}: all served${within(one)}`;
  });
  const clauses = [...refusals, ...served];
  if (unknown) clauses.push(`${rate(unclassified)} ${are} refused before their class is known`);
  const firstSuffers = (shares[0] ?? 0) >= NEGLIGIBLE;
  return {
    severity: shadow ? 'notice' : firstSuffers ? 'alarm' : 'warning',
    words: `${clauses.join(', ')}.`,
    meaning: JSON.stringify([shares.map(grade), unknown]),
  };
}

/** Shares change all the time; that a third becomes a half is worth a word. */
function grade(refused: number): number {
  return [NEGLIGIBLE, 0.1, 0.5, 0.9].filter((least) => refused >= least).length;
}

function within({ p95 }: Lately): string {
  return p95 === null ? '' : `, 95\u00a0% within ${about(p95)}`;
}

function calm(all: Lately[], waiting: number): Sentence {
  const offered = all.reduce((sum, one) => sum + one.offered, 0);
  if (offered < 0.05 && waiting < 0.5) {
    return { severity: 'calm', words: 'Nobody waits: nothing is asked at the moment.', meaning: 'idle' };
  }
  const slowest = all.reduce<number | null>(
    (most, { p95 }) => (p95 === null ? most : Math.max(most ?? 0, p95)),
    null,
  );
  const time = slowest === null ? '' : `, 95\u00a0% within ${about(slowest)}`;
  if (waiting < 0.5) {
    return { severity: 'calm', words: `Nobody waits: all that was asked is served${time}.`, meaning: 'calm' };
  }
  const n = Math.max(1, Math.round(waiting));
  return {
    severity: 'notice',
    words: `${counted(n, 'request')} ${n === 1 ? 'waits' : 'wait'}, none is refused: all is served${time}.`,
    meaning: 'waiting',
  };
}
