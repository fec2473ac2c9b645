import { resolve } from 'node:path';
import type { Browser } from 'playwright-core';
import { describe, expect, inject, test } from 'vitest';
import { chromium, pixels, PHONE, Visit, WIDE } from './browser.ts';

describe.skipIf(chromium === undefined)('the report of an experiment in Chromium', () => {
  const visit = new Visit();

  async function open(options: Parameters<Browser['newPage']>[0]): Promise<void> {
    await visit.open(inject('experiment'), options);
  }

  async function expectEveryCurveDrawn(): Promise<void> {
    const plots = await visit.page.locator('.plot').all();
    expect(plots).toHaveLength(7);
    for (const plot of plots) {
      for (const series of ['--series-0', '--series-1']) {
        expect(await pixels(plot, series), `${series} is drawn`).toBeGreaterThan(150);
      }
    }
  }

  test('says first what came out, then shows all of it', async () => {
    await open({ viewport: WIDE, colorScheme: 'light' });
    const headline = await visit.page.locator('h1').innerText();
    expect(headline.replaceAll('\u00a0', ' ')).toBe(
      'At 3× capacity the gate completed 99.6 % of premium sessions; bare, 22.1 %',
    );
    const ids = await visit.page.locator('main [id]').evaluateAll((found) => found.map((e) => e.id));
    for (const id of [
      'limits',
      'completed',
      'duration',
      'goodput',
      'comparison',
      'method',
      'tests',
      'words',
    ]) {
      expect(ids).toContain(id);
    }
    for (const figures of ['5, 7 and 11', '6, 8 and 12', '9, 10 and 13']) {
      expect(await visit.page.getByText(`Repeats figures ${figures} of`).count()).toBe(1);
    }
    expect(await visit.page.locator('#limits').innerText()).toContain('What to do: Raise MaxRequestWorkers.');
    expect(await visit.page.locator('.warning').innerText()).toContain('tests/12-gate-1 (broken)');
    expect(await visit.page.locator('#method').innerText()).toContain('1.2.3-synthetic');
    expect(await visit.page.locator('pre').first().textContent()).toContain('# </script>');
    expect(await visit.page.locator('a[href="tests/01-bare-0.7/sessions.parquet"]').count()).toBe(1);
    await expectEveryCurveDrawn();
  });

  test('draws its curves on a dark page', async () => {
    await open({ viewport: WIDE, colorScheme: 'dark' });
    await expectEveryCurveDrawn();
    expect(await visit.page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
      'rgb(20, 22, 26)',
    );
  });

  test('changes with the theme while it is open', async () => {
    await open({ viewport: WIDE, colorScheme: 'light' });
    await visit.page.emulateMedia({ colorScheme: 'dark' });
    await expectEveryCurveDrawn();
  });

  test('fits a phone', async () => {
    await open({ viewport: PHONE, deviceScaleFactor: 2, isMobile: true, hasTouch: true });
    await expectEveryCurveDrawn();
    expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(
      PHONE.width,
    );
  });

  test('its legend switches a subject off and on', async () => {
    await open({ viewport: WIDE });
    const plot = visit.page.locator('#completed .plot').first();
    const bare = visit.page.locator('#completed .legend button', { hasText: 'bare' });
    const before = await pixels(plot, '--series-0');
    await bare.click();
    expect(await bare.getAttribute('aria-pressed')).toBe('false');
    await expect.poll(() => pixels(plot, '--series-0')).toBe(0);
    expect(await pixels(plot, '--series-1')).toBeGreaterThan(150);
    await bare.click();
    await expect.poll(() => pixels(plot, '--series-0')).toBe(before);
  });

  test('zooms by drag and shows all again on a double click', async () => {
    await open({ viewport: WIDE });
    const plot = visit.page.locator('#goodput .plot');
    const picture = (): Promise<string> =>
      plot.locator('.u-wrap > canvas').evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
    const before = await picture();
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.locator('.u-over').boundingBox();
    if (!box) throw new Error('the plot has no place on the page');
    await visit.page.mouse.move(box.x + 20, box.y + 20);
    await visit.page.mouse.down();
    await visit.page.mouse.move(box.x + 300, box.y + 120, { steps: 4 });
    await visit.page.mouse.up();
    await expect.poll(picture).not.toBe(before);
    await visit.page.mouse.dblclick(box.x + 200, box.y + 100);
    await expect.poll(picture).toBe(before);
  });

  test('reads its points to the keyboard', async () => {
    await open({ viewport: WIDE });
    const panel = visit.page.locator('#completed .panel').first();
    await panel.locator('.plot').focus();
    await visit.page.keyboard.press('ArrowLeft');
    await expect
      .poll(() => panel.locator('[aria-live]').textContent())
      .toMatch(/^3× capacity, 120\/s offered: bare, 22\.1.%, .*106 of 480 sessions; gate, 99\.6.%/);
    expect(await panel.locator('.tooltip').isVisible()).toBe(true);
    await visit.page.keyboard.press('Escape');
    expect(await panel.locator('.tooltip').isVisible()).toBe(false);
  });

  test('switches durations to a logarithmic axis', async () => {
    await open({ viewport: WIDE });
    const panel = visit.page.locator('#duration .plot').first();
    await visit.page.locator('#duration').getByRole('button', { name: 'Logarithmic y axis' }).click();
    await expect.poll(() => pixels(panel, '--series-1')).toBeGreaterThan(150);
  });

  test('the empty form says how it is filled', async () => {
    await visit.open(resolve('dist/report.html'));
    expect(await visit.page.locator('[role=alert]').innerText()).toContain('headworks report DIR');
  });
});
