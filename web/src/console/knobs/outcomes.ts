import { isAbort, why } from '../client.ts';
import type { Gate } from '../gate.ts';
import type { Knobs, Outcome, Point } from '../schemas.ts';
import type { Store } from '../store.ts';
import { same } from './draft.ts';

/** How often it is asked what came of the last minutes, and of a change that was just made, s. It costs the gate some milliseconds. */
const EVERY = 20;
const EVERY_AFTER = 5;
/** A change is new for so long, s. */
const NEW = 180;
const LATELY = 180;

/** What was applied, and what had been said of it. */
export interface Applied {
  at: number;
  old: Knobs;
  new: Knobs;
  point: Point | null;
  /** When it came to an end, and why; `null` while it holds. */
  until: number | null;
  ended: string;
  /** Whether the gate was in shadow mode at some time since. */
  inShadow: boolean;
}

/** What came of sessions lately, and since a change. */
export class Outcomes {
  lately: Outcome | null = null;
  applied: Applied | null = null;
  since: Outcome | null = null;
  /** Why the last question was not answered. */
  problem: string | null = null;
  private asked = -Infinity;
  private isAsking = false;
  private started: number | undefined;

  constructor(
    private readonly gate: Pick<Gate, 'outcome'>,
    private readonly store: Store,
  ) {}

  begin(old: Knobs, now: Knobs, point: Point | null): void {
    const { store } = this;
    this.applied = { at: store.now, old, new: now, point, until: null, ended: '', inShadow: store.isShadow };
    this.since = null;
    this.started = store.state?.started;
    this.asked = -Infinity;
  }

  close(): void {
    this.applied = null;
    this.since = null;
  }

  /** What others have done since is not the change's doing. */
  follow(): void {
    const { applied, store } = this;
    if (applied?.until !== null || !store.state) return;
    const isRestarted = this.started !== store.state.started;
    if (isRestarted || !same(store.state.knobs, applied.new)) {
      applied.until = store.now;
      applied.ended = isRestarted ? 'The gate was restarted' : 'The knobs were moved again';
    }
    applied.inShadow ||= store.isShadow;
  }

  /** Asks now and then; called while the page is looked at. */
  async keep(): Promise<void> {
    const { gate, store, applied } = this;
    const now = performance.now() / 1000;
    const isNew = applied?.until === null && store.now - applied.at < NEW;
    const isDue = now - this.asked >= (isNew ? EVERY_AFTER : EVERY);
    if (this.isAsking || !isDue || store.connection.kind !== 'live' || !store.state?.foresight) return;
    this.asked = now;
    this.isAsking = true;
    try {
      this.lately = await gate.outcome(store.now - LATELY);
      if (applied?.until === null) {
        const since = await gate.outcome(applied.at);
        if (applied === this.applied && holds(applied)) this.since = since;
      }
      this.problem = null;
    } catch (error) {
      // What is shown stays.
      if (!isAbort(error)) this.problem = why(error);
    } finally {
      this.isAsking = false;
    }
    store.changed();
  }
}

/** Looked at again: it may have come to an end while an answer was awaited. */
function holds({ until }: Applied): boolean {
  return until === null;
}
