import type { Samples } from '../samples.ts';
import type { Outcome } from '../schemas.ts';
import { counted, duration, rate, timeOf } from '../words.ts';
import { change, reach, sessionsOf, span, type Figures, type Measured, type Side } from './figures.ts';
import { SAME } from './price.ts';

/** From so many sessions on a share is known to about a sixth. */
const ENOUGH = 30;
/** From so many on, to a twentieth: what lies within what was predicted agrees with it then. */
const MANY = 300;
/** The server is another one when its capacity differs by more. */
const CAPACITY = 0.1;

/** What became of each class, against what was before and what was predicted. */
export function verdicts(
  names: string[],
  before: Side | null,
  predicted: Side | null,
  since: Side,
): string[] {
  return names.flatMap((name) => {
    const now = since.classes.get(name);
    if (!now) return [];
    if ((now.sessions ?? 0) < ENOUGH) return `${name}: too few sessions yet.`;
    const was = before?.classes.get(name);
    const said = predicted?.classes.get(name);
    const parts = [
      was && (was.sessions ?? 0) >= ENOUGH ? againstBefore(was, now) : '',
      said ? againstPrediction(said, now) : '',
    ].filter((part) => part !== '');
    return parts.length > 0 ? `${name}: ${parts.join('; ')}.` : [];
  });
}

function againstBefore(was: Figures, now: Figures): string {
  const more = change(was.completion, now.completion);
  const faster = -change(was.p95, now.p95);
  if (more > 0 && faster < 0) return 'more sessions completed than before, but slower';
  if (more < 0 && faster > 0) return 'faster than before, but fewer sessions completed';
  if (more + faster === 0) return `${SAME} against before`;
  return more + faster > 0 ? 'better than before' : 'worse than before';
}

const COMPARED: ['completed' | 'completion' | 'p95', string, string][] = [
  ['completed', 'more completed per second', 'fewer completed per second'],
  ['completion', 'a larger share completed', 'a smaller share completed'],
  ['p95', 'slower', 'faster'],
];

function againstPrediction(said: Figures, now: Figures): string {
  const off = COMPARED.flatMap(([figure, more, less]) => {
    const direction = change(said[figure], now[figure]);
    if (direction === 0) return [];
    return direction > 0 ? more : less;
  });
  if (off.length > 0) return `not as predicted (${off.join(', ')})`;
  const within = COMPARED.every(([figure]) => isWithin(now[figure], said[figure]));
  return within && (now.sessions ?? 0) >= MANY
    ? 'agrees with the prediction'
    : 'does not contradict the prediction';
}

function isWithin(measured: Measured | null, predicted: Measured | null): boolean {
  if (!measured || !predicted) return true;
  const [low, high] = reach(predicted);
  return low <= measured.value && measured.value <= high;
}

/** How much stands behind what was measured. */
export function sureness(outcome: Outcome): string {
  const few = outcome.classes.filter(({ sessions }) => sessions < ENOUGH).map(({ name }) => name);
  const words =
    few.length === 0
      ? 'enough sessions to judge'
      : `too few sessions yet${few.length < outcome.classes.length ? ` of ${few.join(' and ')}` : ''}`;
  const time = `${duration(span(outcome))} (begun ${timeOf(outcome.from)} to ${timeOf(outcome.to)})`;
  return `${counted(sessionsOf(outcome), 'session')} in ${time}: ${words}. Intervals are 95\u00a0%.`;
}

/** What the server could do, mean of a time. */
function capacity(samples: Samples, from: number, to: number): number | null {
  const known = samples.list.flatMap(({ at, span: seconds, capacity: all }) =>
    at > from && at <= to && all != null ? { seconds, all } : [],
  );
  const time = known.reduce((sum, { seconds }) => sum + seconds, 0);
  return time > 0 ? known.reduce((sum, { seconds, all }) => sum + all * seconds, 0) / time : null;
}

/** Whether the server itself has become another one. */
export function capacityWords(samples: Samples, from: number, at: number, until: number): string {
  const [before, since] = [capacity(samples, from, at), capacity(samples, at, until)];
  if (before === null || since === null || Math.abs(since - before) <= CAPACITY * before) return '';
  return `The server's capacity went from ${rate(before)} to ${rate(since)} meanwhile, so part of it is not the knobs' doing.`;
}
