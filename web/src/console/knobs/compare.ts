import { h } from '../../dom.ts';
import { scrolling } from '../elements.ts';
import type { Estimate, Outcome, Outcomes, Point } from '../schemas.ts';
import { about, counted, duration, ends, range, rate, share, timeOf } from '../words.ts';

/** A figure and how sure it is. */
export interface Measured {
  value: number;
  ends: [number, number] | null;
}

/** Standard normal deviate of 95 %. */
const Z = 1.96;

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

/** The three figures of a class: completed, share completed, p95. */
type Row = (Measured | null)[];

const FORMATS = [rate, share, about];
const HEADS = ['completed', 'share', '95\u00a0% within'];

function predicted(point: Point | null, name: string): Row {
  const one = point?.classes.find((found) => found.name === name);
  const of = (estimate: Estimate | null | undefined): Measured | null =>
    estimate ? { value: estimate.mean, ends: ends(estimate) } : null;
  return one ? [of(one.completed), of(one.completion), of(one.p95)] : [null, null, null];
}

function came(outcome: Outcome | null, name: string): Row {
  const one: Outcomes | undefined = outcome?.classes.find((found) => found.name === name);
  if (!one || !outcome) return [null, null, null];
  return [
    measuredRate(one.completed, span(outcome), one.sessions * (one.completion ?? 0)),
    one.completion == null ? null : measuredShare(one.completion, one.sessions),
    one.p95 == null ? null : { value: one.p95, ends: null },
  ];
}

function cell(measured: Measured | null, i: number): HTMLElement {
  const format = FORMATS[i] ?? rate;
  if (!measured) return h('td', {}, '–');
  const interval = measured.ends && h('small', { class: 'under' }, range(measured.ends, format));
  return h('td', {}, h('strong', {}, format(measured.value)), interval);
}

export interface Column {
  title: string;
  point?: Point | null;
  outcome?: Outcome | null;
}

/** Classes down, and across what was measured beside what is predicted. The table stays while its figures change, and with it the focus and how far it is scrolled. */
export class Comparison {
  readonly root: HTMLElement;
  private readonly head = h('tr');
  private readonly body = h('tbody');

  constructor(label: string) {
    this.root = scrolling(label, h('table', {}, h('thead', {}, this.head), this.body));
  }

  show(classes: string[], columns: Column[]): void {
    const heads = ['Class', 'Sessions', ...columns.map((column) => column.title)];
    this.head.replaceChildren(...heads.map((text) => h('th', { scope: 'col' }, text)));
    this.body.replaceChildren(...classes.flatMap((name) => rowsOf(name, columns)));
  }
}

function rowsOf(name: string, columns: Column[]): HTMLElement[] {
  const rows = columns.map((column) =>
    column.outcome === undefined ? predicted(column.point ?? null, name) : came(column.outcome, name),
  );
  return HEADS.map((head, i) =>
    h(
      'tr',
      i === 0 ? { class: 'group' } : {},
      i === 0 && h('th', { scope: 'rowgroup', rowspan: '3' }, name),
      h('th', { scope: 'row' }, head),
      ...rows.map((row) => cell(row[i] ?? null, i)),
    ),
  );
}

/** Whether what came is what was said, for each class and figure that both have. */
export function judgement(outcome: Outcome, point: Point | null): string {
  if (!point) return '';
  // Of a few sessions the interval is so wide that anything agrees.
  if (sessionsOf(outcome) < FEW) return '';
  const off = outcome.classes.flatMap(({ name }) => {
    const [was, said] = [came(outcome, name), predicted(point, name)];
    return HEADS.flatMap((head, i) => {
      const [measured, expected] = [was[i]?.ends, said[i]?.ends];
      if (!measured || !expected) return [];
      if (measured[0] > expected[1]) return `${name}: ${head} is higher than predicted`;
      return measured[1] < expected[0] ? `${name}: ${head} is lower than predicted` : [];
    });
  });
  return off.length > 0
    ? `${off.join('; ')}.`
    : 'What is measured does not contradict the prediction: the intervals overlap.';
}

/** From so many sessions on a share is known to about a sixth, and to a twentieth. */
const FEW = 30;
const MANY = 300;

/** How many have ended. */
export function sessionsOf(outcome: Outcome): number {
  return outcome.classes.reduce((sum, one) => sum + one.sessions, 0);
}

/** How much stands behind what was measured. */
export function sureness(outcome: Outcome): string {
  const sessions = sessionsOf(outcome);
  const words = sessions < FEW ? 'too few to say much' : sessions < MANY ? 'a rough idea' : 'a good idea';
  const time = `${duration(span(outcome))} (begun ${timeOf(outcome.from)} to ${timeOf(outcome.to)})`;
  return `${counted(sessions, 'session')} in ${time}: ${words}. Intervals are 95\u00a0%.`;
}
