import { describe, expect, test } from 'vitest';
import { chromium } from '../browser.ts';
import { Visit } from './visit.ts';

describe.skipIf(chromium === undefined)('the knobs', () => {
  const visit = new Visit();

  test('show what the simulator says before they are applied, and then what it did', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    const slider = page.getByLabel('Differentiation', { exact: true });
    await slider.focus();
    for (let i = 0; i < 5; i += 1) await page.keyboard.press('ArrowLeft');
    expect(await slider.inputValue()).toBe('0.85');
    await page.getByText(/^Predicted from the load of the last 3\u00a0min/).waitFor();
    const asked = gate.bodies('POST', '/api/v1/foresight') as { knobs: unknown[] }[];
    expect(asked.map(({ knobs }) => knobs)).toContainEqual([
      { differentiation: 0.85, favour: 0.5 },
      { differentiation: 0.9, favour: 0.5 },
    ]);
    await page
      .locator('#knobs .price-head')
      .getByText(/^The price, sessions lost of 100: premium \d/)
      .waitFor();
    const head = await page.locator('#knobs .knobs-main thead').innerText();
    expect(head).toContain('Predicted at the sliders');
    await page.locator('#knobs .curves .u-wrap canvas').nth(2).waitFor();
    await page.getByText('Clients that come back after a refusal').waitFor();
    expect(gate.bodies('PATCH', '/api/v1/knobs')).toEqual([]);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Applied: differentiation 0.85, favour 0.50.').waitFor();
    expect(gate.state.knobs).toEqual({ differentiation: 0.85, favour: 0.5 });
    await page
      .locator('.did')
      .getByText(/sessions in \d+\u00a0s/)
      .waitFor({ timeout: 30_000 });
    expect(await page.locator('.did thead').innerText()).toContain('Measured since');
    // What is read by keyboard stays in focus while its figures change.
    const figures = page.getByRole('region', { name: 'What the change did' });
    await figures.focus();
    const before = await figures.innerText();
    await expect.poll(() => figures.innerText(), { timeout: 15_000 }).not.toBe(before);
    expect(await figures.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.locator('#knobs').getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('Undone: differentiation 0.90, favour 0.50.').waitFor();
    expect(gate.state.knobs).toEqual({ differentiation: 0.9, favour: 0.5 });
    await page.locator('.did').getByText('Undone at').waitFor();
    // What it did is still there when the page is loaded anew.
    await page.reload();
    await page
      .locator('.did')
      .getByText(/^Set by 127\.0\.0\.1 at .* Undone at/)
      .waitFor();
  });

  test('give up what was asked when a slider moves on', async () => {
    const { gate } = visit;
    gate.foresightDelay = 3000;
    const page = await visit.open();
    await visit.ready();
    await page.getByLabel('Favour', { exact: true }).fill('0.2');
    await expect.poll(() => gate.bodies('POST', '/api/v1/foresight').length).toBe(1);
    gate.foresightDelay = 50;
    await page.getByLabel('Favour', { exact: true }).fill('0.7');
    await page.getByText(/^Predicted from the load/).waitFor();
    expect(gate.givenUp).toContain('/api/v1/foresight');
    const asked = gate.bodies('POST', '/api/v1/foresight') as { knobs: unknown[] }[];
    expect(asked[1]?.knobs[0]).toEqual({ differentiation: 0.9, favour: 0.7 });
    // Its p95 rises with favour: that of 0.7 is 0.24 s, and that of 0.2 would be 0.14 s.
    const sliders = page.locator('#knobs .knobs-main tbody tr').nth(2).locator('td').last();
    expect(await sliders.locator('strong').innerText()).toBe('240\u00a0ms');
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByText('Move a knob to see').waitFor();
    expect(await page.getByLabel('Favour', { exact: true }).inputValue()).toBe('0.5');
  });

  test('can be applied without a prediction, which says why there is none', async () => {
    const { gate } = visit;
    gate.foresightProblem = 'only 12 s of load have been seen; ask again in 50 s';
    visit.expected = /503/;
    const page = await visit.open();
    await visit.ready();
    await page.getByLabel('Differentiation', { exact: true }).fill('0.3');
    await page.getByText('No prediction: only 12 s of load have been seen').waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Applied: differentiation 0.30').waitFor();
    expect(gate.state.knobs.differentiation).toBe(0.3);
  });

  test('follow another operator, and say who it was', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    gate.moveKnobs({ differentiation: 0.4, favour: 0.5 });
    await page.getByText('10.0.0.7 (night) set differentiation 0.40').waitFor();
    expect(await page.getByLabel('Differentiation', { exact: true }).inputValue()).toBe('0.4');
  });

  test('do not overwrite silently what another operator has set meanwhile', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    visit.expected = /409/;
    await page.getByLabel('Differentiation', { exact: true }).fill('0.7');
    gate.moveKnobs({ differentiation: 0.1, favour: 0.5 });
    await page.getByText('Your sliders stay where they are; they are not applied.').waitFor();
    expect(await page.getByLabel('Differentiation', { exact: true }).inputValue()).toBe('0.7');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.innerText()).toContain('10.0.0.7 (night) has set differentiation 0.10');
    await page.keyboard.press('Escape');
    expect(gate.state.knobs.differentiation).toBe(0.1);
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByText('Applied: differentiation 0.70').waitFor();
    expect(gate.state.knobs.differentiation).toBe(0.7);
  });

  test('ask again when a change has not been heard of yet', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    await page.getByLabel('Differentiation', { exact: true }).fill('0.7');
    visit.expected = /409/;
    // No event tells of it, and it is not asked for in between either.
    gate.stateDelay = 1000;
    gate.state = { ...gate.state, knobs: { differentiation: 0.2, favour: 0.5 } };
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.getByRole('button', { name: 'Apply mine all the same' }).click();
    await page.getByText('Applied: differentiation 0.70').waitFor();
    expect(gate.bodies('PATCH', '/api/v1/knobs')).toEqual([
      { differentiation: 0.7, favour: 0.5, expected: { differentiation: 0.9, favour: 0.5 } },
      { differentiation: 0.7, favour: 0.5, expected: { differentiation: 0.2, favour: 0.5 } },
    ]);
  });

  test('are moved once, however often Apply is pressed', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    gate.knobsDelay = 500;
    await page.getByLabel('Differentiation', { exact: true }).fill('0.3');
    await page.getByRole('button', { name: 'Apply', exact: true }).evaluate((button: HTMLElement) => {
      button.click();
      button.click();
    });
    await page.getByText('Applied: differentiation 0.30').waitFor();
    expect(gate.bodies('PATCH', '/api/v1/knobs')).toHaveLength(1);
    await page
      .locator('.did')
      .getByText('differentiation 0.90, favour 0.50 → differentiation 0.30')
      .waitFor();
    gate.knobsDelay = 0;
    await page.locator('#knobs').getByRole('button', { name: 'Undo', exact: true }).click();
    await page.getByText('Undone: differentiation 0.90').waitFor();
    expect(gate.state.knobs.differentiation).toBe(0.9);
  });

  test('stay as they were applied when an earlier state comes late', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    await page.getByText('● Live').waitFor();
    const asked = (): number => gate.bodies('GET', '/api/v1/state').length;
    const before = asked();
    gate.stateDelay = 1500;
    const late = page.waitForRequest(/api.v1.state/);
    await expect.poll(asked, { timeout: 10_000 }).toBe(before + 1);
    gate.stateDelay = 0;
    await page.getByLabel('Differentiation', { exact: true }).fill('0.3');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    const notice = page.locator('.knobs-side > .notice');
    await notice.getByText('Applied: differentiation 0.30').waitFor();
    await (await (await late).response())?.finished();
    // One more, so that what has come late has been shown.
    await page.waitForResponse(/api.v1.state/);
    expect(await notice.innerText()).toBe('Applied: differentiation 0.30, favour 0.50.');
    await page.locator('.did').getByText('nothing is added any more').waitFor({ state: 'detached' });
  });

  test('are said to change nothing in shadow mode, and are not judged there', async () => {
    const { gate } = visit;
    gate.state.mode = 'shadow';
    const page = await visit.open();
    await visit.ready();
    await page
      .locator('#knobs')
      .getByText('In shadow mode the knobs change nothing for clients, only')
      .waitFor();
    await page.getByLabel('Differentiation', { exact: true }).fill('0.3');
    await page.getByText(/^Predicted from/).waitFor();
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page.locator('.did').getByText('so there is nothing to judge').waitFor();
  });

  test('once moved again end what is measured of a change', async () => {
    const { gate } = visit;
    const page = await visit.open();
    await visit.ready();
    await page.getByLabel('Differentiation', { exact: true }).fill('0.3');
    await page.getByRole('button', { name: 'Apply', exact: true }).click();
    await page
      .locator('.did')
      .getByText(/sessions in \d+\u00a0s \(begun/)
      .waitFor({ timeout: 30_000 });
    // Of the time until then it is asked once more.
    const moved = gate.clock;
    const asked = (url: string): boolean => Number(new URL(url).searchParams.get('since')) >= moved - 0.01;
    const last = page.waitForResponse((response) => asked(response.url()));
    gate.moveKnobs({ differentiation: 0.6, favour: 0.5 });
    await page.locator('.did').getByText('The knobs were moved again at').waitFor();
    await last;
    await page.waitForResponse(/api.v1.state/);
    expect(await page.locator('.did thead').innerText()).toContain('Measured until then');
    const figures = await page.locator('.did tbody').innerText();
    // From then on only of the last minutes.
    await page.waitForResponse(/api.v1.outcome/, { timeout: 30_000 });
    expect(await page.locator('.did tbody').innerText()).toBe(figures);
    expect(await page.locator('#knobs').getByRole('button', { name: 'Undo', exact: true }).isDisabled()).toBe(
      true,
    );
  });

  test('of a gate that cannot predict ask for no outcome', async () => {
    const { gate } = visit;
    gate.state.foresight = false;
    const page = await visit.open();
    await visit.ready();
    await page.getByText('This gate cannot predict.').waitFor();
    await page.getByText('● Live').waitFor();
    await page.waitForResponse(/api.v1.state/);
    expect(gate.bodies('GET', '/api/v1/outcome')).toEqual([]);
  });

  test('keep the focus while the gate is away', async () => {
    const { gate } = visit;
    visit.expected = /ERR_/;
    const page = await visit.open();
    await visit.ready();
    const slider = page.getByLabel('Differentiation', { exact: true });
    await slider.fill('0.3');
    await slider.focus();
    gate.stop();
    await page.getByText(/^Connection lost since/).waitFor();
    await page.locator('#knob-differentiation[aria-disabled=true]').waitFor();
    await page.keyboard.press('ArrowLeft');
    expect(await slider.inputValue()).toBe('0.3');
    expect(await slider.evaluate((element) => element === document.activeElement)).toBe(true);
  });
});
