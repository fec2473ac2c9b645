import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { findChromium, launch } from '../tools/browser.js';

const chromium = findChromium();
if (chromium === undefined) {
  const skipped = 'the report is not looked at in a browser: no Chromium found (apt-get install chromium)';
  if (process.env.CI === 'true') throw new Error(skipped);
  console.warn(`skipped: ${skipped}`);
}

const WIDE = { width: 1200, height: 900 };
const PHONE = { width: 390, height: 844 };

describe.skipIf(chromium === undefined)('the report in Chromium', () => {
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    browser = await launch(chromium ?? '');
  });
  afterAll(async () => {
    await browser.close();
  });
  afterEach(async () => {
    await page.close();
    expect(complaints, 'console errors, failed loads and requests to elsewhere').toEqual([]);
  });

  async function open(options: Parameters<Browser['newPage']>[0], path = inject('report')): Promise<void> {
    page = await browser.newPage(options);
    complaints = [];
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('requestfailed', (request) => complaints.push(request.url().slice(0, 100)));
    page.on('request', (request) => {
      if (!/^(file|data):/.test(request.url())) complaints.push(request.url());
    });
    await page.goto(pathToFileURL(path).href);
    await page.locator('#page > *').first().waitFor();
  }

  /** Pixels of a plot that have about the colour of this variable of the style sheet. */
  async function pixels(plot: Locator, variable: string): Promise<number> {
    return plot.locator('.u-wrap > canvas').evaluate((canvas, name) => {
      const picture = canvas as HTMLCanvasElement;
      const { width, height } = picture;
      const copy = Object.assign(document.createElement('canvas'), { width, height });
      const ctx = copy.getContext('2d', { willReadFrequently: true });
      if (!ctx) return -1;
      ctx.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(name);
      const hex = ctx.fillStyle;
      const wanted = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
      ctx.drawImage(picture, 0, 0);
      const { data } = ctx.getImageData(0, 0, width, height);
      let count = 0;
      for (let i = 0; i < data.length; i += 4) {
        const near = wanted.every((value, k) => Math.abs(value - (data[i + k] ?? 0)) < 24);
        if (near && (data[i + 3] ?? 0) > 200) count += 1;
      }
      return count;
    }, variable);
  }

  async function expectEveryCurveDrawn(): Promise<void> {
    const plots = await page.locator('.plot').all();
    expect(plots).toHaveLength(5);
    for (const plot of plots) {
      for (const series of ['--series-0', '--series-1']) {
        expect(await pixels(plot, series), `${series} is drawn`).toBeGreaterThan(150);
      }
    }
  }

  test('says first what came out, then shows all of it', async () => {
    await open({ viewport: WIDE, colorScheme: 'light' });
    const headline = await page.locator('h1').innerText();
    expect(headline.replaceAll('\u00a0', ' ')).toBe(
      'At 3× capacity the gate completed 99.6 % of premium sessions; bare, 22.1 %',
    );
    const ids = await page.locator('main [id]').evaluateAll((found) => found.map((e) => e.id));
    for (const id of ['completed', 'duration', 'goodput', 'comparison', 'method', 'tests', 'words']) {
      expect(ids).toContain(id);
    }
    for (const figure of ['5', '6', '9']) {
      expect(await page.getByText(`Repeats figure ${figure} of`).count()).toBe(1);
    }
    expect(await page.locator('.warning').innerText()).toContain('tests/12-gate-1 (broken)');
    expect(await page.locator('#method').innerText()).toContain('1.2.3-synthetic');
    expect(await page.locator('pre').first().textContent()).toContain('# </script>');
    expect(await page.locator('a[href="tests/01-bare-0.7/sessions.parquet"]').count()).toBe(1);
    await expectEveryCurveDrawn();
  });

  test('draws its curves on a dark page', async () => {
    await open({ viewport: WIDE, colorScheme: 'dark' });
    await expectEveryCurveDrawn();
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
      'rgb(20, 22, 26)',
    );
  });

  test('changes with the theme while it is open', async () => {
    await open({ viewport: WIDE, colorScheme: 'light' });
    await page.emulateMedia({ colorScheme: 'dark' });
    await expectEveryCurveDrawn();
  });

  test('fits a phone', async () => {
    await open({ viewport: PHONE, deviceScaleFactor: 2, isMobile: true, hasTouch: true });
    await expectEveryCurveDrawn();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(PHONE.width);
  });

  test('its legend switches a subject off and on', async () => {
    await open({ viewport: WIDE });
    const plot = page.locator('#completed .plot').first();
    const bare = page.locator('#completed .legend button', { hasText: 'bare' });
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
    const plot = page.locator('#goodput .plot');
    const picture = (): Promise<string> =>
      plot.locator('.u-wrap > canvas').evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
    const before = await picture();
    await plot.scrollIntoViewIfNeeded();
    const box = await plot.locator('.u-over').boundingBox();
    if (!box) throw new Error('the plot has no place on the page');
    await page.mouse.move(box.x + 20, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + 300, box.y + 120, { steps: 4 });
    await page.mouse.up();
    await expect.poll(picture).not.toBe(before);
    await page.mouse.dblclick(box.x + 200, box.y + 100);
    await expect.poll(picture).toBe(before);
  });

  test('reads its points to the keyboard', async () => {
    await open({ viewport: WIDE });
    const panel = page.locator('#completed .panel').first();
    await panel.locator('.plot').focus();
    await page.keyboard.press('ArrowLeft');
    await expect
      .poll(() => panel.locator('[aria-live]').textContent())
      .toMatch(/^3× capacity, 120\/s offered: bare, 22\.1.%, .*106 of 480 sessions; gate, 99\.6.%/);
    expect(await panel.locator('.tooltip').isVisible()).toBe(true);
    await page.keyboard.press('Escape');
    expect(await panel.locator('.tooltip').isVisible()).toBe(false);
  });

  test('switches durations to a logarithmic axis', async () => {
    await open({ viewport: WIDE });
    const panel = page.locator('#duration .plot').first();
    await page.getByRole('button', { name: 'Logarithmic y axis' }).click();
    await expect.poll(() => pixels(panel, '--series-1')).toBeGreaterThan(150);
  });

  test('the empty form says how it is filled', async () => {
    await open({ viewport: WIDE }, resolve('dist/report.html'));
    expect(await page.locator('[role=alert]').innerText()).toContain('headworks report DIR');
  });
});
