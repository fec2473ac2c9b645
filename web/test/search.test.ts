import { describe, expect, inject, test } from 'vitest';
import { chromium, pixels, PHONE, Visit, WIDE } from './browser.ts';

describe.skipIf(chromium === undefined)('the report of searches in Chromium', () => {
  const visit = new Visit();

  test('says what was found where, why, and what to do', async () => {
    await visit.open(inject('searches'));
    const { page } = visit;
    // Of two searches one counts.
    expect(await page.locator('h1').innerText()).toMatch(
      /^90\.0\srequests\/s; the limit is the number of workers \(worker-limit\)$/,
    );
    const rows = page.locator('#searches tbody tr');
    expect(await rows.nth(0).innerText()).toMatch(
      /90\.0\srequests\/s \(88\.2 to 91\.8\), worker-limit\s+Give it more of worker-limit\./,
    );
    // A search that does not count has no effect, and one alone says nothing.
    expect(await page.locator('#searches h3').allInnerTexts()).toEqual([
      'What does the server keep up with?',
    ]);
    await rows.nth(1).locator('a').click();
    const second = page.locator('[id="06-bare"]');
    expect(await second.locator('.warning').innerText()).toBe('the generator was late');
    const headings = await second.locator('h3').allInnerTexts();
    expect(headings.slice(0, 3)).toEqual(['Why', 'What to do', 'How sure that is']);
    const ids = await page.locator('main > section').evaluateAll((found) => found.map((e) => e.id));
    expect(ids).toEqual(['searches', '02-bare', '06-bare', 'method', 'words']);
  });

  test('marks what is at its end, and shades what is more than capacity', async () => {
    await visit.open(inject('searches'));
    const of = async (id: string): Promise<number[]> => {
      const plot = visit.page.locator(`[id="${id}"] .plot`);
      return Promise.all(['--ink-soft', '--ink-faint'].map((variable) => pixels(plot, variable)));
    };
    const [seen, plain] = [await of('02-bare-achieved'), await of('02-bare-predicted-lost')];
    // Two lines with names, where the axes have the same colour, and the words above the shade.
    expect(seen[0]).toBeGreaterThan((plain[0] ?? 0) + 100);
    expect(seen[1]).toBeGreaterThan((plain[1] ?? 0) + 20);
  });

  test('draws its curves in the light, in the dark and on a phone', async () => {
    for (const options of [
      { viewport: WIDE, colorScheme: 'light' as const },
      { viewport: WIDE, colorScheme: 'dark' as const },
      { viewport: PHONE, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
    ]) {
      await visit.open(inject('searches'), options);
      const plots = visit.page.locator('[id="02-bare"] .plot');
      expect(await plots.count()).toBe(8);
      for (let i = 0; i < 8; i += 1) expect(await pixels(plots.nth(i), '--series-0')).toBeGreaterThan(30);
      const width = await visit.page.evaluate(() => document.documentElement.scrollWidth);
      expect(width).toBeLessThanOrEqual(options.viewport.width);
      await visit.page.close();
    }
  });
});
