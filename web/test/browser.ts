import { pathToFileURL } from 'node:url';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import { findChromium, launch } from '../tools/browser.js';

export const chromium = findChromium();
if (chromium === undefined) {
  const skipped = 'the report is not looked at in a browser: no Chromium found (apt-get install chromium)';
  if (process.env.CI === 'true') throw new Error(skipped);
  console.warn(`skipped: ${skipped}`);
}

export const WIDE = { width: 1200, height: 900 };
export const PHONE = { width: 390, height: 844 };

/** A browser for the tests of one file: a page for each, on which nothing may go wrong. */
export class Visit {
  private browser: Browser | undefined;
  private opened: Page | undefined;
  private complaints: string[] = [];

  constructor() {
    beforeAll(async () => {
      this.browser = await launch(chromium ?? '');
    });
    afterAll(async () => {
      await this.browser?.close();
    });
    afterEach(async () => {
      await this.opened?.close();
      expect(this.complaints, 'console errors, failed loads and requests to elsewhere').toEqual([]);
    });
  }

  get page(): Page {
    if (!this.opened) throw new Error('no page is open');
    return this.opened;
  }

  async open(path: string, options: Parameters<Browser['newPage']>[0] = { viewport: WIDE }): Promise<void> {
    if (!this.browser) throw new Error('no browser has been started');
    const page = await this.browser.newPage(options);
    this.opened = page;
    this.complaints = [];
    const complain = (what: string): void => {
      this.complaints.push(what);
    };
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complain(message.text());
    });
    page.on('pageerror', (error) => {
      complain(error.message);
    });
    page.on('requestfailed', (request) => {
      complain(request.url().slice(0, 100));
    });
    page.on('request', (request) => {
      if (!/^(file|data):/.test(request.url())) complain(request.url());
    });
    await page.goto(pathToFileURL(path).href);
    await page.locator('#page > *').first().waitFor();
  }
}

/** Pixels of a plot that have about the colour of this variable of the style sheet. */
export async function pixels(plot: Locator, variable: string): Promise<number> {
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
