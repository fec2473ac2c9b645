import { describe, expect, test } from 'vitest';
import { chromium } from '../browser.ts';
import { Visit } from './visit.ts';
import * as world from './world.ts';

describe.skipIf(chromium === undefined)('changes', () => {
  const visit = new Visit();

  test('that meet an expired token are not made when another is given', async () => {
    const { gate } = visit;
    visit.expected = /401/;
    gate.tokens.set('first-token-0123456', true);
    const page = await visit.open();
    await page.getByLabel('Token', { exact: true }).fill('first-token-0123456');
    await page.keyboard.press('Enter');
    await visit.ready();
    await page.locator('#operations').getByRole('button', { name: 'Drain' }).click();
    gate.tokens.clear();
    gate.tokens.set('other-token-0123456', true);
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await page.getByText('Nothing has changed: not done: the token has expired.').waitFor();
    await page.getByLabel('Token', { exact: true }).fill('other-token-0123456');
    await page.keyboard.press('Enter');
    await page.getByLabel('Token', { exact: true }).waitFor({ state: 'hidden' });
    await page.waitForResponse((response) => response.url().endsWith('/state') && response.ok());
    expect(gate.state.draining).toBe(false);
    expect(gate.bodies('POST', '/api/v1/drain')).toHaveLength(1);
  });

  test('of another run of the gate have its texts and its Undo, whatever their numbers are', async () => {
    const { gate } = visit;
    visit.expected = /ERR_/;
    gate.moveKnobs({ differentiation: 0.4, favour: 0.5 });
    const page = await visit.open();
    await visit.ready();
    const log = page.locator('#log');
    await log.getByText('10.0.0.7 (night): knobs').waitFor();
    await gate.restart();
    gate.state.mode = 'shadow';
    gate.record('mode', 'mode', 'enforce', 'shadow');
    await log.getByText('mode enforce → shadow').waitFor({ timeout: 20_000 });
    expect(await log.getByRole('list', { name: 'Changes' }).locator('li').count()).toBe(1);
    await log.getByRole('button', { name: 'Undo: mode enforce' }).click();
    await expect.poll(() => gate.state.mode).toBe('enforce');
    expect(gate.bodies('PATCH', '/api/v1/knobs')).toEqual([]);
  });

  test('are not undone over what another operator has set meanwhile', async () => {
    const { gate } = visit;
    visit.expected = /409/;
    const page = await visit.open();
    await visit.ready();
    gate.moveKnobs({ differentiation: 0.4, favour: 0.5 });
    const undo = page.locator('#log').getByRole('button', { name: /^Undo/ });
    await undo.waitFor();
    gate.stateDelay = 1000;
    gate.state = { ...gate.state, knobs: { differentiation: 0.2, favour: 0.5 } };
    await undo.click();
    await page.getByRole('dialog').getByText('has set differentiation 0.20').waitFor();
    await page.keyboard.press('Escape');
    expect(gate.state.knobs.differentiation).toBe(0.2);
  });

  test('of the knobs that are undone in the log are not told as those of somebody else', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    gate.moveKnobs({ differentiation: 0.4, favour: 0.5 });
    const notice = page.locator('.knobs-side > .notice');
    await notice.getByText('(night) set differentiation 0.40').waitFor();
    await page.locator('#log').getByRole('button', { name: /^Undo/ }).click();
    await page.getByText('Undone: differentiation 0.90, favour 0.50.').waitFor();
    await expect.poll(() => page.getByLabel('Differentiation', { exact: true }).inputValue()).toBe('0.9');
    expect(await notice.innerText()).toContain('set differentiation 0.40');
  });

  test('of this page are in the log and in the charts, however late its answers come', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    await page.getByText('● Live').waitFor();
    // The event comes first, then the answer to the change, then that to the question of the event.
    gate.knobsDelay = 300;
    gate.changesDelay = 700;
    await page.getByLabel('Differentiation', { exact: true }).fill('0.3');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    const log = page.locator('#log');
    await log.getByText('127.0.0.1: knobs differentiation 0.9').waitFor({ timeout: 10_000 });
    await log.getByRole('button', { name: /^Undo: knobs/ }).waitFor();
  });

  test('that cannot be asked for at once are asked for again', async () => {
    const { gate } = visit;
    visit.expected = /500/;
    const page = await visit.open();
    await visit.ready();
    await page.getByText('● Live').waitFor();
    gate.changesFail = 2;
    gate.moveKnobs({ differentiation: 0.4, favour: 0.5 });
    await page.locator('#log').getByText('10.0.0.7 (night): knobs').waitFor({ timeout: 15_000 });
    expect(gate.changesFail).toBe(0);
  });

  test('that come all at once are asked for twice', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    await page.getByText('● Live').waitFor();
    const before = gate.bodies('GET', '/api/v1/changes').length;
    gate.changesDelay = 300;
    for (let i = 0; i < 40; i += 1) gate.moveKnobs({ differentiation: i / 100, favour: 0.5 });
    await page.locator('#log').getByText('0.39').first().waitFor();
    expect(gate.bodies('GET', '/api/v1/changes').length - before).toBeLessThanOrEqual(4);
  });

  test('of the file since its difference was shown are in the question', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    await page.getByRole('button', { name: 'Show what would change' }).click();
    await page.getByRole('region', { name: 'What would change' }).waitFor();
    gate.reload = { changes: [{ setting: 'mode', old: 'enforce', new: 'shadow' }], refused: null };
    await page.locator('#operations').getByRole('button', { name: 'Read it again' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('These change: mode.').waitFor();
    expect(await dialog.locator('h2').innerText()).toContain('shop-1');
  });

  test('of the list of sessions are waited for where it cannot be had', async () => {
    const { gate } = visit;
    visit.expected = /500/;
    gate.sessionsFail = true;
    const page = await visit.open();
    await visit.ready();
    await page.getByText('The sessions are not known').waitFor();
    for (let i = 0; i < 3; i += 1) await page.waitForResponse(/api.v1.state/);
    expect(gate.bodies('GET', '/api/v1/sessions')).toHaveLength(1);
  });
});

describe.skipIf(chromium === undefined)('the page', () => {
  const visit = new Visit();

  test('goes on where one of its parts fails, which says so', async () => {
    visit.expected = /TypeError/;
    const page = await visit.open();
    await visit.ready();
    const { connections } = visit.gate.state;
    visit.gate.state = { ...visit.gate.state, connections: null as unknown as typeof connections };
    await page.locator('#servers').getByText('A fault of this page').waitFor();
    visit.gate.state = { ...visit.gate.state, mode: 'shadow' };
    await page.locator('[role=switch][aria-checked=true]').waitFor();
    visit.gate.state = { ...visit.gate.state, connections };
    await page.locator('#servers').getByText('A fault of this page').waitFor({ state: 'detached' });
  });

  test('says in its title how which gate is', async () => {
    const page = await visit.open();
    await visit.ready();
    await expect.poll(() => page.title()).toBe('Refusing · shop-1 · Headworks');
    expect(await page.locator('h1').innerText()).toBe('Gate shop-1');
  });

  test('says why a class is refused, and who gives up', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    for (const one of gate.state.classes) one.rejected = { admission: 7 };
    const basic = page.getByRole('article', { name: 'Class basic', exact: true });
    await basic
      .getByText(/over its share, and held back for long enough \(admission\) \d/)
      .waitFor({ timeout: 20_000 });
    expect(await basic.innerText()).toContain('clients wait 10\u00a0s at most');
  });

  test('that nobody has seen for minutes leaves the gate alone, and catches up when it is seen again', async () => {
    const { gate } = visit;
    const page = await visit.open({}, undefined, true);
    await visit.ready();
    await page.getByText('● Live').waitFor();
    await visit.hide(true);
    await page.clock.fastForward(310_000);
    await expect.poll(() => gate.listening).toBe(0);
    await page.clock.fastForward(60_000);
    const asked = gate.asked.length;
    await page.clock.fastForward(60_000);
    expect(gate.asked.length).toBe(asked);
    await visit.hide(false);
    await page.getByText('● Live').waitFor({ timeout: 20_000 });
    await page.locator('#log').getByText('not listening from').waitFor();
    expect(gate.listening).toBe(1);
  });

  test('can forget its token, and need not be given one', async () => {
    const { gate } = visit;
    visit.expected = /401/;
    gate.tokens.set('first-token-0123456', true);
    const page = await visit.open();
    const input = page.getByLabel('Token', { exact: true });
    await input.fill('first-token-0123456');
    await page.keyboard.press('Enter');
    await visit.ready();
    await page.getByRole('button', { name: 'Forget the token' }).click();
    await input.waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText(/^Connection lost since .*: no token was given/).waitFor();
    expect(await input.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Try now' }).click();
    await input.fill('first-token-0123456');
    await page.keyboard.press('Enter');
    await page.getByText('● Live').waitFor();
  });

  test('turns the pages of the queue', async () => {
    const { gate } = visit;
    gate.waiting = world.waiting(230, gate.names);
    const page = await visit.open();
    await visit.ready();
    await page.getByText('Show the queue').click();
    const part = page.locator('#queue');
    await part.getByText('100 of 230 that wait are shown,').waitFor();
    await part.getByRole('button', { name: 'Next page' }).click();
    await part.getByRole('button', { name: 'Next page' }).click();
    await part.getByText('30 of 230 that wait are shown, after the first 200').waitFor();
    expect(await part.getByRole('button', { name: 'Next page' }).isDisabled()).toBe(true);
    gate.waiting = world.waiting(50, gate.names);
    await part.getByText('50 of 50 that wait are shown,').waitFor({ timeout: 15_000 });
  });
});
