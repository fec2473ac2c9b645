import { describe, expect, inject, test } from 'vitest';
import { chromium, pixels, PHONE, Visit, WIDE } from './browser.ts';

describe.skipIf(chromium === undefined)('the report of watches in Chromium', () => {
  const visit = new Visit();

  test('has the tables, a column for each class of each watch', async () => {
    await visit.open(inject('watches'));
    const { page } = visit;
    expect(await page.locator('h1').innerText()).toMatch(/times as much$/);
    expect(await page.locator('.warning').innerText()).toContain(
      'after: the watch was ended before its time',
    );
    const table = page.getByRole('region', { name: 'Requests, class by class' });
    const columns = await table.locator('thead th').allInnerTexts();
    expect(columns).toEqual([
      'A request',
      'after · 0-50k',
      'after · 50k-500k',
      'before · 0-50k',
      'before · 50k-500k',
    ]);
    const row = table.locator('tbody tr', { hasText: 'in the kernel' });
    expect(await row.locator('td').allInnerTexts()).toEqual([600, 600, 300, 300].map((x) => `${x}\u00a0µs`));
    const ids = await page.locator('main > section').evaluateAll((found) => found.map((e) => e.id));
    expect(ids).toEqual(['tables', 'time', 'method', 'words']);
  });

  test('draws its lines in the light, in the dark and on a phone', async () => {
    for (const options of [
      { viewport: WIDE, colorScheme: 'light' as const },
      { viewport: WIDE, colorScheme: 'dark' as const },
      { viewport: PHONE, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
    ]) {
      await visit.open(inject('watches'), options);
      const plots = visit.page.locator('.plot');
      expect(await plots.count()).toBe(4);
      expect(await pixels(plots.nth(0), '--series-1')).toBeGreaterThan(30);
      const width = await visit.page.evaluate(() => document.documentElement.scrollWidth);
      expect(width).toBeLessThanOrEqual(options.viewport.width);
      await visit.page.close();
    }
  });
});
