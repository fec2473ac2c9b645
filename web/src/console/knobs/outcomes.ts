import { isAbort, why } from '../client.ts';
import type { Gate } from '../gate.ts';
import type { Change, Knobs, Outcome, Point } from '../schemas.ts';
import type { Store } from '../store.ts';
import { same } from './draft.ts';
import { minus } from './figures.ts';

/** How often it is asked what came of the last minutes, and of a change that was just made, s. It costs the gate some milliseconds. */
const EVERY = 20;
const EVERY_AFTER = 5;
/** A change is new for so long, s. */
const NEW = 180;
export const LATELY = 180;
/** The gate remembers requests for so long: what came of earlier changes cannot be had any more, s. */
const REMEMBERED = 540;

/** What was applied, what was before, and what had been said of it. */
export interface Applied {
  at: number;
  old: Knobs;
  new: Knobs;
  /** Who did it, where it was found in the list of changes. */
  who: string | null;
  /** What was predicted for it. */
  point: Point | null;
  /** What had been measured until then. */
  before: Outcome | null;
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
  /** Whether the list of changes has been looked through for one that was made before the page was loaded. */
  private isRestored = false;

  constructor(
    private readonly gate: Pick<Gate, 'outcome'>,
    private readonly store: Store,
  ) {}

  begin(old: Knobs, now: Knobs, point: Point | null): void {
    const { store } = this;
    const what = { at: store.now, old, new: now, point, before: this.lately };
    this.hold({ ...what, who: null, until: null, ended: '', inShadow: store.isShadow });
  }

  close(): void {
    this.applied = null;
    this.since = null;
  }

  /** It was undone: what was measured of it stays. */
  undone(): void {
    if (this.applied?.until === null) Object.assign(this.applied, { until: this.store.now, ended: 'Undone' });
  }

  /** What others have done since is not the change's doing. */
  follow(): void {
    this.restore();
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
    const { store, applied } = this;
    const now = performance.now() / 1000;
    const isNew = applied?.until === null && store.now - applied.at < NEW;
    const isDue = now - this.asked >= (isNew ? EVERY_AFTER : EVERY);
    if (this.isAsking || !isDue || store.connection.kind !== 'live' || !store.state?.foresight) return;
    this.asked = now;
    this.isAsking = true;
    try {
      this.lately = await this.gate.outcome(store.now - LATELY);
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

  private async measure(applied: Applied): Promise<void> {
    const { gate } = this;
    const found = applied.who !== null;
    // Of a change that was found in the list, what was before is what came since long before less what came since.
    const isBefore = found && applied.before === null;
    if (applied.until !== null && !(found && this.since === null)) return;
    const since = await gate.outcome(applied.at);
    const all = isBefore ? await gate.outcome(applied.at - LATELY) : null;
    const after = found && applied.until !== null ? await gate.outcome(applied.until) : null;
    if (applied !== this.applied || (!found && isOver(applied))) return;
    if (all) applied.before = minus(all, since);
    this.since = after ? minus(since, after) : since;
  }

  private hold(applied: Applied): void {
    this.applied = applied;
    this.since = null;
    this.started = this.store.state?.started;
    this.asked = -Infinity;
    this.isRestored = true;
  }

  /** The last change of the knobs before the page was loaded, also where it has been undone. */
  private restore(): void {
    const { store } = this;
    if (this.isRestored || !store.state?.foresight || store.changesOf !== store.state.started) return;
    this.isRestored = true;
    const [last, before] = store.changes.filter(({ event }) => event === 'knobs' || event === 'reload');
    if (last?.event !== 'knobs' || store.now - last.at > REMEMBERED) return;
    const isUndo = before?.event === 'knobs' && reverses(before, last) && store.now - before.at < REMEMBERED;
    const change = isUndo ? before : last;
    this.hold({
      at: change.at,
      old: change.old as Knobs,
      new: change.new as Knobs,
      who: change.who,
      point: null,
      before: null,
      until: isUndo ? last.at : null,
      ended: isUndo ? 'Undone' : '',
      inShadow: store.isShadow,
    });
  }
}

function reverses(change: Change, undo: Change): boolean {
  return same(change.old as Knobs, undo.new as Knobs) && same(change.new as Knobs, undo.old as Knobs);
}

/** Looked at again: it may have come to an end while an answer was awaited. */
function isOver({ until }: Applied): boolean {
  return until !== null;
}
