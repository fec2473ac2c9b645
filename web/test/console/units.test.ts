import { describe, expect, test } from 'vitest';
import { spread } from '../../src/chart/references.ts';
import { why } from '../../src/console/client.ts';
import { Counts, refusals } from '../../src/console/counts.ts';
import { doorWords } from '../../src/console/door.ts';
import { groups } from '../../src/console/plans.ts';
import { summary } from '../../src/console/queue.ts';
import { beginning, lately, MOST_SAMPLES, pressed, Samples } from '../../src/console/samples.ts';
import type { Change, State } from '../../src/console/schemas.ts';
import { Store, type Rejections } from '../../src/console/store.ts';
import { messages, type Message } from '../../src/console/stream.ts';
import { isUndoable } from '../../src/console/undo.ts';
import { about, brief, operatorOf, range, rate, share } from '../../src/console/words.ts';
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

test('plots begin with what is known', () => {
  const of = (...times: number[]) => times.map((at) => world.quiet(at, 1));
  expect(beginning(of(900, 1000), 1000, 600)).toBe(900);
  expect(beginning(of(100, 1000), 1000, 600)).toBe(400);
  expect(beginning(of(1000), 1000, 600)).toBe(990);
  expect(beginning([], 1000, 600)).toBe(400);
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

  test('knows that a change is missing from its list until that has been asked for since', () => {
    const store = new Store();
    expect(store.isBehind).toBe(false);
    const early = store.ask();
    store.overtake();
    store.takeChanges([], early);
    expect(store.isBehind).toBe(true);
    store.takeChanges([], store.ask());
    expect(store.isBehind).toBe(false);
    const before = store.ask();
    store.expectChange();
    // Of before, but shown: it is not wrong, only not all.
    store.takeChanges([world.change(1, 'knobs', 'knobs', 0, 1)], before);
    expect([store.changes.length, store.isBehind]).toEqual([1, true]);
    store.takeChanges([], store.ask());
    expect(store.isBehind).toBe(false);
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

describe('words of what is seen', () => {
  test('have intervals in which their figure lies', () => {
    expect(range([0.991, 0.9985], share, 1)).toBe('99–100\u00a0%');
    expect(range([0.9999, 0.99995], share, 0.9999)).toBe('99–100\u00a0%');
    expect(range([0.4321, 0.4399], share, 0.436)).toBe('43–44\u00a0%');
    expect(range([0.14, 0.28], share, 0.2)).toBe('14–28\u00a0%');
    expect(range([3.1, 3.3], rate, 3.4)).toBe('3.10–3.40/s');
  });

  test('call an operator by address and token, without the port', () => {
    expect(['127.0.0.1:41730', '127.0.0.1:41730 (ops)', '[::1]:99 (a:1)', 'SIGHUP'].map(operatorOf)).toEqual([
      '127.0.0.1',
      '127.0.0.1 (ops)',
      '[::1] (a:1)',
      'SIGHUP',
    ]);
  });

  test('say what the door does, and where refusals come from', () => {
    const now = { ...lately([world.overload(1, 2)], 'basic', 1), offered: 100, refused: 38 };
    const open = { new: 1, existing: 1, sessions: true };
    expect(doorWords(open, now, [['deadline', 38]])).toBe(
      'The door lets in all new sessions; 38\u00a0% are refused later: waited too long (deadline) 38.0/s.',
    );
    const closing = doorWords({ ...open, new: 0.4 }, now, [['__proto__', 38]]);
    expect(closing).toContain(
      'lets in 40\u00a0% of new sessions and 100\u00a0% of sessions that are under way',
    );
    expect(closing).toContain('38\u00a0% are refused: __proto__ 38.0/s');
    expect(doorWords(open, now, null)).toContain('the reasons are not known yet');
    expect(doorWords(open, { ...now, refused: 0 }, [])).toContain('none is refused');
  });

  test('count who waits by class and stage', () => {
    const state = world.state(NAMES, 1);
    expect(summary(state, new Map([['basic', 4.1]]))).toBe(
      'basic 22, 14 in the class queue, 8 held back (discard); longest 4.1\u00a0s. class not known yet: pending 3.',
    );
    const [premium, basic] = state.classes;
    const queues = { acceptor: 0, pending: 0, discard: 0, class: 14 };
    const only = { ...state, queues, classes: premium && basic ? [premium, { ...basic, held_back: 0 }] : [] };
    expect(summary(only, new Map())).toBe('basic 14, all in the class queue.');
    expect(summary({ ...only, classes: [] }, new Map())).toBe('Nobody waits.');
  });
});

test('what is offered counts what is refused before its class is known', () => {
  const one = world.sample(1, [world.classSample(10, 10), world.classSample(20, 10)]);
  const { offered, capacity } = pressed([
    { ...one, unclassified: 5 },
    { ...one, capacity: null },
  ]);
  expect([offered, capacity]).toEqual([32.5, 65]);
});

test('each class has one look in all charts, and no other line has it', () => {
  const seen = new Map<string, Set<number>>();
  for (const { plans } of groups(NAMES)) {
    for (const { title, lines } of plans) {
      for (const { name, subject } of lines) {
        const whose = NAMES.includes(name)
          ? name
          : NAMES.includes(title) && name === 'Served'
            ? title
            : 'others';
        seen.set(whose, (seen.get(whose) ?? new Set()).add(subject));
      }
    }
  }
  const [premium, basic, others] = ['premium', 'basic', 'others'].map((name) => [...(seen.get(name) ?? [])]);
  expect([premium?.length, basic?.length]).toEqual([1, 1]);
  expect(premium).not.toEqual(basic);
  expect(others?.filter((subject) => [...(premium ?? []), ...(basic ?? [])].includes(subject))).toEqual([]);
});

test('names of marks do not lie over one another, also at the edge', () => {
  expect(spread([10, 12, 50], 13, 100)).toEqual([10, 23, 50]);
  expect(spread([98, 99], 13, 100)).toEqual([87, 100]);
  expect(spread([5, 5], 13, 100)).toEqual([5, 18]);
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
