import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Changes, Knobs, Preview, Queue, Sessions, State } from '../../src/console/schemas.ts';
import { operatorOf } from '../../src/console/words.ts';
import { chromium } from '../browser.ts';
import { Visit } from './visit.ts';

const HEADWORKS = process.env.HEADWORKS;
if (HEADWORKS === undefined) {
  const skipped = 'the console is not tried with a real gate: HEADWORKS does not name the program';
  if (process.env.CI === 'true') throw new Error(skipped);
  console.warn(`skipped: ${skipped}`);
}

const TOKENS = 'ops 0123456789abcdef-ops\nwatcher 0123456789abcdef-watch read-only\n';

/** A program of ours, and the addresses that it says it listens on. */
class Process {
  private readonly child: ChildProcess;
  private output = '';

  constructor(...args: string[]) {
    this.child = spawn(HEADWORKS ?? '', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.child.stdout?.on('data', (piece: Buffer) => {
      this.output += piece.toString();
    });
  }

  async says(words: string): Promise<string> {
    const pattern = new RegExp(`${words}.*?http://(\\S+)`);
    return vi.waitFor(
      () => {
        const address = pattern.exec(this.output)?.[1];
        if (address === undefined) throw new Error(`the program has not said "${words}": ${this.output}`);
        return address;
      },
      { timeout: 20_000 },
    );
  }

  async end(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await gone;
  }
}

/** A site of one server with four workers, a gate before it, and visitors of a few pages each. */
class Site {
  readonly folder = mkdtempSync(join(tmpdir(), 'headworks-console-'));
  readonly config = join(this.folder, 'gate.toml');
  url = '';
  front = '';
  private origin: Process | null = null;
  private gate: Process | null = null;
  private upstream = '';
  private timer: ReturnType<typeof setInterval> | undefined;

  async start(): Promise<void> {
    this.origin = new Process('origin', '--listen', '127.0.0.1:0');
    this.upstream = await this.origin.says('');
    this.configure(4);
    await this.startGate('127.0.0.1:0');
    this.timer = setInterval(() => void this.visit().catch(() => undefined), 150);
  }

  configure(window: number, admin = ''): void {
    writeFileSync(join(this.folder, 'tokens'), TOKENS, { mode: 0o600 });
    writeFileSync(
      this.config,
      `listen = "127.0.0.1:0"
upstream = "${this.upstream}"
window = ${window}
${admin}
[waiting-room]
enabled = true
[[class]]
name = "premium"
[[class]]
name = "basic"
[[rule]]
class = "premium"
cookie = "tier=premium"
`,
    );
  }

  async startGate(admin: string): Promise<void> {
    this.gate = new Process('gate', '--config', this.config, '--admin', admin);
    this.url = `http://${await this.gate.says('admin on')}`;
    this.front = `http://${await this.gate.says('listening on')}`;
  }

  async stopGate(): Promise<void> {
    await this.gate?.end();
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.gate?.end();
    await this.origin?.end();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async visit(): Promise<void> {
    let cookie = Math.random() < 0.3 ? 'tier=premium' : '';
    for (let page = 0; page < 3; page += 1) {
      const response = await fetch(`${this.front}/burn?cpu=4ms`, { headers: { cookie } });
      await response.arrayBuffer();
      const session = response.headers.getSetCookie().find((one) => one.startsWith('headworks='));
      if (session !== undefined) cookie = session.split(';')[0] ?? '';
    }
  }

  async ask<T>(path: string, token?: string): Promise<T> {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(`${this.url}${path}`, { headers });
    return (await response.json()) as T;
  }
}

describe.skipIf(chromium === undefined || HEADWORKS === undefined)('the console of a real gate', () => {
  const visit = new Visit();
  const site = new Site();
  beforeAll(() => site.start());
  afterAll(() => site.stop());

  const knobs = (): Promise<Knobs> => site.ask('/api/v1/knobs');
  const state = (): Promise<State> => site.ask('/api/v1/state');

  test('shows what the gate says', async () => {
    const page = await visit.open({}, site.url);
    await visit.ready();
    await page.getByText('● Live').waitFor();
    const { version, operator } = await state();
    const facts = await page.locator('.identity .facts').innerText();
    expect(facts).toContain(`headworks ${version} · enforcing · you: ${operatorOf(operator.name)} · `);
    expect(await page.locator('.meter h3').allInnerTexts()).toEqual(['premium', 'basic']);
    const offered = page.getByRole('article', { name: 'Class basic', exact: true }).locator('.value').first();
    await expect
      .poll(async () => parseFloat(await offered.innerText()), { timeout: 15_000 })
      .toBeGreaterThan(2);
    await page.locator('#time .u-wrap canvas').last().waitFor();
    await page.getByText('What a visitor sees who has to wait').click();
    await page.locator('#rooms iframe').waitFor();
    expect(await page.frameLocator('#rooms iframe').locator('body').innerText()).toMatch(/\d/);
  });

  test('predicts, applies, says what came of it, and undoes', async () => {
    const page = await visit.open({}, site.url);
    await visit.ready();
    const before = await knobs();
    visit.expected = /503/;
    const slider = page.getByLabel('Differentiation', { exact: true });
    const predicted = page.getByText(/^Predicted from the load of/);
    await expect
      .poll(
        async () => {
          await slider.fill(Math.random() < 0.5 ? '0.31' : '0.3');
          await predicted.waitFor({ timeout: 15_000 });
          return true;
        },
        { timeout: 90_000, interval: 2000 },
      )
      .toBe(true);
    await slider.fill('0.25');
    await predicted.waitFor();
    expect(await knobs()).toEqual(before);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Applied: differentiation 0.25').waitFor();
    expect(await knobs()).toEqual({ ...before, differentiation: 0.25 });
    await page
      .locator('.did')
      .getByText(/sessions in \d+/)
      .waitFor({ timeout: 60_000 });
    await expect
      .poll(async () => page.getByRole('list', { name: 'Changes by operators' }).innerText())
      .toContain('differentiation 0.25');
    await page.locator('#knobs').getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText(/^Undone/).waitFor();
    expect(await knobs()).toEqual(before);
    await page.getByLabel('Favour', { exact: true }).fill('0.8');
    await page.getByRole('button', { name: 'Discard' }).click();
    expect(await knobs()).toEqual(before);
  }, 240_000);

  test('switches the mode, drains and takes clients again', async () => {
    const page = await visit.open({}, site.url);
    await visit.ready();
    for (const [action, mode] of [
      ['Let everything through', 'shadow'],
      ['Enforce', 'enforce'],
    ] as const) {
      await page.getByRole('switch').click();
      await page.getByRole('dialog').getByRole('button', { name: action }).click();
      await expect.poll(async () => (await state()).mode).toBe(mode);
      await page.locator(`[role=switch][aria-checked=${String(mode === 'shadow')}]`).waitFor();
    }
    await page.locator('#operations').getByRole('button', { name: 'Drain' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drain' }).click();
    await expect.poll(async () => (await fetch(`${site.url}/readyz`)).status).toBe(503);
    await page.getByRole('button', { name: 'Take clients again' }).click();
    await expect.poll(async () => (await fetch(`${site.url}/readyz`)).status).toBe(200);
  });

  test('reads the configuration again', async () => {
    const page = await visit.open({}, site.url);
    await visit.ready();
    site.configure(3);
    await page.getByRole('button', { name: 'Show what would change' }).click();
    const rows = page.getByRole('region', { name: 'What would change' }).locator('tbody tr');
    await rows.first().waitFor();
    const { changes } = await site.ask<Preview>('/api/v1/reload');
    expect(await rows.locator('th').allInnerTexts()).toEqual(changes.map((one) => one.setting));
    expect(changes.map((one) => one.setting)).toContain('window');
    await page.locator('#operations').getByRole('button', { name: 'Read it again' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Read it again' }).click();
    await page.getByText(/^Read again; changed: .*window/).waitFor();
    expect((await state()).window).toBe(3);
  });

  test('sets the class of a session, and has it in the log', async () => {
    const page = await visit.open({}, site.url);
    await visit.ready();
    const sessions = async (): Promise<string[]> =>
      (await site.ask<Sessions>('/api/v1/sessions')).sessions.map((one) => `${one.session} ${one.class}`);
    await page.getByLabel('Session', { exact: true }).fill('66f2c1a09bd3e175');
    await page.locator('#session-class').selectOption('premium');
    await page.getByRole('button', { name: 'Set class' }).click();
    await page.getByText('66f2c1a09bd3e175: premium').waitFor();
    expect(await sessions()).toEqual(['66f2c1a09bd3e175 premium']);
    await page
      .locator('#log')
      .getByRole('button', { name: /^Undo: class of session 66f2c1a09bd3e175/ })
      .click();
    await page.getByText('No session has a class that was set by hand.').waitFor();
    expect(await sessions()).toEqual([]);
    const { changes } = await site.ask<Changes>('/api/v1/changes');
    expect(await page.getByRole('list', { name: 'Changes by operators' }).locator('li').count()).toBe(
      changes.length,
    );
  });

  test('shows who waits', async () => {
    const page = await visit.open({}, site.url);
    await visit.ready();
    const slow = Array.from({ length: 30 }, () =>
      fetch(`${site.front}/delay?before=2s&bytes=10`).catch(() => null),
    );
    await expect
      .poll(async () => (await site.ask<Queue>('/api/v1/queue?search=delay')).waiting)
      .toBeGreaterThan(5);
    await page.getByText('Show the queue').click();
    await page.getByLabel('Search').fill('delay');
    await page
      .locator('#queue')
      .getByText(/^\d+ of \d+ that match/)
      .waitFor();
    expect(await page.locator('#queue tbody td.path').first().innerText()).toBe('/delay');
    await Promise.all(slow);
  });

  test('finds a gate again that was restarted with tokens, and goes by what they may', async () => {
    const page = await visit.open({}, site.url);
    await visit.ready();
    visit.expected = /ERR_|401/;
    const admin = site.url.replace('http://', '');
    await site.stopGate();
    await page.getByText(/^Connection lost since/).waitFor({ timeout: 15_000 });
    site.configure(3, `[admin]\nlisten = "${admin}"\ntoken-file = "tokens"`);
    await site.startGate(admin);
    await page.getByText('This gate wants a token').waitFor({ timeout: 30_000 });
    await page.getByLabel('Token', { exact: true }).fill('0123456789abcdef-watch');
    await page.keyboard.press('Enter');
    await page.getByText('This token may only read').waitFor();
    await page.getByText('The gate was restarted').waitFor();
    expect(await page.getByRole('switch').isDisabled()).toBe(true);
    await page.evaluate(() => {
      sessionStorage.clear();
    });
    await page.reload();
    await page.getByLabel('Token', { exact: true }).fill('0123456789abcdef-ops');
    await page.keyboard.press('Enter');
    await page.getByText('● Live').waitFor();
    await page.getByLabel('Favour', { exact: true }).fill('0.77');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Applied: differentiation').waitFor();
    const { favour } = await site.ask<Knobs>('/api/v1/knobs', '0123456789abcdef-ops');
    expect(favour).toBe(0.77);
  });
});
