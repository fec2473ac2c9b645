import { expect, test } from 'vitest';
import { logarithmicSplits } from '../src/chart/axes.ts';
import { count, level, levelInWords, moment, number, percent, seconds } from '../src/format.ts';

test('figures keep three significant digits', () => {
  expect(number(37.123)).toBe('37.1');
  expect(number(0.01234)).toBe('0.0123');
  expect(number(0)).toBe('0');
  expect(number(1234.5)).toBe('1\u202f235');
  expect(count(1_234_567)).toBe('1\u202f234\u202f567');
});

test('a single lost session shows', () => {
  expect(percent(1)).toBe('100 %');
  expect(percent(0.99999)).toBe('99.9 %');
  expect(percent(0.00001)).toBe('0.1 %');
  expect(percent(0)).toBe('0 %');
});

test('times have the unit that keeps a digit before the point', () => {
  expect(seconds(0)).toBe('0 s');
  expect(seconds(0.00025)).toBe('250 µs');
  expect(seconds(0.4123)).toBe('412 ms');
  expect(seconds(12.34)).toBe('12.3 s');
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
  expect(logarithmicSplits(2.1, 4.1)).toHaveLength(5);
});
