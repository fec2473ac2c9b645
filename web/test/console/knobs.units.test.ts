import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Draft, curve } from '../../src/console/knobs/draft.ts';
import { change, measuredRate, measuredShare, type Side } from '../../src/console/knobs/figures.ts';
import { Predictor } from '../../src/console/knobs/prediction.ts';
import { price } from '../../src/console/knobs/price.ts';
import type { Foresight, Knobs } from '../../src/console/schemas.ts';
import * as world from './world.ts';

const NAMES = ['premium', 'basic'];

const knobs = (differentiation: number, favour: number): Knobs => ({ differentiation, favour });

describe('a draft of the knobs', () => {
  test('follows the gate until it is moved, and then stays', () => {
    const draft = new Draft();
    draft.follow(knobs(0.9, 0.5));
    draft.follow(knobs(0.8, 0.5));
    expect(draft.at).toEqual(knobs(0.8, 0.5));
    draft.move('favour', 0.2);
    expect([draft.isMoved, draft.isOvertaken]).toEqual([true, false]);
    draft.follow(knobs(0.1, 0.5));
    expect([draft.at, draft.isOvertaken]).toEqual([knobs(0.8, 0.2), true]);
    draft.accept();
    expect(draft.isOvertaken).toBe(false);
    draft.discard();
    expect([draft.at, draft.isMoved]).toEqual([knobs(0.1, 0.5), false]);
  });

  test('has a curve along the knob that was moved, with what is applied', () => {
    const points = curve({ at: knobs(0.33, 0.41), applied: knobs(0.9, 0.5), along: 'favour' });
    expect(points.length).toBeLessThanOrEqual(12);
    expect(points).toContainEqual(knobs(0.33, 0.41));
    expect(points).toContainEqual(knobs(0.9, 0.5));
    expect(points).toContainEqual(knobs(0.33, 1));
  });
});

describe('intervals', () => {
  test('of rates and shares hold them, and narrow with what was seen', () => {
    for (const seconds of [10, 1000]) {
      const { value, ends } = measuredRate(2, seconds, 2 * seconds);
      expect(ends && ends[0] < value && value < ends[1]).toBe(true);
    }
    const width = (n: number): number => {
      const [low, high] = measuredShare(0.4, n).ends ?? [0, 1];
      return high - low;
    };
    expect(width(1000)).toBeLessThan(width(100) / 2);
    expect(measuredShare(1, 20).ends?.[1]).toBe(1);
    expect(measuredShare(0, 0).ends).toBeNull();
  });

  test('that overlap show no difference; a figure without one is known to a fifth', () => {
    const measured = (value: number, ends: [number, number] | null) => ({ value, ends });
    expect(change('rate', measured(1, [0.8, 1.2]), measured(1.3, [1.1, 1.5]))).toBe(0);
    expect(change('rate', measured(1, [0.8, 1.2]), measured(1.5, [1.3, 1.7]))).toBe(1);
    expect(change('time', measured(100, null), measured(110, null))).toBe(0);
    expect(change('time', measured(100, null), measured(50, null))).toBe(-1);
    expect(change('time', null, measured(50, null))).toBe(0);
  });

  test('however narrow make no difference of less than can be acted on', () => {
    const sure = (value: number) => ({ value, ends: [value, value] as [number, number] });
    expect([0.9951, 0.9949, 0.99].map((x) => change('share', sure(1), sure(x)))).toEqual([0, -1, -1]);
    expect([101.9, 102.1].map((x) => change('rate', sure(100), sure(x)))).toEqual([0, 1]);
    expect([1.09, 1.11].map((x) => change('time', sure(1), sure(x)))).toEqual([0, 1]);
  });
});

/** A side of which each figure is known to a hundredth. */
function side(total: number, ...classes: [completion: number, p95: number][]): Side {
  const known = (value: number) => ({ value, ends: [value * 0.99, value * 1.01] as [number, number] });
  return {
    classes: new Map(
      classes.map(([completion, p95], i) => [
        NAMES[i] ?? '',
        { completed: known(completion * 50), completion: known(completion), p95: known(p95), sessions: 1000 },
      ]),
    ),
    total: known(total),
  };
}

describe('the price', () => {
  test('is what is lost and what is completed in all, and a sentence for each class', () => {
    const { head, sentences } = price(
      NAMES,
      side(77, [1, 0.026], [0.44, 3.2]),
      side(89, [1, 0.017], [0.56, 3.4]),
      false,
    );
    expect(head).toBe(
      'The price, sessions lost of 100: premium none, basic 56 → 44. Together 77.0 → 89.0 completed per second.',
    );
    expect(sentences).toEqual([
      'premium: 50.0 completed per second, 95\u00a0% within 26 → 17\u00a0ms.',
      'basic: 22.0 → 28.0 completed per second, 95\u00a0% within 3.2 → 3.4\u00a0s (no noticeable difference).',
    ]);
  });

  test('says where no difference is seen', () => {
    const { head, sentences } = price(
      NAMES,
      side(77, [1, 0.02], [0.44, 3]),
      side(77.5, [1, 0.02], [0.445, 3.04]),
      false,
    );
    expect(head).toContain('basic 56 → 55 (no noticeable difference)');
    expect(sentences[1]).toBe(
      'basic: 22.0 → 22.3 completed per second (no noticeable difference), 95\u00a0% within 3\u00a0s.',
    );
    expect(head).toContain('Together 77.0 → 77.5 completed per second (no noticeable difference).');
  });

  test('does not call a great difference none because it is not sure', () => {
    const wide = (value: number) => ({ value, ends: [value / 50, value * 50] as [number, number] });
    const [before, after] = [side(77, [1, 0.64], [0.44, 3]), side(77, [1, 0.035], [0.44, 3])];
    for (const one of [before, after]) {
      for (const figures of one.classes.values()) figures.p95 = wide(figures.p95?.value ?? 0);
    }
    expect(price(NAMES, before, after, false).sentences[0]).toBe(
      'premium: 50.0 completed per second, 95\u00a0% within 640 → 35\u00a0ms (may be chance).',
    );
  });

  test('says that more differentiation has nothing left to give, only where that is so', () => {
    const [before, after] = [side(77, [1, 0.02], [0.44, 3]), side(77, [1, 0.02], [0.4, 3])];
    const words = 'premium already gets all: more differentiation has nothing left to give it.';
    expect(price(NAMES, before, after, true).sentences[0]).toContain(words);
    expect(price(NAMES, before, after, false).sentences[0]).not.toContain(words);
    expect(price(NAMES, before, side(77, [1, 0.01], [0.4, 3]), true).sentences[0]).not.toContain(words);
    expect(price(NAMES, side(77, [0.9, 0.02], [0.4, 3]), after, true).sentences[0]).not.toContain(words);
  });

  test('is of the slider alone where nothing else is known', () => {
    const { head, sentences } = price(NAMES, null, side(89, [1, 0.017], [0.56, 3.4]), true);
    expect(head).toBe(
      'The price, sessions lost of 100: premium none, basic 44. Together 89.0 completed per second.',
    );
    expect(sentences[1]).toBe('basic: 28.0 completed per second, 95\u00a0% within 3.4\u00a0s.');
  });
});

describe('a prediction', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  function asked() {
    const draft = new Draft();
    draft.follow(knobs(0.9, 0.5));
    draft.move('favour', 0.3);
    const foresight = vi.fn<(settings: Knobs[], signal: AbortSignal) => Promise<Foresight>>(
      (settings) =>
        new Promise((resolve) => {
          setTimeout(() => {
            resolve(world.foresight(settings, NAMES));
          }, 1000);
        }),
    );
    const load = { sum: 77 };
    const measured = () => ({
      value: load.sum,
      ends: [load.sum * 0.97, load.sum * 1.03] as [number, number],
    });
    const predictor = new Predictor({ foresight }, () => Date.now() / 1000, measured, vi.fn());
    return { draft, foresight, predictor, load };
  }
  const settle = (ms = 5000) => vi.advanceTimersByTimeAsync(ms);

  test('is asked for in two steps: what is compared, then the rest of the curve', async () => {
    const { draft, foresight, predictor } = asked();
    predictor.ask(draft);
    await settle(1300);
    expect(foresight.mock.calls[0]?.[0]).toEqual([knobs(0.9, 0.3), knobs(0.9, 0.5)]);
    expect(predictor.phase).toBe('curve');
    expect(predictor.known?.slider.point.favour).toBe(0.3);
    expect(predictor.known?.now?.favour).toBe(0.5);
    await settle();
    expect(foresight).toHaveBeenCalledTimes(2);
    expect(foresight.mock.calls[1]?.[0]).toEqual(
      [0, 0.2, 0.4, 0.6, 0.8, 1].map((favour) => knobs(0.9, favour)),
    );
    expect(predictor.known?.curve.map(({ favour }) => favour)).toEqual([0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1]);
    expect(predictor.phase).toBe('idle');
  });

  test('loses nothing when the rest of the curve cannot be had', async () => {
    const { draft, foresight, predictor } = asked();
    predictor.ask(draft);
    await settle(1300);
    // The rest of the curve is under way, and given up when the slider moves on.
    draft.move('favour', 0.35);
    foresight.mockReset();
    foresight.mockImplementationOnce((settings) => Promise.resolve(world.foresight(settings, NAMES)));
    foresight.mockRejectedValueOnce(new Error('not in time'));
    predictor.ask(draft);
    await settle();
    expect(predictor.problem).toMatchObject({ why: 'not in time', isCurve: true });
    expect(predictor.isCurrent).toBe(true);
    expect(predictor.known?.slider.point.favour).toBe(0.35);
    expect(predictor.known?.curve.map(({ favour }) => favour)).toEqual([0.3, 0.35, 0.5]);
  });

  test('is not asked for again at once: along a knob only the new place is, with what it is compared with', async () => {
    const { draft, foresight, predictor } = asked();
    predictor.ask(draft);
    await settle();
    foresight.mockClear();
    draft.move('favour', 0.7);
    predictor.ask(draft);
    await settle();
    expect(foresight.mock.calls.map(([settings]) => settings)).toEqual([[knobs(0.9, 0.7), knobs(0.9, 0.5)]]);
    // It is known, but of another load than what it is compared with.
    draft.move('favour', 0.3);
    predictor.ask(draft);
    expect(predictor.isCurrent).toBe(true);
    await settle();
    expect(foresight).toHaveBeenCalledTimes(2);
    predictor.ask(draft);
    await settle();
    expect(foresight).toHaveBeenCalledTimes(2);
  });

  test('may lack points of the curve, but not the place of the slider', async () => {
    const { draft, foresight, predictor } = asked();
    foresight.mockImplementation((settings) => Promise.resolve(world.foresight(settings.slice(0, 1), NAMES)));
    predictor.ask(draft);
    await settle();
    expect(predictor.problem).toBeNull();
    expect(predictor.known?.slider.point.favour).toBe(0.3);
    // What is applied is asked for again with the curve, before all else.
    expect(foresight.mock.calls[1]?.[0][0]).toEqual(knobs(0.9, 0.5));
    foresight.mockImplementation(() => Promise.resolve({ ...world.foresight([], NAMES) }));
    draft.move('favour', 0.77);
    predictor.ask(draft);
    await settle();
    expect(predictor.problem).toMatchObject({ isCurve: false });
    expect(predictor.known?.slider.point.favour).toBe(0.3);
    expect(predictor.isCurrent).toBe(false);
  });

  test('is asked for again when it is old, and what was said stays meanwhile', async () => {
    const { draft, foresight, predictor } = asked();
    predictor.ask(draft);
    await settle();
    const made = predictor.known?.slider.made ?? 0;
    foresight.mockClear();
    predictor.renew(draft);
    await settle();
    expect(foresight).not.toHaveBeenCalled();
    await settle(61_000);
    predictor.renew(draft);
    expect(predictor.known?.slider.made).toBe(made);
    await settle(1300);
    expect(predictor.known?.slider.made).toBeGreaterThan(made + 60);
    expect(predictor.known?.curve).toHaveLength(8);
  });

  test('that is remembered is asked for again when it is older than half a minute', async () => {
    const { draft, foresight, predictor } = asked();
    predictor.ask(draft);
    await settle();
    const made = predictor.known?.slider.made ?? 0;
    predictor.hide();
    foresight.mockClear();
    await settle(20_000);
    predictor.ask(draft);
    await settle();
    expect(foresight).not.toHaveBeenCalled();
    predictor.hide();
    await settle(10_000);
    predictor.ask(draft);
    // Shown at once, as old as it is.
    expect(predictor.known?.slider.made).toBe(made);
    await settle();
    // The curve may be older than what is compared.
    expect(foresight.mock.calls.map(([settings]) => settings)).toEqual([[knobs(0.9, 0.3), knobs(0.9, 0.5)]]);
    expect(predictor.known?.slider.made).toBeGreaterThan(made + 30);
  });

  test('of another load is asked for again', async () => {
    const { draft, foresight, predictor, load } = asked();
    predictor.ask(draft);
    await settle();
    foresight.mockClear();
    load.sum = 84;
    predictor.renew(draft);
    await settle();
    expect(foresight).not.toHaveBeenCalled();
    load.sum = 86;
    predictor.renew(draft);
    await settle();
    expect(foresight).toHaveBeenCalledTimes(2);
    predictor.renew(draft);
    await settle();
    expect(foresight).toHaveBeenCalledTimes(2);
  });

  test('that failed is tried again after ten seconds', async () => {
    const { draft, foresight, predictor } = asked();
    foresight.mockRejectedValueOnce(new Error('only 12 s of load have been seen'));
    predictor.ask(draft);
    await settle(1000);
    predictor.renew(draft);
    await settle(1000);
    expect(foresight).toHaveBeenCalledTimes(1);
    await settle(10_000);
    predictor.renew(draft);
    expect(predictor.problem).toMatchObject({ why: 'only 12 s of load have been seen', isCurve: false });
    await settle();
    expect(predictor.problem).toBeNull();
    expect(predictor.isCurrent).toBe(true);
  });

  test('is of another gate once that is forgotten', async () => {
    const { draft, foresight, predictor } = asked();
    predictor.ask(draft);
    await settle();
    predictor.hide();
    predictor.ask(draft);
    expect(predictor.isCurrent).toBe(true);
    predictor.forget();
    foresight.mockClear();
    predictor.ask(draft);
    expect(predictor.known).toBeNull();
    await settle();
    expect(foresight).toHaveBeenCalledTimes(2);
  });
});
