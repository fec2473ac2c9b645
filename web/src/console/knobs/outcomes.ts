import { isAbort, why } from '../client.ts';
import type { Gate } from '../gate.ts';
import type { Knobs, Outcome } from '../schemas.ts';
import type { Store } from '../store.ts';
import {
  begun,
  found,
  isTooSoon,
  lastBefore,
  place,
  REMEMBERED,
  SETTLING,
  steadyFrom,
  type Applied,
  type Told,
} from './applied.ts';
import { same } from './draft.ts';
import { minus, withPercentiles } from './figures.ts';

/** How often it is asked what came of the last minutes, and of a change that was just made, s. It costs the gate some milliseconds. */
const EVERY = 20;
const EVERY_AFTER = 5;
/** A change is new for so long, s. */
const NEW = 180;
/** From less than this nothing is measured, s. */
const LEAST = 1;
/** Times are told and answered in milliseconds, s. */
const ROUNDING = 0.01;

/** An answer, and when it was asked for. */
interface Asked {
  outcome: Outcome;
  at: number;
}

/** What came of sessions lately, and since a change. */
export class Outcomes {
  applied: Applied | null = null;
  since: Outcome | null = null;
  /** Why the last question was not answered. */
  problem: string | null = null;
  private last: Asked | null = null;
  /** What was measured last before the change; it has the percentiles that cannot be told apart afterwards. */
  private seen: Outcome | null = null;
  private asked = -Infinity;
  private isAsking = false;
  private started: number | undefined;
  /** Changes that were made until then are not looked up any more. */
  private closed = -Infinity;

  constructor(
    private readonly gate: Pick<Gate, 'outcome'>,
    private readonly store: Store,
  ) {}

  /** What was measured last; nothing of before the last change is in it. */
  get lately(): Outcome | null {
    const { last, steady } = this;
    return last && last.outcome.from >= steady + SETTLING - ROUNDING ? last.outcome : null;
  }

  /** How far that reaches back from when it was asked for, s. */
  get window(): number {
    return this.last ? this.last.at - this.last.outcome.from : 0;
  }

  /** Whether too little time has passed since the last change to measure anything. */
  get isSettling(): boolean {
    return this.store.now - this.steady < SETTLING + LEAST;
  }

  begin(old: Knobs, now: Knobs, told: Told | null): void {
    this.hold({ ...begun(this.store.now, old, now), told });
  }

  close(): void {
    this.applied = null;
    this.since = null;
    this.closed = this.store.now;
  }

  /** It was undone: what was measured of it stays. */
  undone(): void {
    if (this.applied?.until === null) this.end(this.applied, 'Undone');
  }

  /** What others have done since is not the change's doing. */
  follow(): void {
    this.find();
    const { applied, store } = this;
    if (!applied || !store.state) return;
    place(applied, store.changes);
    if (applied.until !== null) return;
    const isRestarted = this.started !== store.state.started;
    if (isRestarted) {
      this.end(applied, 'The gate was restarted');
      applied.isFinal = true;
    } else if (!same(store.state.knobs, applied.new)) {
      this.end(applied, 'The knobs were moved again');
    }
    applied.inShadow ||= store.isShadow;
  }

  /** Asks now and then; called while the page is looked at. */
  async keep(): Promise<void> {
    const { store, applied } = this;
    const now = performance.now() / 1000;
    const isNew = applied?.isFinal === false && store.now - (applied.until ?? applied.at) < NEW;
    const isDue = now - this.asked >= (isNew ? EVERY_AFTER : EVERY);
    if (this.isAsking || !isDue || store.connection.kind !== 'live' || !store.state?.foresight) return;
    this.asked = now;
    this.isAsking = true;
    try {
      await this.look();
      if (applied) await this.measure(applied);
      this.problem = null;
    } catch (error) {
      // What is shown stays.
      if (!isAbort(error)) this.problem = why(error);
    } finally {
      this.isAsking = false;
    }
    store.changed();
  }

  /** Since when nothing has been changed that decides over sessions, as far as is known. */
  private get steady(): number {
    const { applied, store } = this;
    return Math.max(lastBefore(store.changes, Infinity), applied?.until ?? applied?.at ?? -Infinity);
  }

  private async look(): Promise<void> {
    const { now } = this.store;
    const since = steadyFrom(now, this.steady);
    if (now - since < LEAST) return;
    this.last = { outcome: await this.gate.outcome(since), at: now };
  }

  /**
   * What was before is what came since long before less what came since. The first sessions after a change still meet
   * what was before it, and count as neither.
   */
  private async measure(applied: Applied): Promise<void> {
    const { gate, store } = this;
    const { at, from, until } = applied;
    const isKnown = store.now - at < REMEMBERED;
    if (applied.isFinal || (until !== null && !isKnown)) return;
    const isAsked = isKnown && !applied.isSettled && !isTooSoon(applied);
    const rest = isAsked ? await gate.outcome(at) : null;
    const all = isAsked ? await gate.outcome(from) : null;
    const begin = at + SETTLING;
    const since = (until ?? store.now) - begin < LEAST ? null : await gate.outcome(begin);
    const after = until === null ? null : await gate.outcome(until);
    if (applied !== this.applied) return;
    // It may have come to an end, or be placed elsewhere, while the answers were awaited.
    if (applied.until !== until || applied.at !== at) {
      this.asked = -Infinity;
      return;
    }
    const before = all && rest && minus(all, rest);
    if (before) applied.before = withPercentiles(before, this.seen);
    applied.isSettled ||= rest !== null && isPast(rest);
    const whole = since && after && minus(since, after);
    if (!after) this.since = since;
    else if (whole) this.since = withPercentiles(whole, this.since);
    if (after) applied.isFinal = isPast(after);
  }

  private hold(applied: Applied): void {
    const { last, store } = this;
    place(applied, store.changes);
    const isBefore = last !== null && last.at < applied.at && applied.at - last.at < NEW;
    const steady = lastBefore(store.changes, applied.at) + SETTLING - ROUNDING;
    this.seen = isBefore && last.outcome.from >= steady ? last.outcome : null;
    this.applied = applied;
    this.since = null;
    this.started = store.state?.started;
    this.asked = -Infinity;
    applied.inShadow = store.isShadow;
  }

  private end(applied: Applied, ended: string): void {
    applied.until = this.store.now;
    applied.ended = ended;
    this.asked = -Infinity;
    place(applied, this.store.changes);
  }

  /** The last change of the knobs, on whatever page it was made; what was set on this one stays until it is closed. */
  private find(): void {
    const { applied, store } = this;
    if (!store.state?.foresight || store.changesOf !== store.state.started) return;
    if (applied?.who === null) return;
    const other = found(store.changes, store.now, this.closed);
    if (!other || other.at === applied?.at) return;
    // A state that was asked for earlier than the list of changes does not have it yet.
    if (same(store.state.knobs, other.until === null ? other.new : other.old)) this.hold(other);
  }
}

/** Whether all sessions that began before it have ended: those that began after it are known. */
function isPast({ from, to }: Outcome): boolean {
  return to > from;
}
