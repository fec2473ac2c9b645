import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { chromium } from '../browser.ts';
import { Visit } from './visit.ts';
import * as world from './world.ts';

const slide = (page: Page, to: string): Promise<void> =>
  page.getByLabel('Differentiation', { exact: true }).fill(to);

describe.skipIf(chromium === undefined)('a prediction on the page', () => {
  const visit = new Visit();

  test('has its price at once, and the curve when that comes', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    gate.foresightDelay = 1500;
    await slide(page, '0.3');
    const head = page.locator('.price-head').first();
    await head.getByText(/^The price, sessions lost of 100: premium 9 → 36, basic 58 → 46/).waitFor();
    await page.getByText('computing the curve …').waitFor();
    const sentences = await page.locator('.price-list').first().innerText();
    expect(sentences).toContain('premium: 3.80 → 2.60 completed per second, 95\u00a0% within ');
    expect(await head.innerText()).toContain('Together 8.00 completed per second.');
    // The curve of the sum is beside those of the classes.
    await page.locator('.curves .legend').getByText('together, sessions/s').waitFor();
    await page.getByText('computing the curve …').waitFor({ state: 'detached' });
    expect(gate.bodies('POST', '/api/v1/foresight')).toHaveLength(2);
    await slide(page, '0.35');
    await page.locator('.outdated').first().waitFor();
    await head.getByText('premium 9 → 34').waitFor();
    const asked = gate.bodies('POST', '/api/v1/foresight') as { knobs: unknown[] }[];
    // What is compared is of one answer, with the same users.
    expect(asked.at(-1)?.knobs).toEqual([
      { differentiation: 0.35, favour: 0.5 },
      { differentiation: 0.9, favour: 0.5 },
    ]);
  });

  test('of a setting that is suggested is there at once, and nothing is applied', async () => {
    const { gate } = visit;
    visit.expected = /503/;
    const page = await visit.open();
    await visit.ready();
    gate.foresightProblem = 'too little was seen yet';
    const suggest = page.getByRole('button', { name: 'Suggest a setting' });
    await suggest.click();
    await page.getByText('No suggestion: too little was seen yet.').waitFor();
    gate.foresightProblem = null;
    gate.foresightDelay = 1000;
    await suggest.click();
    await page.getByText('Trying settings over both knobs in the simulator …').waitFor();
    await page
      .getByText('differentiation 1.00, favour 0.00: the best of 3 settings tried. Not applied yet.')
      .waitFor();
    const at = (label: string): Promise<string> => page.getByLabel(label, { exact: true }).inputValue();
    expect([await at('Differentiation'), await at('Favour')]).toEqual(['1', '0']);
    expect(await page.locator('.price-head').first().innerText()).toContain('premium 9 → 5');
    expect(gate.bodies('PATCH', '/api/v1/knobs')).toEqual([]);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Applied: differentiation 1.00, favour 0.00.').waitFor();
    expect(gate.state.knobs).toEqual({ differentiation: 1, favour: 0 });
    await suggest.click();
    await page.getByText('What is applied is as good as any of 3 settings tried.').waitFor();
  });

  test('that is awaited is given up when a slider is moved', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    gate.foresightDelay = 1500;
    await page.getByRole('button', { name: 'Suggest a setting' }).click();
    await page.getByText('Trying settings over both knobs').waitFor();
    await slide(page, '0.3');
    await page.locator('.price-head').first().getByText('premium 9 → 36').waitFor();
    expect(await page.getByLabel('Differentiation', { exact: true }).inputValue()).toBe('0.3');
    expect(await page.getByText('Trying settings').count()).toBe(0);
  });

  test('that fails says why, and leaves the last one there, greyed', async () => {
    const { gate } = visit;
    visit.expected = /503/;
    const page = await visit.open();
    await visit.ready();
    await slide(page, '0.3');
    await page.getByText(/^Predicted from/).waitFor();
    await expect.poll(() => gate.bodies('POST', '/api/v1/foresight').length).toBe(2);
    gate.foresightProblem = 'the load is too large to be simulated in 25 s';
    await slide(page, '0.7');
    await page.getByText('No prediction: the load is too large').waitFor();
    await page
      .getByText(/^Shown is what was predicted of differentiation 0\.30, favour 0\.50 \d+\u00a0s ago/)
      .waitFor();
    expect(await page.locator('.price').first().getAttribute('class')).toContain('outdated');
    expect(await page.locator('.curves').isVisible()).toBe(true);
    gate.foresightProblem = null;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('.price-head').first().getByText('premium 9 → 18').waitFor();
    expect(await page.locator('.outdated').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Try again' }).isVisible()).toBe(false);
  });

  test('whose curve fails keeps what was asked first', async () => {
    const { gate } = visit;
    visit.expected = /503/;
    const page = await visit.open();
    await visit.ready();
    gate.foresightDelay = 1500;
    await slide(page, '0.3');
    await page.getByText('computing the curve …').waitFor();
    gate.foresightProblem = 'not even the first setting was simulated in 25 s';
    await page.getByText('The rest of the curve is not known: not even the first').waitFor();
    await page.locator('.price-head').first().getByText('premium 9 → 36').waitFor();
    expect(await page.locator('.outdated').count()).toBe(0);
  });

  test('may lack points that there was no time for', async () => {
    const { gate } = visit;
    gate.foresightMost = 1;
    gate.foresightDelay = 1500;
    const page = await visit.open();
    await visit.ready();
    await slide(page, '0.3');
    await page.locator('.price-head').first().getByText('premium 36, basic 46').waitFor();
    await page.locator('.price-head').first().getByText('premium 9 → 36').waitFor();
    await page.getByText('6 points could not be simulated in time').waitFor();
  });

  test('has its knobs named for the classes, and all that is needed in sight', async () => {
    visit.gate.outcome = (since, names) => {
      const outcome = world.outcome(since, names);
      const none = { sessions: 0, completed: 0, completion: null, p50: null, p95: null };
      return { ...outcome, classes: outcome.classes.map((one) => ({ ...one, ...none })) };
    };
    const page = await visit.open({ viewport: { width: 1280, height: 800 } });
    await visit.ready();
    const part = page.locator('#knobs');
    await part.getByText(': premium before basic').waitFor();
    await part.getByText(': for basic').waitFor();
    await part.getByText('Towards 1 basic may wait as long as clients do; that may').waitFor();
    await slide(page, '0.3');
    await page.getByText(/^Predicted from/).waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page
      .locator('.did')
      .getByText(/measuring, \d+\u00a0s/)
      .first()
      .waitFor();
    const box = await part.getByRole('button', { name: 'Undo', exact: true }).boundingBox();
    expect((box?.y ?? 1e3) + (box?.height ?? 0)).toBeLessThan(800);
    const [did, panel] = await Promise.all([page.locator('.did').boundingBox(), part.boundingBox()]);
    expect(did?.width).toBeGreaterThan((panel?.width ?? 0) * 0.9);
  });
});

describe.skipIf(chromium === undefined)('what a change did', () => {
  const visit = new Visit();

  test('is said beside what was before and what was predicted, and is found after a reload', async () => {
    const { gate } = visit;
    let applied = Infinity;
    // What is predicted stands there until sessions have ended.
    let hasEnded = false;
    // Of those that begin since, half as many are lost.
    gate.outcome = (since, names) => {
      const outcome = world.outcome(since, names);
      const times = since < applied - 1 || hasEnded ? 20 : 0;
      const part = Math.max(0, Math.min(1, (outcome.to - applied) / (outcome.to - outcome.from)));
      const share = 0.44 + 0.28 * part;
      const classes = outcome.classes.map((one, i) => ({
        ...one,
        sessions: one.sessions * times,
        completion: i === 0 ? 1 : share,
        completed: i === 0 ? 100 : 100 * share,
      }));
      return { ...outcome, classes };
    };
    const page = await visit.open({ viewport: { width: 1280, height: 800 } });
    await visit.ready();
    // One price is shown at a time, above all else.
    const shown = page.locator('#knobs .price:visible');
    const head = shown.locator('.price-head');
    await page.locator('#knobs .knobs-main').getByText('44\u00a0%').waitFor();
    expect(await page.locator('.knobs-main thead').innerText()).toMatch(/Measured, last \d+\s(s|min)/);
    await page.getByLabel('Differentiation', { exact: true }).fill('0.3');
    await page.getByText(/^Predicted from/).waitFor();
    applied = gate.clock;
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await shown.getByText(/^Predicted when it was applied; measuring, \d+\u00a0s/).waitFor();
    const predicted = await head.innerText();
    expect(predicted).toContain('premium 9 → 36, basic 58 → 46.');
    const place = (await head.boundingBox())?.y ?? 1e3;
    expect(place).toBeLessThan(400);
    hasEnded = true;
    await page.locator('.knobs-main').getByText('settling after the change').first().waitFor();
    await head.getByText('premium none, basic 56 → 28.').waitFor({ timeout: 30_000 });
    expect(await shown.count()).toBe(1);
    expect((await head.boundingBox())?.y).toBeCloseTo(place, 0);
    const did = page.locator('.did');
    expect(await did.locator('thead').innerText()).toMatch(/Before\s+Predicted\s+Measured since/);
    const verdicts = page.locator('.knobs-main').getByRole('list', { name: /^Verdicts/ });
    await verdicts.getByText('basic: better than before; not as predicted').waitFor();
    await did.getByText('enough sessions to judge').waitFor();
    await verdicts.getByText(/^Together: more sessions completed per second than before; /).waitFor();
    expect(await did.innerText()).not.toContain('not kept');
    await page.reload();
    await page
      .locator('.did')
      .getByText(/^Set by 127\.0\.0\.1 at/)
      .waitFor({ timeout: 30_000 });
    await head.getByText('premium').waitFor({ timeout: 20_000 });
    expect(await did.locator('thead').innerText()).toMatch(/Before\s+Measured since/);
    expect(await did.innerText()).toContain('95\u00a0% within: not kept of “Before”.');
  });

  for (const width of [320, 360]) {
    test(`is read without scrolling sideways on a screen ${width} wide`, async () => {
      const page = await visit.open({ viewport: { width, height: 640 } });
      await visit.ready();
      await slide(page, '0.3');
      await page.getByText(/^Predicted from/).waitFor();
      const cells = page.locator('.knobs-main td');
      expect(await cells.last().evaluate((cell) => getComputedStyle(cell, '::before').content)).toBe(
        '"Predicted at the sliders"',
      );
      const out = (): Promise<string[]> =>
        page.locator('.comparison:visible').evaluateAll((found) =>
          found.flatMap((region) => {
            const parts = [...region.querySelectorAll('td, td *, th')];
            const beyond = parts.filter((one) => one.getBoundingClientRect().right > window.innerWidth);
            const texts = beyond.map(({ textContent }) => textContent);
            return region.scrollWidth > region.clientWidth ? [...texts, 'scrolls'] : texts;
          }),
        );
      expect(await out()).toEqual([]);
      await page.getByRole('button', { name: 'Apply', exact: true }).click();
      await page
        .locator('.did')
        .getByText(/sessions in \d+\u00a0s/)
        .waitFor({ timeout: 30_000 });
      expect(await out()).toEqual([]);
    });
  }
});
