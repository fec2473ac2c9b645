import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { isTooSoon } from '../../src/console/knobs/applied.ts';
import { measuredSide, minus, sessionsOf, type Side } from '../../src/console/knobs/figures.ts';
import { Outcomes as Asked } from '../../src/console/knobs/outcomes.ts';
import { capacityWords, sureness, verdicts } from '../../src/console/knobs/verdict.ts';
import { Samples } from '../../src/console/samples.ts';
import type { Change, Knobs, Outcome, Outcomes } from '../../src/console/schemas.ts';
import { Store } from '../../src/console/store.ts';
import * as world from './world.ts';

const NAMES = ['premium', 'basic'];

const knobs = (differentiation: number, favour: number): Knobs => ({ differentiation, favour });

describe('what a change did', () => {
  const of = (sessions: number, completion: number, p95 = 0.1, from = 0, to = 100): Outcome => ({
    from,
    to,
    classes: [
      {
        name: 'basic',
        starts: sessions / 100,
        completed: (sessions * completion) / (to - from),
        completion,
        sessions,
        p50: 0.1,
        p95,
      },
    ],
  });
  const said = (before: Outcome, since: Outcome, predicted: Side | null = null): string =>
    verdicts(['basic'], measuredSide(before), predicted, measuredSide(since)).join(' ');

  test('is judged against what was before, once enough sessions have ended', () => {
    expect(said(of(900, 0.4), of(20, 0.9))).toBe('basic: too few sessions yet.');
    expect(said(of(900, 0.4), of(900, 0.6))).toBe('basic: better than before.');
    expect(said(of(900, 0.6), of(900, 0.4))).toBe('basic: worse than before.');
    expect(said(of(900, 0.4), of(900, 0.41))).toBe('basic: no noticeable difference against before.');
    expect(said(of(900, 0.4, 0.1), of(900, 0.6, 0.9))).toContain(
      'more sessions completed than before, but slower',
    );
    expect(said(of(900, 0.4, 0.9), of(900, 0.2, 0.1))).toContain(
      'faster than before, but fewer sessions completed',
    );
    expect(sureness(of(900, 0.4))).toContain(': enough sessions to judge.');
    expect(sureness(of(20, 0.4))).toContain(': too few sessions yet.');
  });

  test('is judged against the prediction', () => {
    const only = (completion: number): Side => ({
      total: null,
      classes: new Map([
        [
          'basic',
          {
            completed: null,
            completion: { value: completion, ends: [completion - 0.03, completion + 0.03] },
            p95: null,
            sessions: null,
          },
        ],
      ]),
    });
    expect(said(of(900, 0.4), of(900, 0.4), only(0.5))).toContain(
      'not as predicted (a smaller share completed)',
    );
    expect(said(of(900, 0.4), of(900, 0.41), only(0.4))).toContain('within what was predicted');
    expect(said(of(900, 0.4), of(40, 0.45), only(0.4))).toContain('does not contradict the prediction');
  });

  test('is as predicted where the difference is slight, however sure both are', () => {
    const only = (completion: [number, number], p95: [number, number]): Side => ({
      total: null,
      classes: new Map([
        [
          'basic',
          {
            completed: null,
            completion: { value: completion[1], ends: completion },
            p95: { value: (p95[0] + p95[1]) / 2, ends: p95 },
            sessions: null,
          },
        ],
      ]),
    });
    const all = only([0.9999, 1], [0.09, 0.11]);
    expect(said(of(9000, 1), of(9000, 0.9965), all)).toContain('within what was predicted');
    expect(said(of(9000, 1), of(9000, 0.98), all)).toContain('not as predicted (a smaller share completed)');
    // A percentile is missed from a fifth beyond its interval on.
    expect(said(of(9000, 1), of(9000, 1, 0.131), all)).toContain('within what was predicted');
    expect(said(of(9000, 1), of(9000, 1, 0.133), all)).toContain('not as predicted (slower)');
    expect(said(of(9000, 1), of(9000, 1, 0.071), all)).toContain('not as predicted (faster)');
  });

  test('has a verdict on the sum', () => {
    const both = (premium: number, basic: number): Outcome => {
      const [first, second] = [of(9000, premium), of(9000, basic)];
      return {
        ...first,
        classes: [{ ...first.classes[0], name: 'premium' }, ...second.classes] as Outcomes[],
      };
    };
    const sum = (before: Outcome, since: Outcome, total: number): string | undefined => {
      const predicted: Side = { classes: new Map(), total: { value: total, ends: null } };
      return verdicts(NAMES, measuredSide(before), predicted, measuredSide(since)).at(-1);
    };
    expect(sum(both(1, 0.4), both(1, 0.6), 144)).toBe(
      'Together: more sessions completed per second than before; within what was predicted.',
    );
    expect(sum(both(1, 0.6), both(1, 0.4), 250)).toBe(
      'Together: fewer sessions completed per second than before; not as predicted (fewer completed per second).',
    );
    expect(sum(both(1, 0.4), both(1, 0.41), 126)).toContain('no noticeable difference against before');
  });

  test('is counted apart from what was before', () => {
    const before = minus(of(400, 0.5, 0.1, 0, 100), of(100, 0.8, 0.1, 60, 100));
    expect(before).toMatchObject({ from: 0, to: 60 });
    expect(before?.classes[0]).toMatchObject({ sessions: 300, completed: 2, completion: 0.4, p95: null });
    expect(minus(of(9, 1, 1, 60, 100), of(9, 1, 1, 60, 100))).toBeNull();
    expect(sessionsOf(of(900, 0.4))).toBe(900);
  });

  test('is partly the doing of a server that has become another one', () => {
    const samples = new Samples();
    const of = (at: number, capacity: number) => ({ ...world.quiet(at, 1), capacity });
    for (let at = 1; at <= 200; at += 1) samples.add(of(at, at <= 100 ? 400 : 320));
    expect(capacityWords(samples, 0, 100, 200)).toBe(
      "The server's capacity went from 400/s to 320/s meanwhile, so part of it is not the knobs' doing.",
    );
    expect(capacityWords(samples, 0, 50, 100)).toBe('');
    expect(capacityWords(samples, 200, 250, 300)).toBe('');
  });

  test('is found again in the list of changes, also where it was undone', async () => {
    const look = async (undone: boolean) => {
      const store = new Store();
      store.takeState(
        { ...world.state(NAMES, 1), knobs: undone ? knobs(0.9, 0.5) : knobs(0.5, 0.5) },
        store.ask(),
      );
      const done = {
        ...world.change(1, 'knobs', 'knobs', knobs(0.9, 0.5), knobs(0.5, 0.5)),
        at: store.now - 100,
      };
      const undo = {
        ...world.change(2, 'knobs', 'knobs', knobs(0.5, 0.5), knobs(0.9, 0.5)),
        at: store.now - 40,
      };
      store.takeChanges(undone ? [undo, done] : [done], store.ask());
      store.connect({ kind: 'live', polling: null });
      const outcome = vi.fn((since: number) => Promise.resolve(world.outcome(since, NAMES)));
      const outcomes = new Asked({ outcome }, store);
      outcomes.follow();
      await outcomes.keep();
      return { applied: outcomes.applied, since: outcomes.since, at: done.at, undoneAt: undo.at };
    };
    const still = await look(false);
    expect(still.applied).toMatchObject({ at: still.at, until: null, new: knobs(0.5, 0.5) });
    // The first ten seconds are not counted.
    expect(still.since?.from).toBeCloseTo(still.at + 10, 1);
    expect(still.applied?.before?.to).toBeCloseTo(still.at, 1);
    const undone = await look(true);
    expect(undone.applied).toMatchObject({ at: undone.at, until: undone.undoneAt, ended: 'Undone' });
    expect(undone.since?.to).toBeCloseTo(undone.undoneAt, 1);
  });
});

describe('what was before a change', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A gate of which ten sessions a second begin, and complete by the share that holds when they begin. */
  class Site {
    private readonly changes: Change[] = [];
    private at = knobs(0, 0);
    private readonly shares = [{ from: -Infinity, share: 0.4 }];
    private readonly pages: { store: Store; outcomes: Asked }[] = [];

    get now(): number {
      return Date.now() / 1000;
    }

    private completed(from: number, to: number): number {
      return this.shares.reduce((sum, { from: begin, share }, i) => {
        const end = this.shares[i + 1]?.from ?? Infinity;
        return sum + 10 * share * Math.max(0, Math.min(to, end) - Math.max(from, begin));
      }, 0);
    }

    private outcome(since: number): Outcome {
      const to = this.now;
      const from = Math.min(since, to);
      const sessions = 10 * (to - from);
      const completed = this.completed(from, to);
      const rates = { starts: 10, completed: to > from ? completed / (to - from) : 0, p50: 0.1, p95: 0.1 };
      const completion = sessions > 0 ? completed / sessions : null;
      return { from, to, classes: NAMES.map((name) => ({ name, sessions, completion, ...rates })) };
    }

    open(): Asked {
      const store = new Store();
      const outcomes = new Asked({ outcome: (since) => Promise.resolve(this.outcome(since)) }, store);
      store.connect({ kind: 'live', polling: null });
      this.pages.push({ store, outcomes });
      return outcomes;
    }

    /** On one of the pages, or elsewhere. */
    move(to: Knobs, share: number, by?: Asked): void {
      const old = this.at;
      this.at = to;
      this.shares.push({ from: this.now, share });
      const change = world.change(this.changes.length + 1, 'knobs', 'knobs', old, to);
      this.changes.unshift({ ...change, at: this.now });
      // It is told a little later.
      vi.setSystemTime(Date.now() + 40);
      by?.begin(old, to, null);
    }

    async pass(seconds: number): Promise<void> {
      for (let i = 0; i < seconds; i += 1) {
        await vi.advanceTimersByTimeAsync(1000);
        for (const { store, outcomes } of this.pages) {
          store.takeChanges([...this.changes], store.ask());
          store.takeState({ ...world.state(NAMES, 1), knobs: this.at }, store.ask());
          store.takeChanges([...this.changes], store.ask());
          outcomes.follow();
          await outcomes.keep();
        }
      }
    }
  }

  const before = ({ applied }: Asked) => {
    const outcome = applied?.before;
    const [, basic] = outcome?.classes ?? [];
    return {
      at: applied?.at,
      from: outcome?.from,
      to: outcome?.to,
      sessions: basic && Math.round(basic.sessions),
      completion: basic?.completion && Number(basic.completion.toFixed(6)),
    };
  };

  test('reaches back to the last change before it, on all pages alike', async () => {
    const site = new Site();
    const [own, other] = [site.open(), site.open()];
    await site.pass(200);
    site.move(knobs(1, 0), 1, own);
    const first = site.now - 0.04;
    await site.pass(108);
    site.move(knobs(1, 1), 1, own);
    const second = site.now - 0.04;
    await site.pass(30);
    const late = site.open();
    await site.pass(1);
    expect(own.applied?.at).toBeCloseTo(second, 6);
    expect(before(own).from).toBeCloseTo(first + 10, 6);
    expect(before(own).completion).toBe(1);
    expect([before(other), before(late)]).toEqual([before(own), before(own)]);
    expect([own, other, late].map(({ applied }) => applied?.who === null)).toEqual([true, false, false]);
    // Only a page that was open then knows how long responses took.
    expect([own, other, late].map(({ applied }) => applied?.before?.classes[1]?.p95)).toEqual([
      0.1,
      0.1,
      null,
    ]);
  });

  test('is not said where too little time has passed since the change before it', async () => {
    const site = new Site();
    const own = site.open();
    await site.pass(60);
    site.move(knobs(1, 0), 1, own);
    await site.pass(28);
    site.move(knobs(1, 1), 0.5, own);
    await site.pass(20);
    const late = site.open();
    await site.pass(1);
    for (const { applied } of [own, late]) {
      expect([applied?.new, applied?.before]).toEqual([knobs(1, 1), null]);
      expect(applied && isTooSoon(applied)).toBe(true);
    }
  });

  test('is not in what is measured lately either', async () => {
    const site = new Site();
    const own = site.open();
    await site.pass(200);
    expect(own.lately?.classes[1]?.completion).toBeCloseTo(0.4);
    expect(own.window).toBeCloseTo(180);
    site.move(knobs(1, 0), 1);
    await site.pass(3);
    expect([own.lately, own.isSettling]).toEqual([null, true]);
    await site.pass(102);
    expect(own.lately?.classes[1]?.completion).toBe(1);
    expect(own.window).toBeGreaterThan(85);
    expect(own.window).toBeLessThan(96);
  });

  test('and what came of it until it was undone, are alike on a page that was loaded since', async () => {
    const site = new Site();
    const own = site.open();
    await site.pass(200);
    site.move(knobs(1, 0), 0.8, own);
    await site.pass(60);
    site.move(knobs(0, 0), 0.4);
    await site.pass(20);
    const late = site.open();
    await site.pass(1);
    expect(before(late)).toEqual(before(own));
    for (const { applied, since } of [own, late]) {
      expect([applied?.ended, applied?.isFinal]).toEqual(['Undone', true]);
      expect(since && sessionsOf(since)).toBeCloseTo(1000.8, 4);
      expect(since?.classes[1]?.completion).toBeCloseTo(0.8);
    }
  });
});
