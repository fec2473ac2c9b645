import { expect, test } from 'vitest';
import { logarithmicSplits } from '../src/chart/axes.ts';
import {
  count,
  interval,
  level,
  levelInWords,
  moment,
  number,
  percent,
  seconds,
  ticks,
  unbroken,
} from '../src/format.ts';

test('figures keep three significant digits', () => {
  expect(number(37.123)).toBe('37.1');
  expect(number(0.01234)).toBe('0.0123');
  expect(number(0)).toBe('0');
  expect(number(1234.5)).toBe('1\u202f235');
  expect(count(1_234_567)).toBe('1\u202f234\u202f567');
});

test('a single lost session shows', () => {
  expect(percent(1)).toBe('100\u00a0%');
  expect(percent(0.99999)).toBe('99.9\u00a0%');
  expect(percent(0.00001)).toBe('0.1\u00a0%');
  expect(percent(0)).toBe('0\u00a0%');
});

test('times have the unit that keeps a digit before the point', () => {
  expect(seconds(0)).toBe('0\u00a0s');
  expect(seconds(0.00025)).toBe('250\u00a0µs');
  expect(seconds(0.4123)).toBe('412\u00a0ms');
  expect(seconds(12.34)).toBe('12.3\u00a0s');
});

test('an interval names its unit once where both ends share it', () => {
  expect(interval({ value: 0.2, ci: [0.186, 0.26] }, percent)).toBe('18.6–26.0\u00a0%');
  expect(interval({ value: 1, ci: [0.995, 1.11] }, seconds)).toBe('995\u00a0ms–1.11\u00a0s');
  expect(interval({ value: 1, ci: null }, seconds)).toBe('unknown');
});

test('marks of an axis agree on a unit', () => {
  expect(ticks.seconds([0, 0.5, 1])).toEqual(['0\u00a0s', '0.5\u00a0s', '1\u00a0s']);
  expect(ticks.seconds([0, 0.1])).toEqual(['0\u00a0ms', '100\u00a0ms']);
  expect(ticks.percent([0, 0.2])).toEqual(['0\u00a0%', '20\u00a0%']);
});

test('no line break parts a figure from its unit', () => {
  expect(unbroken('99.6 % in 2 s of 2 sessions')).toBe('99.6\u00a0% in 2\u00a0s of 2 sessions');
});

test('levels of load are multiples, others carry their unit', () => {
  expect(level(0.7, 'x capacity')).toBe('0.7×');
  expect(levelInWords(3, 'x capacity')).toBe('3× capacity');
  expect(level(150, 'workers')).toBe('150 workers');
  expect(level(150, '')).toBe('150');
});

test('moments are in UTC, and what is none stays as it is', () => {
  expect(moment('2001-02-03T04:05:06Z')).toBe('3 Feb 2001, 04:05 UTC');
  expect(moment('never')).toBe('never');
});

test('a logarithmic axis has ticks, however short', () => {
  expect(logarithmicSplits(0.09, 3)).toEqual([0.1, 0.2, 0.5, 1, 2]);
  expect(logarithmicSplits(2.1, 4.1)).toEqual([2.5, 3, 3.5, 4]);
  expect(logarithmicSplits(0.0164, 0.0287)).toEqual([0.018, 0.02, 0.022, 0.024, 0.026, 0.028]);
  expect(logarithmicSplits(0.3, 0.4)).toEqual([0.3, 0.32, 0.34, 0.36, 0.38, 0.4]);
  expect(logarithmicSplits(0, 4)).toEqual([0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]);
  expect(logarithmicSplits(1, Infinity)).toEqual([]);
  expect(logarithmicSplits(NaN, NaN)).toEqual([]);
  expect(logarithmicSplits(51_000, 97_000)).toEqual([60_000, 70_000, 80_000, 90_000]);
});
