import type { Browser } from 'playwright-core';
import { describe, expect, inject, test } from 'vitest';
import { chromium, pixels, PHONE, Visit, WIDE } from './browser.ts';

describe.skipIf(chromium === undefined)('the report of sweeps in Chromium', () => {
  const visit = new Visit();

  async function open(options: Parameters<Browser['newPage']>[0] = { viewport: WIDE }): Promise<void> {
    await visit.open(inject('simulation'), options);
  }

  test('says what holds and what does not, with its figures', async () => {
    await open();
    expect(await visit.page.locator('h1').innerText()).toBe('0 of 1 statements of the paper hold');
    const row = visit.page.locator('#statements tbody tr');
    expect(await row.locator('.missed').innerText()).toBe('does not');
    expect(await row.innerText()).toMatch(/6\.70\s%\srejected with 5 threads, 3\.50\s%\swith 50/);
    expect(await visit.page.locator('.warning').innerText()).toContain('1 points are not as precise');
    const ids = await visit.page.locator('main > section').evaluateAll((found) => found.map((e) => e.id));
    expect(ids).toEqual(['statements', 'figures', 'method', 'words']);
  });

  test('draws its curves in the light, in the dark and on a phone', async () => {
    for (const options of [
      { viewport: WIDE, colorScheme: 'light' as const },
      { viewport: WIDE, colorScheme: 'dark' as const },
      { viewport: PHONE, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
    ]) {
      await open(options);
      const plots = visit.page.locator('.plot');
      expect(await plots.count()).toBe(4);
      for (let i = 0; i < 4; i += 1) expect(await pixels(plots.nth(i), '--series-0')).toBeGreaterThan(30);
      const width = await visit.page.evaluate(() => document.documentElement.scrollWidth);
      expect(width).toBeLessThanOrEqual(options.viewport.width);
      await visit.page.close();
    }
  });

  test('reads its points to the keyboard, and has them as a table', async () => {
    await open();
    const figure = visit.page.locator('#threads-rejected');
    await figure.locator('.plot').focus();
    await visit.page.keyboard.press('ArrowLeft');
    await expect
      .poll(() => figure.locator('[aria-live]').textContent())
      .toMatch(/^Threads: 50: .*3\.5.%, 95.% interval 3\.2–3\.9.%, queue 120/);
    await figure.locator('summary').click();
    expect(await figure.locator('tbody tr').first().locator('td').first().innerText()).toBe('6.7\u00a0%');
    const scale = figure.locator('.scale');
    await scale.click();
    expect(await scale.getAttribute('aria-pressed')).toBe('true');
    expect(await pixels(figure.locator('.plot'), '--series-0')).toBeGreaterThan(30);
  });
});

describe.skipIf(chromium === undefined)('the report of a single simulation in Chromium', () => {
  const visit = new Visit();

  test('says what came out, for all requests and for each class', async () => {
    await visit.open(inject('simulated'));
    const { page } = visit;
    expect(await page.locator('h1').innerText()).toMatch(/^6\.7\s% of the requests are rejected/);
    expect(await page.locator('.warning').innerText()).toMatch(/known to 1\.3\s%/);
    const rows = page.locator('#outcome tbody tr');
    expect(await rows.locator('th').allInnerTexts()).toEqual(['all requests', 'static', 'dynamic']);
    expect(await rows.nth(0).locator('td').nth(1).innerText()).toMatch(/^2\.312\ss\s±\s0\.022$/);
    expect(await rows.nth(2).locator('td').nth(4).innerText()).toBe('–');
    const ids = await page.locator('main > section').evaluateAll((found) => found.map((e) => e.id));
    expect(ids).toEqual(['outcome', 'time', 'method', 'words']);
  });

  test('draws one replication over time in the light, in the dark and on a phone', async () => {
    for (const options of [
      { viewport: WIDE, colorScheme: 'light' as const },
      { viewport: WIDE, colorScheme: 'dark' as const },
      { viewport: PHONE, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
    ]) {
      await visit.open(inject('simulated'), options);
      const plots = visit.page.locator('#time .plot');
      expect(await plots.count()).toBe(8);
      for (let i = 0; i < 8; i += 1) expect(await pixels(plots.nth(i), '--series-1')).toBeGreaterThan(30);
      const width = await visit.page.evaluate(() => document.documentElement.scrollWidth);
      expect(width).toBeLessThanOrEqual(options.viewport.width);
      await visit.page.close();
    }
  });

  test('reads the queue to the keyboard, and has it as a table', async () => {
    await visit.open(inject('simulated'));
    const figure = visit.page.locator('#queue');
    await figure.locator('.plot').focus();
    await visit.page.keyboard.press('ArrowRight');
    await visit.page.keyboard.press('ArrowLeft');
    await visit.page.keyboard.press('ArrowRight');
    await expect
      .poll(() => figure.locator('[aria-live]').textContent())
      .toMatch(/^0:01:15 to 0:02:30: mean of the interval, 0\.04\d*, from 0 to 1$/);
    await figure.locator('summary').click();
    const heads = await figure.locator('thead th').allInnerTexts();
    expect(heads).toEqual(['Simulated time', 'mean of the interval', 'least', 'greatest']);
    expect(await figure.locator('tbody tr').nth(60).locator('td').allInnerTexts()).toEqual([
      '60',
      '18',
      '66',
    ]);
  });
});
