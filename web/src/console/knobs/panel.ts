import { h } from '../../dom.ts';
import { why } from '../client.ts';
import { allow, button, Notice, section, setText } from '../elements.ts';
import type { Desk, Part } from '../part.ts';
import type { Knobs, Outcome } from '../schemas.ts';
import { count, duration } from '../words.ts';
import { Comparison } from './compare.ts';
import { Curves } from './curves.ts';
import { Draft, same } from './draft.ts';
import { Did, values, type Applied } from './outcome.ts';
import { pointAt, Predictor, type Known } from './prediction.ts';
import { Sliders } from './sliders.ts';

/** How often it is asked what came of the last minutes, and of a change that was just made, s. It costs the gate some milliseconds. */
const OUTCOME_EVERY = 20;
const OUTCOME_AFTER = 5;
/** A change is new for so long, s. */
const NEW = 180;
const LATELY = 180;

/** The two knobs: what the simulator says of a position before it is applied, and what became of it. */
export class KnobsPanel implements Part {
  readonly root: HTMLElement;
  private readonly draft = new Draft();
  private readonly predictor: Predictor;
  private readonly sliders: Sliders;
  private readonly curves = new Curves();
  private readonly did: Did;
  private readonly notice = new Notice();
  private readonly words = h('p', { class: 'hint', id: 'prediction', role: 'status' });
  private readonly remarks = h('ul', { class: 'remarks' });
  private readonly table = new Comparison('Sessions by class');
  private readonly apply = button('Apply', () => void this.applyDraft(), { class: 'button primary' });
  private readonly discard = button('Discard', () => {
    this.drop();
  });
  private lately: Outcome | null = null;
  private applied: Applied | null = null;
  private since: Outcome | null = null;
  private asked = -Infinity;
  private drawn = '';
  /** What this page is about to set: a change to it is not somebody else's. */
  private own: Knobs | null = null;

  constructor(private readonly desk: Desk) {
    this.predictor = new Predictor(desk.gate, () => {
      desk.store.changed();
    });
    this.sliders = new Sliders(this.draft, () => {
      this.moved();
    });
    this.did = new Did(
      () => void this.undo(),
      () => {
        this.applied = null;
        desk.store.changed();
      },
    );
    this.root = section(
      'knobs',
      'Knobs',
      h(
        'div',
        { class: 'knobs' },
        h(
          'div',
          { class: 'knobs-side' },
          this.sliders.root,
          h('div', { class: 'actions' }, this.apply, this.discard),
          this.notice.root,
          this.did.root,
        ),
        h('div', { class: 'knobs-main' }, this.words, this.table.root, this.remarks, this.curves.root),
      ),
    );
  }

  render(): void {
    const { store } = this.desk;
    const { draft } = this;
    if (store.state) this.follow(store.state.knobs);
    this.sliders.render(store);
    const moved = draft.isMoved;
    allow(this.apply, store, moved);
    this.discard.disabled = !moved;
    if (moved && this.predictor.now.kind === 'none' && store.state?.foresight) this.predictor.ask(draft);
    if (!moved && this.predictor.now.kind !== 'none') this.predictor.forget();
    void this.keepOutcomes();
    this.showPrediction();
    allow(this.did.undo, store, this.applied !== null && this.isApplied(this.applied.new));
  }

  private isApplied(knobs: Knobs): boolean {
    return this.draft.applied !== null && same(this.draft.applied, knobs);
  }

  /** The gate's knobs: says who has moved one, and keeps what the operator is about to do. */
  private follow(knobs: Knobs): void {
    const { draft } = this;
    const before = draft.applied;
    if (before && same(before, knobs)) return;
    draft.follow(knobs);
    if (!before || (this.own && same(this.own, knobs))) return;
    this.own = null;
    const who = this.whoSet(knobs);
    const mine = draft.isMoved
      ? ' Your sliders stay where they are; they are not applied.'
      : ' The sliders follow.';
    this.notice.bad(`${who} set ${values(knobs)}; before: ${values(before)}.${mine}`);
    if (draft.isMoved) this.predictor.ask(draft);
  }

  private whoSet(knobs: Knobs): string {
    const change = this.desk.store.changes.find(({ event }) => event === 'knobs');
    const fits = change !== undefined && same(change.new as Knobs, knobs);
    return fits ? change.who : 'Somebody else';
  }

  private moved(): void {
    const { store } = this.desk;
    this.notice.clear();
    if (this.draft.isMoved && store.state?.foresight) this.predictor.ask(this.draft);
    else this.predictor.forget();
    store.changed();
  }

  private drop(): void {
    this.draft.discard();
    this.predictor.forget();
    this.notice.clear();
    this.desk.store.changed();
  }

  private async applyDraft(): Promise<void> {
    const { gate, store } = this.desk;
    const { draft } = this;
    const wanted = { ...draft.at };
    try {
      // The page may be behind by a moment, and what it does not show it must not overwrite.
      const old = await gate.knobs();
      store.takeKnobs(old);
      draft.follow(old);
      if (draft.isOvertaken && !(await this.insists(old, wanted))) return;
      const known = this.predictor.now.kind === 'known' ? this.predictor.now : null;
      await this.set(wanted);
      const point = known ? pointAt(known.foresight, wanted) : null;
      this.applied = { at: store.now, old, new: wanted, point };
      this.since = null;
      this.asked = -Infinity;
      this.notice.good(`Applied: ${values(wanted)}.`);
    } catch (error) {
      this.notice.bad(`Not applied: ${why(error)}.`);
    }
    store.changed();
  }

  private async insists(now: Knobs, wanted: Knobs): Promise<boolean> {
    await this.desk.refresh().catch(() => undefined);
    const yes = await this.desk.dialogs.confirm({
      title: 'Somebody else has moved a knob',
      body: [
        h('p', {}, `${this.whoSet(now)} has set ${values(now)} since you began to move the sliders.`),
        h('p', {}, `Yours: ${values(wanted)}.`),
      ],
      action: 'Apply mine all the same',
    });
    this.draft.accept();
    return yes;
  }

  private async set(knobs: Knobs): Promise<void> {
    const { gate, store } = this.desk;
    this.own = knobs;
    const shown = await gate.moveKnobs(knobs);
    this.own = shown;
    this.draft.follow(shown);
    this.draft.discard();
    this.predictor.forget();
    store.takeKnobs(shown);
  }

  private async undo(): Promise<void> {
    const { applied } = this;
    if (!applied) return;
    try {
      await this.set(applied.old);
      this.notice.good(`Undone: ${values(applied.old)}.`);
      this.applied = null;
    } catch (error) {
      this.notice.bad(`Not undone: ${why(error)}.`);
    }
    this.desk.store.changed();
  }

  /** What came of sessions lately, and since a change; asked now and then while the page is looked at. */
  private async keepOutcomes(): Promise<void> {
    const { gate, store } = this.desk;
    const now = performance.now() / 1000;
    const { applied } = this;
    const every = applied && store.now - applied.at < NEW ? OUTCOME_AFTER : OUTCOME_EVERY;
    if (store.connection.kind !== 'live' || now - this.asked < every) return;
    this.asked = now;
    try {
      this.lately = await gate.outcome(store.now - LATELY);
      const since = applied && (await gate.outcome(applied.at));
      if (applied === this.applied) this.since = since;
      store.changed();
    } catch {
      // What is shown stays; that the gate is gone is said elsewhere.
    }
  }

  private showPrediction(): void {
    const { store } = this.desk;
    const { draft, predictor } = this;
    const { now } = predictor;
    const known = now.kind === 'known' ? now : now.kind === 'asking' ? now.before : null;
    this.table.root.classList.toggle('outdated', now.kind === 'asking');
    setText(this.words, this.says(known));
    this.curves.show(known, draft.applied);
    const state = JSON.stringify([
      now.kind,
      known?.at,
      known?.foresight.took,
      this.lately,
      this.since,
      this.applied,
      store.classes,
      draft.applied,
    ]);
    if (state === this.drawn) return;
    this.drawn = state;
    const columns = [{ title: 'Measured lately', outcome: this.lately }];
    const predicted = known && [
      { title: 'Predicted as applied', point: draft.applied && pointAt(known.foresight, draft.applied) },
      { title: 'Predicted at the sliders', point: pointAt(known.foresight, known.at) },
    ];
    this.table.show(store.classes, [...columns, ...(predicted ?? [])]);
    this.remarks.replaceChildren(...(known?.foresight.remarks ?? []).map((text) => h('li', {}, text)));
    this.did.show(this.applied, this.since, store.classes);
  }

  private says(known: Known | null): string {
    const { now } = this.predictor;
    if (now.kind === 'failed') return `No prediction: ${now.why}. Apply works all the same.`;
    if (now.kind === 'asking') return 'Asking the simulator …';
    if (!known) {
      if (this.desk.store.state && !this.desk.store.state.foresight) {
        return 'This gate cannot predict. Apply works all the same.';
      }
      return 'Move a knob to see what the simulator says of it before it is applied.';
    }
    const { load } = known.foresight;
    return `Predicted from the load of the last ${duration(load.seconds)} (${count(load.sessions)} sessions, ${count(load.requests)} requests). Intervals are 95\u00a0%.`;
  }
}
