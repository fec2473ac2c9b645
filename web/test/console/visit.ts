import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { launch } from '../../tools/browser.js';
import { chromium } from '../browser.ts';
import { FakeGate } from './gate.ts';

export const WIDE = { width: 1280, height: 900 };

type Options = NonNullable<Parameters<Browser['newContext']>[0]>;

/** A gate and a browser for the tests of one file; on no page may anything go wrong. */
export class Visit {
  gate = new FakeGate();
  private browser: Browser | undefined;
  private context: BrowserContext | undefined;
  private opened: Page | undefined;
  private complaints: string[] = [];
  /** Complaints that a test means to cause: the browser's own lines on failed requests. */
  expected: RegExp | null = null;

  constructor() {
    beforeAll(async () => {
      this.browser = await launch(chromium ?? '');
    });
    beforeEach(() => {
      this.gate = new FakeGate();
      this.complaints = [];
      this.expected = null;
    });
    afterEach(async () => {
      const { expected } = this;
      const unexpected = this.complaints.filter((one) => !expected?.test(one));
      await this.context?.close();
      this.gate.stop();
      expect(unexpected, 'console errors, violations of the policy, requests to elsewhere').toEqual([]);
    });
    afterAll(async () => {
      await this.browser?.close();
    });
  }

  get page(): Page {
    if (!this.opened) throw new Error('no page is open');
    return this.opened;
  }

  /** Opens the console of the gate, or of another one; with a clock of its own, tests can move it on. */
  async open(options: Options = {}, url?: string, ownClock = false): Promise<Page> {
    if (url === undefined) await this.gate.start();
    return this.look(url ?? this.gate.url, options, ownClock);
  }

  private async look(url: string, options: Options, ownClock: boolean): Promise<Page> {
    if (!this.browser) throw new Error('no browser has been started');
    await this.context?.close();
    this.context = await this.browser.newContext({ viewport: WIDE, ...options });
    const page = await this.context.newPage();
    this.opened = page;
    const complain = (what: string): void => {
      this.complaints.push(what);
    };
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') complain(message.text());
    });
    page.on('pageerror', (error) => {
      complain(error.message);
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(url) && !request.url().startsWith('data:')) complain(request.url());
    });
    page.on('dialog', (dialog) => {
      complain(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    if (ownClock) await page.clock.install();
    await page.goto(`${url}/console`);
    return page;
  }

  /** As when another tab is looked at. */
  async hide(hidden: boolean): Promise<void> {
    await this.page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => value });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  }

  /** Until the sentence stands there, and what has been before is loaded. */
  async ready(): Promise<void> {
    await this.page.locator('.verdict[data-severity]').waitFor();
    await this.page.getByText(/^[●◐] Live/).waitFor();
  }
}
