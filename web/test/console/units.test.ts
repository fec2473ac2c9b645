import { describe, expect, test } from 'vitest';
import { measuredRate, measuredShare } from '../../src/console/knobs/compare.ts';
import { Draft, questions } from '../../src/console/knobs/draft.ts';
import { MOST_SAMPLES, Samples } from '../../src/console/samples.ts';
import { sentence } from '../../src/console/sentence.ts';
import { Store } from '../../src/console/store.ts';
import { messages, type Message } from '../../src/console/stream.ts';
import { about, brief, range, rate, share } from '../../src/console/words.ts';
import * as world from './world.ts';

const NAMES = ['premium', 'basic'];

function filled(make: typeof world.overload, names = NAMES): Samples {
  const samples = new Samples();
  const list = Array.from({ length: 30 }, (_one, i) => make(1000 + i, names.length));
  samples.load({ clock: 1030, started: 1, classes: names, samples: list });
  return samples;
}

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
      data: { total: 5, classes: { basic: { admission: 3, deadline: 2 }, premium: { deadline: 0 } } },
    });
    for (let i = 0; i < 1000; i += 1) store.happened('raised', { rule: i });
    expect(store.happenings).toHaveLength(200);
    expect(store.happenings[0]?.data).toEqual({ rule: 999 });
  });
});

describe('the sentence', () => {
  const state = world.state(NAMES, 1);

  test('says first who is refused', () => {
    const { severity, words } = sentence(state, filled(world.overload));
    expect(severity).toBe('warning');
    expect(words).toMatch(
      /^basic: \d\d\u00a0% of requests are refused, premium: all served, 95\u00a0% within \d+\u00a0ms\.$/,
    );
  });

  test('says that nobody waits', () => {
    const { severity, words } = sentence(state, filled(world.quiet));
    expect([severity, words]).toEqual([
      'calm',
      'Nobody waits: all that was asked is served, 95\u00a0% within 120\u00a0ms.',
    ]);
  });

  test('says what would be, in shadow mode', () => {
    const { severity, words } = sentence({ ...state, mode: 'shadow' }, filled(world.overload));
    expect(severity).toBe('notice');
    expect(words).toMatch(/^Shadow mode: basic: \d\d\u00a0% of requests would be refused/);
  });

  test('is an alarm when the first class is refused, or no server is up', () => {
    const swapped = filled((at) => {
      const sample = world.overload(at, 2);
      return { ...sample, classes: sample.classes.toReversed() };
    });
    expect(sentence(state, swapped).severity).toBe('alarm');
    const servers = state.upstream.servers.map((one) => ({ ...one, standing: 'ill' }));
    const down = sentence({ ...state, upstream: { ...state.upstream, servers } }, filled(world.quiet));
    expect([down.severity, down.words.startsWith('No server is up.')]).toEqual(['alarm', true]);
  });

  test('means the same while its figures change', () => {
    const meanings = new Set<string>();
    for (const more of [0, 3, 6]) {
      const samples = filled((at) =>
        world.sample(at, [world.classSample(20, 20), world.classSample(70 + more, 41)]),
      );
      meanings.add(sentence(state, samples).meaning);
    }
    expect(meanings.size).toBe(1);
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
      const { value, ends } = measuredRate(2, seconds);
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
