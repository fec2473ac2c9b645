import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { why } from '../../src/console/client.ts';
import { Counts, refusals } from '../../src/console/counts.ts';
import { judgement, measuredRate, measuredShare, sessionsOf } from '../../src/console/knobs/compare.ts';
import { Draft, questions } from '../../src/console/knobs/draft.ts';
import { Predictor } from '../../src/console/knobs/prediction.ts';
import { MOST_SAMPLES, Samples } from '../../src/console/samples.ts';
import type { Change, Foresight, Outcome, State } from '../../src/console/schemas.ts';
import { Store, type Rejections } from '../../src/console/store.ts';
import { messages, type Message } from '../../src/console/stream.ts';
import { isUndoable } from '../../src/console/undo.ts';
import { about, brief, range, rate, share } from '../../src/console/words.ts';
import * as world from './world.ts';

const NAMES = ['premium', 'basic'];

describe('server-sent events', () => {
  async function read(...pieces: string[]): Promise<Message[]> {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
        controller.close();
      },
    });
    const found: Message[] = [];
    for await (const message of messages(body)) found.push(message);
    return found;
  }

  test('are put together however they are cut', async () => {
    const text = ': hello\n\nid: 1\nevent: knobs\ndata: {"a":\ndata: 1}\n\nevent: sample\r\ndata: 2\r\n\r\n';
    const whole = [
      { event: 'knobs', data: '{"a":\n1}' },
      { event: 'sample', data: '2' },
    ];
    expect(await read(text)).toEqual(whole);
    expect(await read(...Array.from(text))).toEqual(whole);
    expect(await read('data: cut off')).toEqual([]);
  });

  test('that do not end are not kept', async () => {
    await expect(read('data: ' + 'x'.repeat(1_000_001))).rejects.toThrow('does not end');
  });
});

describe('samples', () => {
  test('are bounded, and those that came before are left out', () => {
    const samples = new Samples();
    for (let at = 0; at < 86_400; at += 1) samples.add(world.quiet(at, 1));
    expect(samples.list).toHaveLength(MOST_SAMPLES);
    const { version } = samples;
    samples.add(world.quiet(5, 1), world.quiet(86_399, 1));
    expect(samples.version).toBe(version);
    expect(samples.recent(10).map(({ at }) => at)).toEqual(Array.from({ length: 10 }, (_o, i) => 86_390 + i));
  });
});

describe('the store', () => {
  test('puts refusals of one second after the other together, and is bounded', () => {
    const store = new Store();
    store.happened('rejections', { total: 2, classes: { basic: { admission: 2 } } });
    store.happened('rejections', {
      total: 3,
      classes: { basic: { admission: 1, deadline: 2 }, premium: { deadline: 0 } },
    });
    expect(store.happenings).toHaveLength(1);
    expect(store.happenings[0]).toMatchObject({
      times: 2,
      data: {
        total: 5,
        classes: new Map([
          ['basic', new Map(Object.entries({ admission: 3, deadline: 2 }))],
          ['premium', new Map([['deadline', 0]])],
        ]),
      },
    });
    for (let i = 0; i < 1000; i += 1) store.happened('raised', { rule: i });
    expect(store.happenings).toHaveLength(200);
    expect(store.happenings[0]?.data).toEqual({ rule: 999 });
    expect(new Set(store.happenings.map(({ id }) => id)).size).toBe(200);
  });

  test('counts refusals of classes whatever they are called', () => {
    const store = new Store();
    const told = '{ "total": 1, "classes": { "__proto__": { "__proto__": 1, "admission": 1 } } }';
    for (let i = 0; i < 2; i += 1) store.happened('rejections', JSON.parse(told));
    const { classes } = store.happenings[0]?.data as Rejections;
    expect([...(classes.get('__proto__') ?? [])]).toEqual([
      ['__proto__', 2],
      ['admission', 2],
    ]);
    expect(Object.hasOwn(Object.prototype, 'admission')).toBe(false);
  });

  test('takes no answer of before another one, or of before a change of its own', () => {
    const store = new Store();
    const of = (differentiation: number): State => ({
      ...world.state(NAMES, 1),
      knobs: { differentiation, favour: 0.5 },
    });
    const [first, second] = [store.ask(), store.ask()];
    store.takeState(of(0.2), second);
    store.takeState(of(0.1), first);
    expect(store.state?.knobs.differentiation).toBe(0.2);
    const early = store.ask();
    store.overtake();
    store.takeState(of(0.1), early);
    store.takeChanges([world.change(1, 'knobs', 'knobs', 0, 1)], early);
    expect([store.state?.knobs.differentiation, store.changes]).toEqual([0.2, []]);
    store.takeState(of(0.3), store.ask());
    expect(store.state?.knobs.differentiation).toBe(0.3);
  });
});

describe('a draft of the knobs', () => {
  const knobs = (differentiation: number, favour: number) => ({ differentiation, favour });

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

  test('asks along the knob that was moved, and for what is applied', () => {
    const draft = new Draft();
    draft.follow(knobs(0.9, 0.5));
    draft.move('differentiation', 0.33);
    draft.move('favour', 0.41);
    const points = questions(draft);
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

  test('are of the sessions that have ended', () => {
    const of = (sessions: number): Outcome => ({
      from: 0,
      to: 100,
      classes: [{ name: 'basic', starts: 5, completed: 2, completion: 0.4, sessions, p50: 0.1, p95: 0.1 }],
    });
    const [point] = world.foresight([{ differentiation: 0, favour: 0 }], ['basic']).points;
    expect(sessionsOf(of(900))).toBe(900);
    expect(judgement(of(20), point ?? null)).toBe('');
    // 0.4 of 900 is not the 0.5 that was predicted; of 40 it may be.
    expect(judgement(of(900), point ?? null)).toContain('basic: share is lower than predicted');
    expect(judgement(of(40), point ?? null)).toContain('does not contradict');
  });
});

describe('words', () => {
  test('have no more digits than are read', () => {
    expect([rate(0), rate(0.5), rate(41.27), rate(1234.5)]).toEqual([
      '0/s',
      '0.50/s',
      '41.3/s',
      '1\u202f235/s',
    ]);
    expect([share(0), share(0.001), share(0.414), share(0.9999), share(1)].join()).toBe(
      '0\u00a0%,1\u00a0%,41\u00a0%,99\u00a0%,100\u00a0%',
    );
    expect([about(0.1234), about(9.5), about(2), about(300)].join()).toBe(
      '120\u00a0ms,9.5\u00a0s,2\u00a0s,5\u00a0min',
    );
    expect(range([0.2, 0.4], share)).toBe('20–40\u00a0%');
    expect(brief({ differentiation: 0.5, nested: { a: null } })).toBe('differentiation 0.5, nested (a none)');
  });
});

describe('a change can be undone', () => {
  const state = { ...world.state(NAMES, 1), mode: 'shadow' as const };
  const mode = world.change(3, 'mode', 'mode', 'enforce', 'shadow');
  const reload = (id: number): Change => world.change(id, 'reload', 'configuration', null, []);

  test('as long as it is the last of its kind', () => {
    expect(isUndoable(mode, [mode], state)).toBe(true);
    const earlier = world.change(1, 'mode', 'mode', 'enforce', 'shadow');
    const between = world.change(2, 'mode', 'mode', 'shadow', 'enforce');
    expect(isUndoable(earlier, [mode, between, earlier], state)).toBe(false);
    expect(isUndoable(earlier, [reload(4), mode, between, earlier], state)).toBe(false);
    expect(isUndoable(mode, [mode, reload(2)], state)).toBe(true);
  });

  test('across a reload, unless that has set it itself', () => {
    expect(isUndoable(mode, [reload(4), mode], state)).toBe(false);
    const drain = world.change(3, 'drain', 'draining', true, false);
    expect(isUndoable(drain, [reload(4), drain], state)).toBe(true);
    const one = world.change(2, 'class', 'class of session 1', null, 'basic');
    const other = world.change(3, 'class', 'class of session 2', null, 'basic');
    expect(isUndoable(one, [reload(4), other, one], state)).toBe(true);
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
    draft.follow({ differentiation: 0.9, favour: 0.5 });
    draft.move('favour', 0.2);
    const foresight = vi.fn((knobs: { differentiation: number; favour: number }[]) =>
      Promise.resolve<Foresight>(world.foresight(knobs, NAMES)),
    );
    const predictor = new Predictor({ foresight }, () => Date.now() / 1000, vi.fn());
    return { draft, foresight, predictor };
  }

  test('is shown until there is another, however often the slider moves on', async () => {
    const { draft, predictor } = asked();
    predictor.ask(draft);
    await vi.advanceTimersByTimeAsync(1000);
    expect(predictor.now.kind).toBe('known');
    predictor.ask(draft);
    predictor.ask(draft);
    expect(predictor.known?.at).toEqual(draft.at);
  });

  test('is asked for again when it is old, and what was said stays meanwhile', async () => {
    const { draft, foresight, predictor } = asked();
    predictor.ask(draft);
    await vi.advanceTimersByTimeAsync(1000);
    const made = predictor.known?.made ?? 0;
    predictor.renew(draft);
    expect(foresight).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(61_000);
    predictor.renew(draft);
    expect(predictor.known?.made).toBe(made);
    await vi.advanceTimersByTimeAsync(1000);
    expect(foresight).toHaveBeenCalledTimes(2);
    expect(predictor.known?.made).toBeGreaterThan(made + 60);
  });

  test('that failed is tried again after ten seconds', async () => {
    const { draft, foresight, predictor } = asked();
    foresight.mockRejectedValueOnce(new Error('only 12 s of load have been seen'));
    predictor.ask(draft);
    await vi.advanceTimersByTimeAsync(1000);
    predictor.renew(draft);
    expect(predictor.now.kind).toBe('failed');
    await vi.advanceTimersByTimeAsync(10_000);
    predictor.renew(draft);
    expect(predictor.said).toMatchObject({ kind: 'failed', why: 'only 12 s of load have been seen' });
    await vi.advanceTimersByTimeAsync(1000);
    expect(predictor.now.kind).toBe('known');
  });
});

describe('counts', () => {
  test('are differences of the last minutes, and begin anew with the gate', () => {
    const counts = new Counts();
    const of = (clock: number, admission: number, started = 1): State => {
      const state = world.state(NAMES, started);
      const classes = state.classes.map((one) => ({ ...one, rejected: { admission } }));
      return { ...state, clock, classes };
    };
    for (let i = 0; i <= 1000; i += 2) counts.take(of(i, i));
    const now = of(1000, 1000);
    const since = (seconds: number, state = now) => {
      const [one] = state.classes;
      return one && refusals(one, counts.before(state, seconds).classes[0]);
    };
    expect(since(60)).toEqual([['admission', 60]]);
    expect(since(9999)?.[0]?.[1]).toBeLessThan(310);
    counts.take(of(1010, 5, 1005));
    expect(since(60, of(1012, 7, 1005))).toEqual([['admission', 2]]);
  });
});

test('a fault of the page is not told as one of the gate', () => {
  expect(why(new TypeError('x is not a function'))).toBe('x is not a function');
});
