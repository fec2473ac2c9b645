import { readFileSync } from 'node:fs';
import type { Browser, Locator } from 'playwright-core';
import { describe, expect, inject, test } from 'vitest';
import { bytes, count, seconds } from '../src/format.ts';
import type { Summary } from '../src/report.ts';
import { chromium, pixels, PHONE, Visit, WIDE } from './browser.ts';

describe.skipIf(chromium === undefined)('the report of a run in Chromium', () => {
  const visit = new Visit();
  const recorded = JSON.parse(readFileSync(inject('summary'), 'utf8')) as Summary;

  async function open(options: Parameters<Browser['newPage']>[0] = { viewport: WIDE }): Promise<void> {
    await visit.open(inject('run'), options);
  }

  /** The cells of the row with this head, in the table with this name. */
  async function row(table: string, head: string): Promise<string[]> {
    const rows = visit.page.getByRole('region', { name: table, exact: true }).locator('tbody tr');
    const th = visit.page.getByRole('rowheader', { name: head, exact: true });
    return rows.filter({ has: th }).locator('td').allInnerTexts();
  }

  function plot(figure: string, index = 0): Locator {
    return visit.page.locator(`#${figure} .plot`).nth(index);
  }

  /** Every plot of the page, with the colours that must be in it. */
  const DRAWN: [string, number, string[]][] = [
    ['connecting', 0, ['--series-1']],
    ['timeouts', 0, ['--series-1']],
    ['processing', 0, ['--series-0', '--series-1']],
    ['transmission', 0, ['--series-1']],
    ['rates', 0, ['--series-0', '--series-1', '--series-3']],
    ...[0, 1, 2, 3].map((i): [string, number, string[]] => [
      'latency',
      i,
      ['--series-0', '--series-1', '--series-2'],
    ]),
    ['connections', 0, ['--series-0', '--series-1']],
    ['generator', 0, ['--series-1']],
    ['percentiles', 0, ['--series-0', '--series-1', '--series-2', '--series-3', '--series-4']],
    ['transfer', 0, ['--series-1']],
  ];

  async function expectEveryLineDrawn(): Promise<void> {
    expect(await visit.page.locator('.plot').count()).toBe(DRAWN.length);
    for (const [figure, index, colours] of DRAWN) {
      for (const colour of colours) {
        const drawn = await pixels(plot(figure, index), colour);
        expect(drawn, `${colour} in plot ${index} of ${figure}`).toBeGreaterThan(30);
      }
    }
  }

  test('shows the figures of the record', async () => {
    await open();
    expect(await visit.page.locator('.subject').innerText()).toMatch(
      /^http:.* · 11 steps from 100 to 1100 clients · 44.s · 3 Feb 2001/,
    );
    expect(await visit.page.locator('h1').innerText()).toMatch(/^From 100 to 1100 clients/);
    for (const [name, q] of [
      ['In all', recorded.latency.total],
      ['Connecting', recorded.latency.connect],
      ['Processing', recorded.latency.processing],
      ['Transfer', recorded.latency.transfer],
    ] as const) {
      const figures = [q.mean, q.p50, q.p90, q.p99, q.p999, q.max].map(seconds);
      expect(await row('Latency by phase', name)).toEqual([...figures, count(q.count)]);
    }
    expect((await row('Outcomes', 'status 200'))[0]).toBe(count(recorded.status[200] ?? 0));
    const other = (name: string): Promise<string[]> => row('Connections and generator', name);
    expect(await other('whether the figures are the server’s')).toEqual(['valid']);
    expect(await other('SYNs sent again')).toEqual([count(recorded.connections.syn_retransmits)]);
    expect(await other('bodies received')).toEqual([bytes(recorded.bytes)]);
    expect(await row('Kernel counters', 'ListenOverflows')).toContain('42');
  });

  test('has every part, and the figures of the paper with what it said', async () => {
    await open();
    const ids = await visit.page.locator('main > section').evaluateAll((found) => found.map((e) => e.id));
    expect(ids).toEqual(['figures', 'steps', 'time', 'distribution', 'sizes', 'urls', 'method', 'words']);
    const links = await visit.page
      .locator('nav a')
      .evaluateAll((all) => all.map((a) => a.getAttribute('href')));
    expect(links).toEqual(ids.map((id) => `#${id}`));
    const named = await visit.page.locator('[id]').evaluateAll((found) => found.map((e) => e.id));
    expect(named).toEqual([...new Set(named)]);
    for (const figures of ['2 and 4', '3 and 5', '6 and 7', '8 and 9']) {
      expect(await visit.page.locator('.said', { hasText: `Figures ${figures}:` }).count()).toBe(1);
    }
    expect(await row('Steps', '1100 clients')).toContain('30.0\u00a0%\n660 of 2\u202f200');
    expect(await visit.page.locator('#urls tbody tr').count()).toBe(20);
    expect(await visit.page.locator('a[href="requests.parquet"]').count()).toBe(1);
    expect(await visit.page.locator('pre').first().textContent()).toContain('step_unit = "clients"');
  });

  test('draws its lines in the light and in the dark', async () => {
    await open({ viewport: WIDE, colorScheme: 'light' });
    await expectEveryLineDrawn();
    await visit.page.emulateMedia({ colorScheme: 'dark' });
    await expectEveryLineDrawn();
  });

  test('fits a phone', async () => {
    await open({ viewport: PHONE, deviceScaleFactor: 2, isMobile: true, hasTouch: true });
    await expectEveryLineDrawn();
    expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      PHONE.width,
    );
  });

  test('reads its points to the keyboard', async () => {
    await open();
    const said = (figure: string): Promise<string | null> =>
      visit.page.locator(`#${figure} [aria-live]`).first().textContent();
    await plot('rates').focus();
    await visit.page.keyboard.press('ArrowRight');
    await expect.poll(() => said('rates')).toMatch(/^0.s to 0\.5.s: begun, 50\.0\/s; answered, 50\.0\/s/);
    await plot('connecting').focus();
    await visit.page.keyboard.press('ArrowLeft');
    await expect.poll(() => said('connecting')).toMatch(/^1100 clients, .* 95.% interval/);
    await plot('transfer').focus();
    await visit.page.keyboard.press('ArrowRight');
    await expect.poll(() => said('transfer')).toMatch(/^about 2\d\d.B in \d+.*µs: responses, \d+$/);
    await visit.page.keyboard.press('Escape');
    expect(await visit.page.locator('#transfer .tooltip').isVisible()).toBe(false);
  });

  test('has every plot as a table, made when it is opened', async () => {
    await open();
    const details = visit.page.locator('#percentiles .numbers');
    expect(await details.locator('table').count()).toBe(0);
    await details.locator('summary').click();
    const slowest = await details.locator('tbody tr').last().locator('td').allInnerTexts();
    expect(slowest.slice(0, 2)).toEqual(
      [recorded.latency.total.max, recorded.latency.connect.max].map(seconds),
    );
    const rates = visit.page.locator('#rates .numbers');
    await rates.locator('summary').click();
    await rates.locator('summary').click();
    await rates.locator('summary').click();
    expect(await rates.locator('table').count()).toBe(1);
    expect(await rates.locator('tbody tr').first().locator('td').first().innerText()).toBe('50.0/s');
  });

  test('its legend and its scale switch lines', async () => {
    await open();
    const p99 = visit.page.locator('#latency .legend button', { hasText: '99th' });
    await p99.click();
    await expect.poll(() => pixels(plot('latency', 2), '--series-2')).toBe(0);
    expect(await pixels(plot('latency', 2), '--series-1')).toBeGreaterThan(30);
    const scale = visit.page.locator('#latency .scale');
    expect(await scale.getAttribute('aria-pressed')).toBe('true');
    const picture = (): Promise<string> =>
      plot('latency', 2)
        .locator('.u-wrap > canvas')
        .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
    const before = await picture();
    await scale.click();
    await expect.poll(picture).not.toBe(before);
    expect(await pixels(plot('latency', 2), '--series-2')).toBe(0);
  });

  test('says first why a run does not count, and has no curves where there was no ramp', async () => {
    await visit.open(inject('late'));
    expect(await visit.page.locator('h1').innerText()).toMatch(/^Not valid: /);
    expect(await visit.page.locator('.warning').innerText()).toBe('Not valid: the generator was late.');
    expect((await row('Sessions by class', 'basic')).slice(0, 4)).toEqual([
      '160',
      '54',
      '33.8\u00a0%',
      '106',
    ]);
    expect(await row('Objectives', 'p99<5ms')).toEqual(['19.0\u00a0ms', 'missed']);
    expect(await row('Objectives', 'errors<=1%')).toEqual(['0\u00a0%', 'met']);
    expect(await visit.page.locator('#steps .plot').count()).toBe(0);
    const step = await row('Steps', '25 sessions/s');
    expect(step.slice(0, 3)).toEqual(['8\u00a0s', '25.0/s', '11.5/s']);
    expect(step[4]).toBe('100/s');
    expect(await pixels(plot('generator', 1), '--series-2')).toBeGreaterThan(30);
  });
});
