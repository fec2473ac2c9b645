import { describe, expect, test } from 'vitest';
import { chromium, pixels } from '../browser.ts';
import { Visit } from './visit.ts';
import * as world from './world.ts';

describe.skipIf(chromium === undefined)('the console survives', () => {
  const visit = new Visit();

  test('a lost connection: says so within 3 s, and comes back by itself', async () => {
    visit.expected = /ERR_/;
    const page = await visit.open();
    await visit.ready();
    const value = page.locator('.meter .value').first();
    visit.gate.stop();
    await page.getByText(/^Connection lost since \d\d:\d\d:\d\d/).waitFor({ timeout: 15_000 });
    expect(await value.innerText()).toMatch(/^[1-9]/);
    await page.getByText(/Next try in \d+\u00a0s\.|Trying …/).waitFor();
    expect(await page.locator('body').getAttribute('class')).toBe('stale');
    await visit.gate.start();
    await page.getByRole('button', { name: 'Try now' }).click();
    await page.getByText('● Live').waitFor();
    expect(await page.locator('body').getAttribute('class')).toBe('');
  });

  test('a gate that falls silent without closing anything', async () => {
    const page = await visit.open();
    await visit.ready();
    visit.gate.isSilent = true;
    await page.getByText(/^Connection lost since .*: the gate/).waitFor({ timeout: 15_000 });
    visit.gate.isSilent = false;
    await page.getByText('● Live').waitFor({ timeout: 20_000 });
  });

  test('a gate that is restarted: loads its history anew', async () => {
    visit.expected = /ERR_/;
    const page = await visit.open();
    await visit.ready();
    const { gate } = visit;
    const loads = (): string[] =>
      gate.asked.filter((one) => one.path === '/api/v1/history').map((one) => one.query);
    const all = '?seconds=3600&samples=3600';
    expect(loads()).toEqual([all]);
    // Cut off, and the same as before: what was missed is enough.
    gate.stop();
    await page.getByText(/^Connection lost since/).waitFor();
    await gate.start();
    await page.getByText('● Live').waitFor({ timeout: 15_000 });
    expect(loads().length).toBe(2);
    expect(loads()[1]).not.toBe(all);
    expect(await page.getByText('The gate was restarted').count()).toBe(0);
    await page.locator('#log').getByText('not listening from').waitFor();
    await gate.restart();
    await page.getByText('The gate was restarted').waitFor({ timeout: 15_000 });
    expect(loads().at(-1)).toBe(all);
  });

  test('a gate that is restarted and has served nothing: times have no axis of powers, until there are some', async () => {
    visit.expected = /ERR_/;
    const page = await visit.open();
    await visit.ready();
    const { gate } = visit;
    const made = gate.make;
    gate.make = (at, classes) => {
      const sample = made(at, classes);
      return { ...sample, classes: sample.classes.map((one) => ({ ...one, served: 0, p95: null })) };
    };
    await gate.restart();
    await page.getByText('The gate was restarted').waitFor({ timeout: 15_000 });
    gate.make = made;
    const within = page.locator('#answers .plot').first();
    await expect.poll(() => pixels(within, '--series-1'), { timeout: 15_000 }).toBeGreaterThan(10);
  });

  test('a token that is wanted, expires, and is asked for again where the page was', async () => {
    const { gate } = visit;
    visit.expected = /401/;
    gate.tokens.set('first-token-0123456', true);
    const page = await visit.open();
    await page.getByText('This gate wants a token').waitFor();
    const input = page.getByLabel('Token', { exact: true });
    expect(await input.evaluate((element) => element === document.activeElement)).toBe(true);
    await input.fill('wrong-token-0123456');
    await page.keyboard.press('Enter');
    await page.getByText('The gate no longer accepts the token').waitFor();
    await input.fill('first-token-0123456');
    await page.getByRole('button', { name: 'Use this token' }).click();
    await visit.ready();
    await page.getByLabel('Differentiation', { exact: true }).fill('0.65');
    gate.tokens.clear();
    gate.tokens.set('other-token-0123456', true);
    await page.getByText('The gate no longer accepts the token').waitFor();
    await input.fill('other-token-0123456');
    await page.keyboard.press('Enter');
    await input.waitFor({ state: 'hidden' });
    expect(await page.getByLabel('Differentiation', { exact: true }).inputValue()).toBe('0.65');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Applied: differentiation 0.65').waitFor();
    const stored = await page.evaluate(() => [sessionStorage.length, localStorage.length, document.cookie]);
    expect(stored).toEqual([1, 0, '']);
  });

  test('a token that may only read', async () => {
    const { gate } = visit;
    visit.expected = /401/;
    gate.tokens.set('reading-0123456789', false);
    gate.changes = [world.change(1, 'knobs', 'knobs', { differentiation: 0, favour: 0.5 }, gate.state.knobs)];
    const page = await visit.open();
    await page.getByLabel('Token', { exact: true }).fill('reading-0123456789');
    await page.keyboard.press('Enter');
    await page.getByText('This token may only read, so all that changes the gate is switched off.').waitFor();
    for (const control of [
      page.getByRole('switch'),
      page.locator('#operations').getByRole('button', { name: 'Drain' }),
      page.getByRole('button', { name: 'Set class' }),
      page.locator('#log').getByRole('button', { name: /^Undo/ }),
    ]) {
      expect(await control.isDisabled()).toBe(true);
    }
    // What would be may be looked at.
    await page.getByLabel('Differentiation', { exact: true }).fill('0.3');
    await page.getByText(/^Predicted from/).waitFor();
  });

  test('a browser whose clock is wrong: goes by that of the gate', async () => {
    visit.gate.ahead = 3600;
    const page = await visit.open({ timezoneId: 'UTC' });
    await page.getByText(/The clock of this browser is 60\u00a0min behind the gate's/).waitFor();
    const shown = await page.locator('.clock').innerText();
    const hour = new Date((world.now() + 3600) * 1000).toISOString().slice(11, 13);
    expect(shown.slice(0, 2)).toBe(hour);
  });

  test('hostile names, paths and changes: they are text', async () => {
    const { gate } = visit;
    gate.rename([world.HOSTILE, '"><script>alert(2)</script>']);
    gate.waiting = world.waiting(20, gate.names);
    gate.changes = [world.change(1, 'class', world.HOSTILE, world.HOSTILE, { [world.HOSTILE]: 1 })];
    gate.reload.changes = [{ setting: world.HOSTILE, old: world.HOSTILE, new: '<script>1</script>' }];
    const page = await visit.open();
    await visit.ready();
    await page.getByText('Show the queue').click();
    await page.locator('#queue tbody').getByText(`/${world.HOSTILE}`).waitFor();
    await page.getByLabel('Differentiation', { exact: true }).fill('0.2');
    await page.getByText(/^Predicted from/).waitFor();
    await page.getByRole('button', { name: 'Show what would change' }).click();
    await page.locator('#operations tbody tr').waitFor();
    gate.tell('rejections', { total: 1, classes: { [world.HOSTILE]: { [world.HOSTILE]: 1 } } });
    gate.tell('strange', { [world.HOSTILE]: world.HOSTILE });
    await page.locator('#log').getByText('strange').waitFor();
    expect(await page.locator('.meter h3').first().innerText()).toBe(world.HOSTILE);
    expect(await page.locator('img, body script').count()).toBe(0);
  });

  test('a change that is made while it loads', async () => {
    const { gate } = visit;
    gate.changesDelay = 600;
    const page = await visit.open();
    await expect.poll(() => gate.bodies('GET', '/api/v1/changes').length).toBe(1);
    gate.moveKnobs({ differentiation: 0.4, favour: 0.5 });
    await page.locator('#log').getByText('10.0.0.7 (night): knobs').waitFor();
    expect(await page.getByLabel('Differentiation', { exact: true }).inputValue()).toBe('0.4');
  });

  test('eight listeners already: asks every two seconds, and says so', async () => {
    const { gate } = visit;
    gate.isFull = true;
    visit.expected = /503/;
    const page = await visit.open();
    await visit.ready();
    await page.getByText('The gate has as many listeners as it takes').waitFor();
    const before = gate.bodies('GET', '/api/v1/history').length;
    gate.make = world.quiet;
    await expect
      .poll(() => gate.bodies('GET', '/api/v1/history').length, { timeout: 10_000 })
      .toBeGreaterThan(before + 1);
    await page
      .locator('.verdict')
      .getByText(/^No class suffers/)
      .first()
      .waitFor({ timeout: 20_000 });
  });

  test('a day of history: keeps an hour of it, and stays small', async () => {
    const { gate } = visit;
    gate.remember(3600);
    const page = await visit.open();
    await visit.ready();
    await page.getByLabel('Last hour').check();
    const session = await page.context().newCDPSession(page);
    const heap = async (): Promise<number> => {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Runtime.getHeapUsage')).usedSize;
    };
    const before = await heap();
    const now = gate.clock;
    for (let i = 1; i <= 86_400; i += 1) {
      gate.tell('sample', world.overload(now + i, 2));
      // The gate's own buffers are not what is tested.
      if (i % 2000 === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    }
    // The last of them tell that all have been taken.
    for (let i = 1; i <= 10; i += 1) {
      gate.tell(
        'sample',
        world.sample(now + 86_400 + i, [world.classSample(4321, 4321), world.classSample(1, 1)]),
      );
    }
    await page.locator('.meter .value').first().getByText('4\u202f321/s').waitFor();
    // A sample takes some 500 bytes: a whole day of them would be twice that.
    expect((await heap()) - before).toBeLessThan(20e6);
    await page.getByText('● Live').waitFor();
  });
});
