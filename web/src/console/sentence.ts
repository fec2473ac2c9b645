import { failures, serverFailures } from './counts.ts';
import { lately, type Lately, type Samples } from './samples.ts';
import type { State } from './schemas.ts';
import { about, counted, duration, rate, share } from './words.ts';

export type Severity = 'calm' | 'notice' | 'warning' | 'alarm';

/** Whether anybody suffers. */
export interface Sentence {
  severity: Severity;
  /** In a word or two, as for a tab's title. */
  brief: string;
  words: string;
  /** The same as long as it means the same, whatever its figures are. */
  meaning: string;
}

/** How far it looks back, s: one second of a few requests says little. */
export const LOOK_BACK = 10;
/** Shares below this are a single request now and then. */
const NEGLIGIBLE = 0.005;
/** A few clients always go away before they are answered; from here on it is not of their own accord. */
const GIVEN_UP = 0.02;
const MANY_GIVEN_UP = 0.1;

/** `before` is the state of some seconds ago: the servers' failures are counted since the start. */
export function sentence(state: State, samples: Samples, before: State): Sentence {
  const recent = samples.recent(LOOK_BACK);
  const all = samples.classes.map((name, index) => lately(recent, name, index));
  const unclassified = mean(recent.map((sample) => sample.unclassified));
  const waiting = mean(recent.map((sample) => sample.waiting));
  const shadow = state.mode === 'shadow';
  const down =
    state.upstream.servers.length > 0 && state.upstream.servers.every((one) => one.standing !== 'up');
  const failing = failed(state, before);
  const load = suffering(all, unclassified, shadow, failing !== '') ?? calm(all, waiting, failing !== '');
  const first = [
    down ? 'No server is up.' : '',
    failing,
    state.draining ? 'Draining: clients are sent elsewhere.' : '',
    shadow ? 'Shadow mode:' : '',
  ].filter((words) => words !== '');
  const least: Severity = down ? 'alarm' : failing ? 'warning' : state.draining ? 'notice' : 'calm';
  const severity = worse(least, load.severity);
  return {
    severity,
    brief: down ? 'No server' : failing ? 'Failing' : state.draining ? 'Draining' : load.brief,
    words: [...first, shadow ? lowerFirst(load.words, all) : load.words].join(' '),
    meaning: JSON.stringify([severity, down, failing !== '', state.draining, shadow, load.meaning]),
  };
}

const SEVERITIES: Severity[] = ['calm', 'notice', 'warning', 'alarm'];

function worse(a: Severity, b: Severity): Severity {
  return SEVERITIES.indexOf(a) > SEVERITIES.indexOf(b) ? a : b;
}

function mean(values: number[]): number {
  return values.length > 0 ? values.reduce((a, b) => a + b, 0) / values.length : 0;
}

/** Which servers have let requests fail, if any have. */
function failed(state: State, before: State): string {
  const n = failures(state, before);
  if (n === 0) return '';
  const names = state.upstream.servers
    .filter((one) => serverFailures(one, before) > 0)
    .map((one) => one.name);
  const whose = names.length > 0 ? ` from ${names.join(', ')}` : '';
  const time = duration(Math.max(1, state.clock - before.clock));
  return `${counted(n, 'request')} got no response${whose} in the last ${time}.`;
}

/** A class's name is not to be changed, only a word of ours. */
function lowerFirst(words: string, all: Lately[]): string {
  if (all.some((one) => words.startsWith(`${one.name}:`))) return words;
  return words.charAt(0).toLowerCase() + words.slice(1);
}

function shareOf(part: number, { offered, refused, aborted }: Lately): number {
  return Math.min(1, part / Math.max(offered, refused, aborted, 1e-9));
}

/** Where something is refused or clients give up; `null` where neither is. */
function suffering(all: Lately[], unclassified: number, shadow: boolean, failing: boolean): Sentence | null {
  const refused = all.map((one) => shareOf(one.refused, one)).map((one) => (one < NEGLIGIBLE ? 0 : one));
  const givenUp = all.map((one) => shareOf(one.aborted, one)).map((one) => (one < GIVEN_UP ? 0 : one));
  const unknown = unclassified > 0.05;
  if (!unknown && [...refused, ...givenUp].every((one) => one === 0)) return null;
  const are = shadow ? 'would be' : 'are';
  const clauses: string[] = [];
  const others: string[] = [];
  all.forEach((one, i) => {
    const parts = [
      refused[i] ? `${share(refused[i])} of requests ${are} refused` : '',
      givenUp[i] ? `the clients of ${share(givenUp[i])} gave up` : '',
    ].filter((part) => part !== '');
    const isIdle = one.offered < 0.05 && one.served < 0.05;
    if (parts.length > 0) clauses.push(`${one.name}: ${parts.join(' and ')}`);
    else if (!isIdle) others.push(`${one.name}: ${failing ? 'none refused' : 'all served'}${within(one)}`);
  });
  clauses.push(...others);
  if (unknown) clauses.push(`${rate(unclassified)} ${are} refused before their class is known`);
  const isRefusing = unknown || refused.some((one) => one > 0);
  const firstSuffers = (!shadow && (refused[0] ?? 0) > 0) || (givenUp[0] ?? 0) >= MANY_GIVEN_UP;
  const hurts = !shadow || givenUp.some((one) => one > 0);
  return {
    severity: firstSuffers ? 'alarm' : hurts ? 'warning' : 'notice',
    brief: !isRefusing ? 'Given up' : shadow ? 'Would refuse' : 'Refusing',
    words: `${clauses.join(', ')}.`,
    meaning: JSON.stringify([refused.map(grade), givenUp.map(grade), unknown]),
  };
}

/** Shares change all the time; that a third becomes a half is worth a word. */
function grade(refused: number): number {
  return [NEGLIGIBLE, 0.1, 0.5, 0.9].filter((least) => refused >= least).length;
}

function within({ p95 }: Lately): string {
  return p95 === null ? '' : `, 95\u00a0% within ${about(p95)}`;
}

function calm(all: Lately[], waiting: number, failing: boolean): Sentence {
  const offered = all.reduce((sum, one) => sum + one.offered, 0);
  if (offered < 0.05 && waiting < 0.5) {
    const words = 'Nobody waits: nothing is asked at the moment.';
    return { severity: 'calm', brief: 'Calm', words, meaning: 'idle' };
  }
  const slowest = all.reduce<number | null>(
    (most, { p95 }) => (p95 === null ? most : Math.max(most ?? 0, p95)),
    null,
  );
  const time = slowest === null ? '' : `, 95\u00a0% within ${about(slowest)}`;
  if (waiting < 0.5) {
    const words = failing
      ? `Nobody waits, none is refused${time}.`
      : `Nobody waits: all that was asked is served${time}.`;
    return { severity: 'calm', brief: 'Calm', words, meaning: 'calm' };
  }
  const n = Math.max(1, Math.round(waiting));
  const rest = failing ? `none is refused${time}` : `none is refused: all is served${time}`;
  return {
    severity: 'notice',
    brief: 'Waiting',
    words: `${counted(n, 'request')} ${n === 1 ? 'waits' : 'wait'}, ${rest}.`,
    meaning: 'waiting',
  };
}
