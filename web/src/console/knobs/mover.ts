import { h } from '../../dom.ts';
import { Refused } from '../client.ts';
import type { Dialogs } from '../dialog.ts';
import type { Gate } from '../gate.ts';
import type { Knobs } from '../schemas.ts';
import type { Store } from '../store.ts';
import { operatorOf } from '../words.ts';
import { same } from './draft.ts';
import { values } from './words.ts';

/** Moves the knobs, from only one place at a time and only from where the operator has seen them. */
export class Mover {
  /** Whether an order is under way. */
  isBusy = false;
  /** What this page sets or has set last: a change to it is not somebody else's. */
  private own: Knobs | null = null;

  constructor(
    private readonly gate: Gate,
    private readonly store: Store,
    private readonly dialogs: Dialogs,
    private readonly refresh: () => Promise<void>,
  ) {}

  /**
   * What the knobs were and are. Where they are not as `expected`, says who has set them and asks again;
   * `null` if that was declined, or another order is under way.
   */
  async move(expected: Knobs, to: Knobs): Promise<{ old: Knobs; new: Knobs } | null> {
    if (this.isBusy) return null;
    this.isBusy = true;
    const before = this.own;
    try {
      for (let old = expected; ;) {
        const shown = await this.tried(old, to);
        if (shown) return { old, new: shown };
        this.own = before;
        await this.refresh();
        old = this.store.state?.knobs ?? old;
        if (!(await this.insists(old, to))) return null;
      }
    } catch (error) {
      this.own = before;
      throw error;
    } finally {
      this.isBusy = false;
      this.store.changed();
    }
  }

  /** The knobs as they are now; `null` where they were not as `expected`. */
  private async tried(expected: Knobs, to: Knobs): Promise<Knobs | null> {
    this.own = to;
    this.store.changed();
    try {
      const shown = await this.gate.moveKnobs(to, expected);
      this.own = shown;
      this.store.takeKnobs(shown);
      return shown;
    } catch (error) {
      if (error instanceof Refused && error.status === 409) return null;
      throw error;
    }
  }

  isOwn(knobs: Knobs): boolean {
    return this.own !== null && same(this.own, knobs);
  }

  /** Somebody else has set them since. */
  disown(): void {
    if (!this.isBusy) this.own = null;
  }

  /** Who has set the knobs to this, as far as the list of changes tells. */
  whoSet(knobs: Knobs): string {
    const change = this.store.changes.find(({ event }) => event === 'knobs' || event === 'reload');
    if (change?.event === 'reload') return `${operatorOf(change.who)}, by reading the configuration again,`;
    return change && same(change.new as Knobs, knobs) ? operatorOf(change.who) : 'Somebody else';
  }

  private insists(now: Knobs, wanted: Knobs): Promise<boolean> {
    return this.dialogs.confirm({
      title: `Somebody else has moved a knob of ${this.store.host}`,
      body: [
        h('p', {}, `${this.whoSet(now)} has set ${values(now)} since you looked.`),
        h('p', {}, `Yours: ${values(wanted)}.`),
      ],
      action: 'Apply mine all the same',
    });
  }
}
