import { h } from '../../dom.ts';
import { why } from '../client.ts';
import { allow, button, Notice, section } from '../elements.ts';
import type { Desk, Part } from '../part.ts';
import type { Knobs } from '../schemas.ts';
import { duration } from '../words.ts';
import type { Told } from './applied.ts';
import type { Column } from './compare.ts';
import { Draft, same } from './draft.ts';
import { measuredSide } from './figures.ts';
import { Foretelling } from './foretelling.ts';
import { Did } from './outcome.ts';
import { Outcomes } from './outcomes.ts';
import { isOfOne, Predictor, type Known } from './prediction.ts';
import { Sliders } from './sliders.ts';
import { Suggestion } from './suggestion.ts';
import { knobTerms, values } from './words.ts';

const SHADOW =
  'In shadow mode the knobs change nothing for clients, only what is counted as refused. What is predicted is of a gate that enforces; what is measured is of this one, which does not.';

/** The two knobs: what the simulator says of a position before it is applied, and what became of it. */
export class KnobsPanel implements Part {
  readonly root: HTMLElement;
  private readonly draft = new Draft();
  private readonly predictor: Predictor;
  private readonly outcomes: Outcomes;
  private readonly sliders: Sliders;
  private readonly suggestion: Suggestion;
  private readonly foretelling: Foretelling;
  private readonly did: Did;
  private readonly notice = new Notice();
  private readonly shadow = h('p', { class: 'notice bad', hidden: true }, SHADOW);
  private readonly apply = button('Apply', () => void this.applyDraft(), { class: 'button primary' });
  private readonly discard = button('Discard', () => {
    this.drop();
  });
  private readonly back = button('Undo', () => void this.undo(), { hidden: '' });
  /** Of which gate, mode and configuration predictions are. */
  private predictedOf = '';

  constructor(private readonly desk: Desk) {
    const { gate, store } = desk;
    this.predictor = new Predictor(
      gate,
      () => store.now,
      () => this.measured.side?.total ?? null,
      () => {
        store.changed();
      },
    );
    this.outcomes = new Outcomes(gate, store);
    this.sliders = new Sliders(this.draft, () => {
      this.suggestion.clear();
      this.moved();
    });
    const move = (to: Knobs): void => {
      this.draft.moveTo(to);
      this.moved();
    };
    this.suggestion = new Suggestion(store, this.predictor, move, () => {
      if (this.draft.isMoved) this.predict();
    });
    this.did = new Did(store, () => {
      this.outcomes.close();
      store.changed();
    });
    const again = (): void => {
      this.predict();
      store.changed();
    };
    this.foretelling = new Foretelling(store, this.predictor, again, this.did.top);
    const actions = h('div', { class: 'actions' }, this.apply, this.discard, this.back);
    this.root = section(
      'knobs',
      'Knobs',
      this.shadow,
      h(
        'div',
        { class: 'knobs' },
        h(
          'div',
          { class: 'knobs-side' },
          this.suggestion.root,
          this.sliders.root,
          actions,
          this.notice.root,
          knobTerms(),
        ),
        this.foretelling.root,
      ),
      this.did.root,
    );
  }

  render(): void {
    const { store, mover } = this.desk;
    const { draft, outcomes } = this;
    if (store.state) this.follow(store.state.knobs);
    outcomes.follow();
    this.shadow.hidden = !store.isShadow;
    this.sliders.render(store);
    this.suggestion.render();
    const moved = draft.isMoved;
    allow(this.apply, store, moved && !mover.isBusy);
    this.discard.disabled = !moved || mover.isBusy;
    this.keepPrediction();
    void outcomes.keep();
    this.foretelling.show(draft, this.measured);
    this.did.show(outcomes, this.predictor.known === null);
    const { applied } = outcomes;
    this.back.hidden = applied === null;
    allow(this.back, store, applied?.until === null && !mover.isBusy);
  }

  /** The gate's knobs: says who has moved one, and keeps what the operator is about to do. */
  private follow(knobs: Knobs): void {
    const { draft } = this;
    const { mover } = this.desk;
    const before = draft.applied;
    if (before && same(before, knobs)) return;
    draft.follow(knobs);
    if (!before) return;
    if (!mover.isOwn(knobs)) {
      mover.disown();
      const mine = draft.isMoved
        ? ' Your sliders stay where they are; they are not applied.'
        : ' The sliders follow.';
      this.notice.bad(`${mover.whoSet(knobs)} set ${values(knobs)}; before: ${values(before)}.${mine}`);
    }
    if (draft.isMoved) this.predict();
  }

  private keepPrediction(): void {
    const { store } = this.desk;
    const { draft, predictor } = this;
    const reload = store.changes.find(({ event }) => event === 'reload')?.id;
    const of = JSON.stringify([store.state?.started, store.state?.mode, reload]);
    if (of !== this.predictedOf) predictor.forget();
    this.predictedOf = of;
    if (predictor.phase === 'suggestion') return;
    if (!draft.isMoved) predictor.hide();
    else if (!predictor.isUsed) this.predict();
    else if (store.connection.kind === 'live') predictor.renew(draft);
  }

  private predict(): void {
    if (this.desk.store.state?.foresight) this.predictor.ask(this.draft);
  }

  private moved(): void {
    this.notice.clear();
    if (this.draft.isMoved) this.predict();
    else this.predictor.hide();
    this.desk.store.changed();
  }

  private drop(): void {
    this.draft.discard();
    this.suggestion.clear();
    this.predictor.hide();
    this.notice.clear();
    this.desk.store.changed();
  }

  private async applyDraft(): Promise<void> {
    const { mover, store } = this.desk;
    const { draft } = this;
    const expected = draft.base ?? draft.applied;
    if (mover.isBusy || !expected) return;
    this.predictor.leaveSuggestion();
    const wanted = { ...draft.at };
    const { known } = this.predictor;
    try {
      const moved = await mover.move(expected, wanted);
      if (moved) {
        this.settle(moved.new);
        this.suggestion.clear();
        this.outcomes.begin(moved.old, moved.new, toldOf(known, moved.old, wanted));
        this.notice.good(`Applied: ${values(moved.new)}.`);
      } else {
        // What the others have set has been seen, so the next order goes from there.
        if (store.state) draft.follow(store.state.knobs);
        draft.accept();
      }
    } catch (error) {
      this.notice.bad(`Not applied: ${why(error)}.`);
    }
    store.changed();
  }

  /** Takes over what has been set; sliders that were moved on meanwhile stay. */
  private settle(knobs: Knobs): void {
    this.draft.follow(knobs);
    this.draft.accept();
  }

  private async undo(): Promise<void> {
    const { mover, store } = this.desk;
    const { applied } = this.outcomes;
    if (!applied || mover.isBusy) return;
    this.predictor.leaveSuggestion();
    try {
      const moved = await mover.move(applied.new, applied.old);
      if (moved) {
        this.settle(moved.new);
        this.outcomes.undone();
        this.notice.good(`Undone: ${values(moved.new)}.`);
      }
    } catch (error) {
      this.notice.bad(`Not undone: ${why(error)}.`);
    }
    store.changed();
  }

  private get measured(): Column {
    const { lately, window, isSettling } = this.outcomes;
    const { state } = this.desk.store;
    if (lately) {
      const title = `Measured, last ${duration(window)}`;
      return { title, side: measuredSide(lately), meanwhile: 'no session has ended' };
    }
    const side = { title: 'Measured', side: null };
    if (!state?.foresight) return side;
    return { ...side, meanwhile: isSettling ? 'settling after the change' : 'being asked' };
  }
}

/** What has been predicted of a move. */
function toldOf(known: Known | null, from: Knobs, to: Knobs): Told | null {
  if (!known || !same(known.at, to)) return null;
  return { point: known.slider.point, was: same(known.applied, from) && isOfOne(known) ? known.now : null };
}
