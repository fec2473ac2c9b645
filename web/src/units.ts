import { bytes, count, number, percent, perSecond, plain, seconds, ticks, withUnit } from './format.ts';
import type { Unit } from './report.ts';

interface Writing {
  /** A value by itself. */
  one: (value: number) => string;
  /** The marks of an axis, all at once so that they agree on a unit. */
  ticks: (values: number[]) => string[];
  /** What values are in as they are, where they are not written; empty for bare numbers and shares. */
  symbol: string;
}

const scaled = (symbol: string): Writing => {
  const one = (value: number): string => withUnit(number(value), symbol);
  return { one, ticks: (values) => values.map(one), symbol };
};

const UNITS: Record<Unit, Writing> = {
  plain: { one: plain, ticks: ticks.plain, symbol: '' },
  number: { one: number, ticks: ticks.plain, symbol: '' },
  count: { one: count, ticks: ticks.plain, symbol: '' },
  percent: { one: percent, ticks: ticks.percent, symbol: '' },
  difference: {
    one: (value) => withUnit(`${value < 0 ? '-' : '+'}${(Math.abs(value) * 100).toFixed(2)}`, '%'),
    ticks: ticks.percent,
    symbol: '',
  },
  seconds: { one: seconds, ticks: ticks.seconds, symbol: 's' },
  bytes: { one: bytes, ticks: ticks.bytes, symbol: 'B' },
  kilobytes: scaled('kB'),
  megabytes: scaled('MB'),
  mebibytes: scaled('MiB'),
  rate: { one: perSecond, ticks: (values) => values.map((value) => `${plain(value)}/s`), symbol: '/s' },
  'kibibytes-per-second': scaled('KiB/s'),
  'megabits-per-second': scaled('Mbit/s'),
};

/** A value as a reader sees it. */
export function written(value: number, unit: Unit): string {
  return UNITS[unit].one(value);
}

/** How values of this unit are written. */
export function writing(unit: Unit): (value: number) => string {
  return UNITS[unit].one;
}

/** How the marks of an axis in this unit are written. */
export function marks(unit: Unit): (values: number[]) => string[] {
  return UNITS[unit].ticks;
}

/** What bare values of this unit are in, such as `s`; empty for numbers without a unit and for shares. */
export function symbol(unit: Unit): string {
  return UNITS[unit].symbol;
}
