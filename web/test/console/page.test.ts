import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { chromium, pixels } from '../browser.ts';
import * as world from './world.ts';
import { Visit } from './visit.ts';

const PAGE = new URL('../../dist/console.html', import.meta.url);
const LARGEST = 200 * 1024;

test('the page is one file, small enough for a slow line, that a strict policy lets run', () => {
  const html = readFileSync(PAGE, 'utf8');
  expect(gzipSync(html).length).toBeLessThanOrEqual(LARGEST);
  expect(html.match(/<script/g)).toHaveLength(1);
  expect(html.match(/<style/g)).toHaveLength(1);
  expect(html).not.toMatch(/<[a-z][^>]* (style|on\w+)=/);
  expect(html).not.toMatch(/<(script|link|img)[^>]* (src|href)="(?!data:)/);
});

describe.skipIf(chromium === undefined)('the console in Chromium', () => {
  const visit = new Visit();

  test('shows its skeleton before the gate has answered anything', async () => {
    visit.gate.isSilent = true;
    const page = await visit.open();
    const headings = await page.locator('h2').allInnerTexts();
    expect(headings).toEqual([
      'Knobs',
      'Classes',
      'Over time',
      'Who waits now',
      'Class of a session',
      'Servers and resources',
      'Waiting room',
      'Operations',
      'Log',
    ]);
    expect(await page.locator('.verdict .words').innerText()).toBe('Asking the gate how it is …');
  });

  test('says who suffers, and announces it again only when that means something else', async () => {
    const page = await visit.open();
    await visit.ready();
    const spoken = page.locator('#announcement');
    await page.waitForFunction(() => document.getElementById('announcement')?.textContent !== '');
    expect(await spoken.innerText()).toMatch(/^basic: .* refused/);
    expect(await page.locator('.badge').innerText()).toBe('Warning');
    const load = page.locator('.load-words');
    await load
      .getByText(
        /^Users: 2\.8 times what the server can do \(36\.0\/s begin, for 5 requests each; it can do 65\.0\/s\)\./,
      )
      .waitFor();
    expect((await load.boundingBox())?.y).toBeLessThan(200);
    const changes = await page.evaluate(async () => {
      const node = document.getElementById('announcement');
      let count = 0;
      const observer = new MutationObserver((list) => {
        count += list.length;
      });
      if (node) observer.observe(node, { childList: true, characterData: true, subtree: true });
      await new Promise((resolve) => setTimeout(resolve, 4000));
      return count;
    });
    expect(changes).toBe(0);
    visit.gate.make = world.quiet;
    await page
      .getByText(/^No class suffers/)
      .first()
      .waitFor({ timeout: 20_000 });
    await page.waitForFunction(() =>
      document.getElementById('announcement')?.textContent.startsWith('No class'),
    );
    expect(await page.locator('.badge').innerText()).toBe('Calm');
  });

  test('has meters for each class', async () => {
    const page = await visit.open();
    await visit.ready();
    const basic = page.getByRole('article', { name: 'Class basic', exact: true });
    const figures = await basic.locator('dt').allInnerTexts();
    expect(figures).toEqual(['Offered', 'Served', 'Refused', 'Queued', '95\u00a0% within']);
    expect(await basic.locator('.value').nth(1).innerText()).toBe('41.0/s');
    expect(await basic.locator('.value').nth(4).innerText()).toBe('420\u00a0ms');
    await basic.getByText(/The door lets in all new sessions; \d+\u00a0% are refused later/).waitFor();
    // A card, a row of the prediction and a curve of a class have one colour.
    const colour = (locator: ReturnType<typeof page.locator>): Promise<string> =>
      locator.first().evaluate((element) => getComputedStyle(element).backgroundColor);
    const blue = await page.evaluate(() => {
      const probe = document.body.appendChild(document.createElement('i'));
      probe.style.color = 'var(--series-1)';
      const { color } = getComputedStyle(probe);
      probe.remove();
      return color;
    });
    expect(await colour(page.locator('#classes .load .served'))).toBe(blue);
    expect(await colour(page.locator('#knobs tbody .key'))).toBe(blue);
    expect(await basic.locator('.stages').innerText()).toContain('acceptor 2\u00a0ms');
    visit.gate.state.mode = 'shadow';
    await basic.getByText('Would be refused').waitFor();
  });

  test('draws what comes, with changes as lines, and nothing while it is hidden', async () => {
    visit.gate.changes = [
      world.change(1, 'knobs', 'knobs', { differentiation: 0, favour: 0.5 }, visit.gate.state.knobs),
    ];
    const page = await visit.open();
    await visit.ready();
    const plots = page.locator('#time .plot');
    await expect.poll(() => plots.locator('canvas').count()).toBe(6);
    await expect.poll(() => pixels(plots.nth(1), '--series-4')).toBeGreaterThan(100);
    // The line of the change, from top to bottom, and its name.
    await expect.poll(() => pixels(plots.nth(1), '--ink-faint')).toBeGreaterThan(100);
    const drawn = (): Promise<number> =>
      page.evaluate(async () => {
        const canvas = document.querySelector<HTMLCanvasElement>('#time .u-wrap canvas');
        const before = canvas?.toDataURL();
        await new Promise((resolve) => setTimeout(resolve, 3000));
        return canvas?.toDataURL() === before ? 0 : 1;
      });
    expect(await drawn()).toBe(1);
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    expect(await drawn()).toBe(0);
    await page.evaluate(() => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => false });
      document.dispatchEvent(new Event('visibilitychange'));
    });
    expect(await drawn()).toBe(1);
  });

  test('shows the last hour on request, and reads its points by keyboard', async () => {
    visit.gate.remember(3600);
    const page = await visit.open();
    await visit.ready();
    await page.getByLabel('Last hour').check();
    const plot = page.locator('#time .plot').first();
    await plot.focus();
    await page.keyboard.press('ArrowRight');
    await page
      .locator('#time .panel .hidden')
      .first()
      .getByText(/Offered, .*\/s/)
      .waitFor({ state: 'attached' });
  });

  test('shows servers, resources and waiting rooms', async () => {
    const page = await visit.open();
    await visit.ready();
    await page.locator('#servers tbody tr').nth(1).getByText('ejected').waitFor();
    await page.locator('#servers').getByText('412 of clients, 8 of servers').waitFor();
    await page.locator('#rooms').getByText('240 visitors in line, 3.20/s let in').waitFor();
    await page.getByText('What a visitor sees who has to wait').click();
    const frame = page.locator('#rooms iframe');
    await frame.waitFor();
    expect(await frame.getAttribute('sandbox')).toBe('');
    await page.frameLocator('#rooms iframe').getByText('You are in line: 44').waitFor();
    visit.expected = /404/;
    await page.getByText('What a client sees that is refused').click();
    await page.getByText('This gate has no such page').waitFor();
    visit.gate.state.waiting_room = false;
    await page.getByText('There is no waiting room').waitFor();
  });
});
