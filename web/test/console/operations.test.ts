import { describe, expect, test } from 'vitest';
import { chromium } from '../browser.ts';
import { Visit } from './visit.ts';
import * as world from './world.ts';

describe.skipIf(chromium === undefined)('operations', () => {
  const visit = new Visit();

  test('shadow mode is a switch that asks first, and gives the focus back', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    const shadow = page.getByRole('switch', { name: 'Shadow mode' });
    expect(await shadow.getAttribute('aria-checked')).toBe('false');
    await shadow.click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.innerText()).toContain('From now on no client is refused');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(gate.state.mode).toBe('enforce');
    expect(await shadow.evaluate((element) => element === document.activeElement)).toBe(true);
    await shadow.click();
    await page.getByRole('button', { name: 'Let everything through' }).click();
    await page.getByText('Shadow mode is on.').waitFor();
    expect(gate.state.mode).toBe('shadow');
    await page
      .locator('#shadow-words')
      .getByText(/Would be refused: premium 0\/s, basic \d/)
      .waitFor();
    await page
      .locator('.verdict')
      .getByText(/^Shadow mode: basic: .* would be refused/)
      .first()
      .waitFor();
  });

  test('drains, and takes clients again', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    await page.locator('#operations').getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('button', { name: 'Take clients again' }).waitFor();
    expect(gate.state.draining).toBe(true);
    await page.getByRole('button', { name: 'Take clients again' }).click();
    await page.getByText('Clients are taken again.').waitFor();
    expect(gate.state.draining).toBe(false);
  });

  test('a reload shows the difference, asks, and does it', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    const reload = page.locator('#operations').getByRole('button', { name: 'Read it again' });
    expect(await reload.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Show what would change' }).click();
    const row = page.getByRole('region', { name: 'What would change' }).locator('tbody tr');
    expect(await row.locator('th, td').allInnerTexts()).toEqual(['window', '8', '16']);
    await reload.click();
    await page.getByRole('dialog').getByRole('button', { name: 'Read it again' }).click();
    await page.getByText('Read again; changed: window.').waitFor();
    expect(gate.bodies('POST', '/api/v1/reload')).toHaveLength(1);
    gate.reload = { changes: [], refused: 'gate.toml:14: class "premum" is not defined' };
    await page.getByRole('button', { name: 'Show what would change' }).click();
    await page.getByText('It would be refused: gate.toml:14').waitFor();
    expect(await reload.isDisabled()).toBe(true);
  });

  test('the class of a session is set, listed and taken back', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    const part = page.locator('#sessions');
    await part.getByLabel('Session').fill('66f2c1a09bd3e175');
    await part.getByLabel('Class', { exact: true }).selectOption('premium');
    await part.getByRole('button', { name: 'Set class' }).click();
    await part.getByText('66f2c1a09bd3e175: premium, for 12.0\u00a0h at most').waitFor();
    expect(gate.sessions).toEqual([{ session: '66f2c1a09bd3e175', class: 'premium', expires: 43_200 }]);
    await part.getByRole('button', { name: 'Take back 66f2c1a09bd3e175' }).click();
    await part.getByText('No session has a class that was set by hand.').waitFor();
    expect(gate.sessions).toEqual([]);
  });

  test('the log has changes, which can be undone as long as they last, and events', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    const log = page.locator('#log');
    gate.moveKnobs({ differentiation: 0.4, favour: 0.5 });
    gate.moveKnobs({ differentiation: 0.3, favour: 0.5 });
    await log.getByText('10.0.0.7 (night): knobs differentiation 0.4').waitFor();
    expect(await log.getByRole('button', { name: /^Undo/ }).count()).toBe(1);
    await log.getByRole('button', { name: /^Undo/ }).click();
    await expect.poll(() => gate.state.knobs.differentiation).toBe(0.4);
    // A busy machine may make the page listen anew in between; events, unlike changes, are not told again.
    const told = (event: string, data: unknown, words: RegExp): Promise<void> =>
      expect
        .poll(
          () => {
            gate.tell(event, data);
            return log.innerText();
          },
          { timeout: 20_000, interval: 500 },
        )
        .toMatch(words);
    const classes = { basic: { admission: 1, deadline: 2 } };
    await told('rejections', { total: 3, classes }, /refusals: basic \(admission \d+, deadline \d+\)/);
    await told('upstream', { state: 'failing', failures: { timeout: 4 } }, /the servers fail: timeout 4/);
  });

  test('the queue of thousands is searched and filtered by the gate', async () => {
    const { gate } = visit;
    gate.waiting = world.waiting(10_000, gate.names);
    const page = await visit.open();
    await visit.ready();
    expect(gate.bodies('GET', '/api/v1/queue')).toEqual([]);
    const part = page.locator('#queue');
    await part.getByText('basic 22, 14 in the class queue, 8 held back (discard)').waitFor();
    await page.getByText('Show the queue').click();
    await part.getByText(/held back \(discard\); longest 9\.5\u00a0s/).waitFor();
    await part.getByText('100 of 10\u202f000 that wait are shown').waitFor();
    expect(await part.locator('tbody tr').count()).toBe(100);
    await part.getByLabel('Search').fill('page-77');
    await part.getByText('100 of 111 that match are shown').waitFor();
    await part.getByLabel('Stage').selectOption('class');
    await part.getByLabel('Class').selectOption('basic');
    await part.getByText(/^\d+ of \d+ that match/).waitFor();
    await expect
      .poll(async () => new Set(await part.locator('tbody td:nth-child(3)').allInnerTexts()))
      .toEqual(new Set(['class']));
    const before = gate.bodies('GET', '/api/v1/queue').length;
    await expect.poll(() => gate.bodies('GET', '/api/v1/queue').length, { timeout: 10_000 }).toBe(before + 1);
  });
});
