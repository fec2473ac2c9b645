import type { Samples } from '../samples.ts';
import type { Outcome } from '../schemas.ts';
import { counted, duration, rate, timeOf } from '../words.ts';
import {
  change,
  isSlight,
  reach,
  sessionsOf,
  span,
  TOLERANCE,
  type Figures,
  type Kind,
  type Measured,
  type Side,
} from './figures.ts';
import { SAME } from './price.ts';

/** From so many sessions on a share is known to about a sixth. */
const ENOUGH = 30;
/** From so many on, to a twentieth: what lies within what was predicted agrees with it then. */
const MANY = 300;
/** The server is another one when its capacity differs by more. */
const CAPACITY = 0.1;

/** What became of each class and of the sum, against what was before and what was predicted. */
export function verdicts(
  names: string[],
  before: Side | null,
  predicted: Side | null,
  since: Side,
): string[] {
  const classes = names.flatMap((name) => {
    const now = since.classes.get(name);
    if (!now) return [];
    if ((now.sessions ?? 0) < ENOUGH) return `${name}: too few sessions yet.`;
    const was = before?.classes.get(name);
    const said = predicted?.classes.get(name);
    return sentence(
      name,
      was && (was.sessions ?? 0) >= ENOUGH ? againstBefore(was, now) : '',
      said ? againstPrediction(COMPARED.map(pairOf(said, now)), now.sessions) : '',
    );
  });
  // With one class, its own verdict says it.
  return names.length > 1 ? [...classes, ...ofSum(before, predicted, since)] : classes;
}

function sentence(of: string, ...parts: string[]): string | [] {
  const said = parts.filter((part) => part !== '');
  return said.length > 0 ? `${of}: ${said.join('; ')}.` : [];
}

function ofSum(before: Side | null, predicted: Side | null, since: Side): string[] {
  const sessions = sessionsIn(since);
  if (sessions < ENOUGH) return ['Together: too few sessions yet.'];
  const said = predicted?.total && { ...RATE, said: predicted.total, now: since.total };
  const is = sentence(
    'Together',
    before?.total && sessionsIn(before) >= ENOUGH ? sumAgainstBefore(before.total, since.total) : '',
    said ? againstPrediction([said], sessions) : '',
  );
  return typeof is === 'string' ? [is] : is;
}

function sessionsIn({ classes }: Side): number {
  return [...classes.values()].reduce((sum, { sessions }) => sum + (sessions ?? 0), 0);
}

function againstBefore(was: Figures, now: Figures): string {
  const more = change('share', was.completion, now.completion);
  const faster = -change('time', was.p95, now.p95);
  if (more > 0 && faster < 0) return 'more sessions completed than before, but slower';
  if (more < 0 && faster > 0) return 'faster than before, but fewer sessions completed';
  if (more + faster === 0) return `${SAME} against before`;
  return more + faster > 0 ? 'better than before' : 'worse than before';
}

function sumAgainstBefore(was: Measured, now: Measured | null): string {
  const more = change('rate', was, now);
  if (more === 0) return `${SAME} against before`;
  return `${more > 0 ? 'more' : 'fewer'} sessions completed per second than before`;
}

/** A figure that is compared with its prediction, and what it is called when it is more or less. */
interface Compared {
  kind: Kind;
  more: string;
  less: string;
}

interface Pair extends Compared {
  said: Measured | null;
  now: Measured | null;
}

const RATE: Compared = {
  kind: 'rate',
  more: 'more completed per second',
  less: 'fewer completed per second',
};

const COMPARED: (Compared & { of: 'completed' | 'completion' | 'p95' })[] = [
  { ...RATE, of: 'completed' },
  { kind: 'share', of: 'completion', more: 'a larger share completed', less: 'a smaller share completed' },
  { kind: 'time', of: 'p95', more: 'slower', less: 'faster' },
];

function pairOf(said: Figures, now: Figures): (compared: (typeof COMPARED)[number]) => Pair {
  return (compared) => ({ ...compared, said: said[compared.of], now: now[compared.of] });
}

function againstPrediction(pairs: Pair[], sessions: number | null): string {
  const off = pairs.flatMap((pair) => {
    const direction = miss(pair);
    if (direction === 0) return [];
    return direction > 0 ? pair.more : pair.less;
  });
  if (off.length > 0) return `not as predicted (${off.join(', ')})`;
  return pairs.every(isWithin) && (sessions ?? 0) >= MANY
    ? 'within what was predicted'
    : 'does not contradict the prediction';
}

/** Whether it is more than was predicted (1), less (-1), or neither. */
function miss({ kind, said, now }: Pair): -1 | 0 | 1 {
  if (kind !== 'time') return change(kind, said, now);
  if (!said || !now || isSlight(kind, said.value, now.value)) return 0;
  // A measured percentile has no interval.
  const [low, high] = reach(said);
  if (now.value > high * (1 + TOLERANCE)) return 1;
  return now.value < low * (1 - TOLERANCE) ? -1 : 0;
}

/** A percentile that is not missed counts as within. */
function isWithin({ kind, said, now }: Pair): boolean {
  if (kind === 'time' || !said || !now) return true;
  const [low, high] = reach(said);
  return (low <= now.value && now.value <= high) || isSlight(kind, said.value, now.value);
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
