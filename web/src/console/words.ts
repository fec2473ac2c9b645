import { count, number, seconds, withUnit } from '../format.ts';
import type { Estimate } from './schemas.ts';

/** A rate for meters: no more digits than an operator compares. */
export function rate(x: number): string {
  if (x < 0.005) return '0/s';
  if (x >= 99.95) return `${count(x)}/s`;
  return `${x.toFixed(x < 9.995 ? 2 : 1)}/s`;
}

/** A share in whole per cent; what is not nothing or not all is never rounded to it. */
export function share(x: number): string {
  if (x <= 0 || x >= 1) return withUnit(x >= 1 ? '100' : '0', '%');
  return withUnit(String(Math.min(99, Math.max(1, Math.round(x * 100)))), '%');
}

/** A length of time in two digits. */
export function about(s: number): string {
  if (s >= 120) return duration(s);
  return seconds(Number(s.toPrecision(2))).replace(/\.0+(?=\u00a0)|(?<=\.\d+)0+(?=\u00a0)/, '');
}

/** Longer times, as people say them. */
export function duration(s: number): string {
  const whole = Math.round(Math.abs(s));
  if (whole < 120) return withUnit(String(whole), 's');
  if (whole < 7200) return withUnit(String(Math.round(whole / 60)), 'min');
  if (whole < 172_800) return withUnit(number(whole / 3600), 'h');
  return withUnit(count(whole / 86_400), 'days');
}

const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const ZONED = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'short',
});
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** Time of the day of a moment in unix seconds. */
export function timeOf(at: number): string {
  return CLOCK.format(at * 1000);
}

export function zonedTimeOf(at: number): string {
  return ZONED.format(at * 1000);
}

/** Time of the day, with the day where it is not the one of `now`. */
export function when(at: number, now: number): string {
  const day = DAY.format(at * 1000);
  return day === DAY.format(now * 1000) ? timeOf(at) : `${day}, ${timeOf(at)}`;
}

/** An operator's address and the name of the token. The port is another one for each connection. */
export function operatorOf(who: string): string {
  return who.replace(/:\d+(?=$| \()/, '');
}

/** Both ends of an estimate's interval. */
export function ends({ mean, ci }: Estimate): [number, number] {
  return [ci[0] ?? mean, ci[1] ?? mean];
}

/** An interval; `value` lies in it as it is written, however it is rounded. */
export function range(ends: [number, number], format: (x: number) => string, value = ends[0]): string {
  const [from, to] = [Math.min(ends[0], value), Math.max(ends[1], value)];
  const [low, high] =
    format === share ? [percentAt(Math.floor, from), percentAt(Math.ceil, to)] : [format(from), format(to)];
  const unit = /(\u00a0\D+|\/s)$/.exec(high)?.[0];
  return unit !== undefined && low.endsWith(unit)
    ? `${low.slice(0, -unit.length)}–${high}`
    : `${low}–${high}`;
}

/** The end of an interval of shares, rounded away from what lies in it. */
function percentAt(round: (x: number) => number, x: number): string {
  return withUnit(String(Math.min(100, Math.max(0, round(Number((x * 100).toFixed(6)))))), '%');
}

/** One `thing`, several `things`. */
export function counted(n: number, one: string, several = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : several}`;
}

/** JSON of a change, short enough for a line. */
export function brief(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Array.isArray(value) ? value.map(brief) : Object.entries(value).map(pair);
  return entries.join(', ');
}

function pair([name, value]: [string, unknown]): string {
  return `${name} ${typeof value === 'object' && value !== null ? `(${brief(value)})` : brief(value)}`;
}

export { count };
