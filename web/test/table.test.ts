import { readFileSync } from 'node:fs';
import type { Locator } from 'playwright-core';
import { describe, expect, inject, test } from 'vitest';
import type { Summary } from '../src/report.ts';
import { chromium, Visit } from './browser.ts';

describe.skipIf(chromium === undefined)('tables of the report in Chromium', () => {
  const visit = new Visit();

  function table(name: string): Locator {
    return visit.page.getByRole('region', { name, exact: true });
  }

  /** What a copy of this element, and of what follows it up to the other, puts on the clipboard. */
  async function copied(from: Locator, to: Locator): Promise<string[][] | null> {
    const last = await to.elementHandle();
    const text = await from.evaluate((first, end) => {
      const range = document.createRange();
      range.setStart(first, 0);
      range.setEnd(end, end.childNodes.length);
      const selection = document.getSelection();
      selection?.removeAllRanges();
      selection?.addRange(range);
      const event = new ClipboardEvent('copy', {
        clipboardData: new DataTransfer(),
        bubbles: true,
        cancelable: true,
      });
      first.dispatchEvent(event);
      return event.defaultPrevented ? (event.clipboardData?.getData('text/plain') ?? '') : null;
    }, last);
    return text === null ? null : text.split('\n').map((row) => row.split('\t'));
  }

  test('are sorted by number at a click, and are as they were at the third', async () => {
    await visit.open(inject('run'));
    const rows = table('Latency by phase').locator('tbody th');
    const before = await rows.allInnerTexts();
    const head = table('Latency by phase').getByRole('columnheader', { name: 'Longest' });
    const longest = async (): Promise<number[]> => {
      const cells = await copied(table('Latency by phase').locator('thead tr'), rows.last().locator('..'));
      return (cells ?? []).slice(1).map((row) => Number(row[6]));
    };
    await head.getByRole('button').click();
    expect(await head.getAttribute('aria-sort')).toBe('descending');
    const falling = await longest();
    expect(falling).toHaveLength(before.length);
    expect(falling).toEqual([...falling].sort((a, b) => b - a));
    await head.getByRole('button').press('Enter');
    expect(await longest()).toEqual([...falling].reverse());
    await head.getByRole('button').click();
    expect(await head.getAttribute('aria-sort')).toBeNull();
    expect(await rows.allInnerTexts()).toEqual(before);
  });

  test('are copied as numbers in full, with their units in the head', async () => {
    await visit.open(inject('run'));
    const { latency } = JSON.parse(readFileSync(inject('summary'), 'utf8')) as Summary;
    const phases = table('Latency by phase');
    const [heads, total] =
      (await copied(phases.locator('thead tr'), phases.locator('tbody tr').first())) ?? [];
    expect(heads).toEqual([
      'Phase',
      ...['Mean', 'Median', '90th', '99th', '99.9th', 'Longest'].map((name) => `${name} (s)`),
      'Count',
    ]);
    const { mean, p50, p90, p99, p999, max, count } = latency.total;
    expect(total).toEqual(['In all', ...[mean, p50, p90, p99, p999, max, count].map(String)]);
    const cell = phases.locator('tbody td').first();
    expect(await copied(cell, cell), 'a part of one cell is copied as it is').toBeNull();
    const urls = table('Requests by URL').locator('tr');
    const [names] = (await copied(urls.first(), urls.nth(1))) ?? [];
    expect(names).toContain('Connecting (s), 99th percentile');
  });

  test('have the unit in the head of the row where columns mix units', async () => {
    await visit.open(inject('watches'));
    const requests = table('Requests, class by class').locator('tbody tr');
    const rows = (await copied(requests.first(), requests.last())) ?? [];
    expect(
      rows
        .find(([name]) => name === 'in the kernel (s)')
        ?.slice(1)
        .map(Number),
    ).toEqual([0.0006, 0.0006, 0.0003, 0.0003]);
    const demands = table('What a request needs of each resource').locator('tr');
    const [heads, first] = (await copied(demands.first(), demands.nth(2))) ?? [];
    expect(heads?.slice(1, 4)).toEqual(['after · 0-50k', 'after · 0-50k, low', 'after · 0-50k, high']);
    expect(first?.slice(1, 4).every((field) => Number.isFinite(Number(field)))).toBe(true);
  });

  test('whose rows belong together stay as they are, and give each row its head when copied', async () => {
    await visit.open(inject('experiment'));
    const sessions = table('Sessions completed and their durations');
    expect(await sessions.getByRole('button').count()).toBe(0);
    const rows = sessions.locator('tbody tr');
    const copies = (await copied(rows.nth(0), rows.nth(1))) ?? [];
    expect(copies.map((row) => row.slice(0, 3))).toEqual([
      ['0.7× capacity', 'premium', 'bare'],
      ['0.7× capacity', 'premium', 'gate'],
    ]);
  });
});
