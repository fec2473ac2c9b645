import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { chromium } from '../browser.ts';
import { Visit } from './visit.ts';
import * as world from './world.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

declare global {
  interface Window {
    axe: { run: (root: Document, options: RunOptions) => Promise<AxeResults> };
  }
}

/** Rules that are broken, and where. */
async function broken(page: Page): Promise<string[]> {
  // What the page's policy forbids, the browser's own inspector may do.
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 150)).join(' | ')}`,
    );
  });
}

describe.skipIf(chromium === undefined)('everybody can use the console', () => {
  const visit = new Visit();

  test('axe works under the policy of the page', async () => {
    const page = await visit.open();
    await visit.ready();
    await page.evaluate(() => {
      document.querySelector('main')?.append(document.createElement('input'));
    });
    expect((await broken(page)).map((one) => one.split(':')[0])).toEqual(['label']);
  });

  for (const width of [320, 1280, 3840]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      test(`${width} wide, ${colorScheme}: axe finds nothing, and nothing sticks out`, async () => {
        const { gate } = visit;
        visit.expected = /503/;
        gate.waiting = world.waiting(200, gate.names);
        gate.sessions = [{ session: '66f2c1a09bd3e175', class: 'premium', expires: 4000 }];
        gate.changes = [
          world.change(1, 'knobs', 'knobs', { differentiation: 0, favour: 0.5 }, gate.state.knobs),
        ];
        const page = await visit.open({
          viewport: { width, height: 900 },
          colorScheme,
          reducedMotion: 'reduce',
        });
        await visit.ready();
        await page.getByText('Show the queue').click();
        await page.getByLabel('Differentiation', { exact: true }).fill('0.3');
        await page.getByText(/^Predicted from/).waitFor();
        await page.locator('#queue tbody tr').first().waitFor();
        for (const words of await page.locator('.terms summary').all()) await words.click();
        expect(await broken(page)).toEqual([]);
        // What was said before stays when it cannot be said anew, and can be read.
        gate.foresightProblem = 'not now';
        await page.getByLabel('Differentiation', { exact: true }).fill('0.45');
        await page.locator('.outdated').first().waitFor();
        await page.getByRole('button', { name: 'Try again' }).waitFor();
        expect(await broken(page)).toEqual([]);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(wide).toBeLessThanOrEqual(width);
        await page.getByRole('switch').click();
        expect(await broken(page)).toEqual([]);
      });
    }
  }

  test('axe finds nothing where the connection is lost, nor at the form for the token', async () => {
    visit.expected = /ERR_|401/;
    const page = await visit.open();
    await visit.ready();
    visit.gate.tokens.set('token-0123456789', true);
    await page.getByLabel('Token', { exact: true }).waitFor();
    expect(await broken(page)).toEqual([]);
    visit.gate.tokens.clear();
    await page.getByLabel('Token', { exact: true }).fill('any');
    await page.keyboard.press('Enter');
    visit.gate.stop();
    await page.getByText(/^Connection lost since/).waitFor();
    expect(await broken(page)).toEqual([]);
  });

  test('by keyboard alone: a knob is moved, applied and undone, and the mode is switched', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    const tabTo = async (id: string): Promise<void> => {
      for (let i = 0; i < 80; i += 1) {
        await page.keyboard.press('Tab');
        // At one moment: what has the focus may be hidden at the next.
        const [outline, ...at] = await page.evaluate(() => {
          const element = document.activeElement;
          if (!element || element === document.body) return ['', ''];
          const style = getComputedStyle(element).outlineStyle;
          return [style, element.id, element.textContent, element.getAttribute('role')];
        });
        expect(outline, `the focus shows at ${at.join(' ')}`).not.toBe('none');
        if (at.includes(id)) return;
      }
      throw new Error(`the keyboard does not get to ${id}`);
    };
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await tabTo('knob-differentiation');
    await page.keyboard.press('Home');
    await page.getByText(/^Predicted from/).waitFor();
    await tabTo('Apply');
    await page.keyboard.press('Enter');
    await page.getByText('Applied: differentiation 0.00').waitFor();
    expect(gate.state.knobs.differentiation).toBe(0);
    await tabTo('Undo');
    await page.keyboard.press('Enter');
    await expect.poll(() => gate.state.knobs.differentiation).toBe(0.9);
    await tabTo('switch');
    await page.keyboard.press('Space');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await expect.poll(() => gate.state.mode).toBe('shadow');
  });
});
