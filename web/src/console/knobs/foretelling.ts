import { h } from '../../dom.ts';
import { button, setText } from '../elements.ts';
import type { Store } from '../store.ts';
import { count, counted, duration, timeOf } from '../words.ts';
import { Comparison, type Column } from './compare.ts';
import { Curves } from './curves.ts';
import { same, type Draft } from './draft.ts';
import { predictedSide } from './figures.ts';
import { price } from './price.ts';
import { isOfOne, STALE, type Known, type Predictor } from './prediction.ts';
import { PriceList } from './pricelist.ts';
import { values } from './words.ts';

/** What the simulator says of a position of the sliders: its price first, then the figures, then the curve. */
export class Foretelling {
  readonly root = h('div', { class: 'knobs-main' });
  private readonly price = new PriceList();
  private readonly words = h('p', { class: 'hint', id: 'prediction' });
  private readonly problem = h('p', { class: 'notice bad', role: 'status' });
  private readonly again: HTMLButtonElement;
  private readonly table = new Comparison('Sessions by class');
  private readonly remarks = h('ul', { class: 'remarks' });
  private readonly curves = new Curves();
  private readonly failure: HTMLElement;
  private drawn = '';

  constructor(
    private readonly store: Store,
    private readonly predictor: Predictor,
    again: () => void,
    /** What came of what is applied, in the place of the price. */
    did: HTMLElement,
  ) {
    this.again = button('Try again', again);
    this.failure = h('div', { class: 'actions' }, this.problem, this.again);
    this.root.append(
      this.price.root,
      did,
      this.failure,
      this.words,
      this.table.root,
      this.remarks,
      this.curves.root,
    );
  }

  /** `measured` is the column of what was measured lately. */
  show(draft: Draft, measured: Column): void {
    const { predictor, store } = this;
    const { known, problem, phase } = predictor;
    const isOutdated = known !== null && (!predictor.isCurrent || (problem !== null && !problem.isCurve));
    for (const one of [this.price.root, this.table.root, this.curves.root]) {
      one.classList.toggle('outdated', isOutdated);
    }
    setText(this.problem, problem ? problemWords(problem.isCurve, problem.why) : '');
    this.failure.hidden = problem === null;
    this.again.disabled = phase !== 'idle';
    setText(this.words, this.says(isOutdated));
    this.curves.show(known, curveWords(predictor));
    const state = JSON.stringify([known?.slider.made, known?.at, known?.applied, known?.now === null]);
    const drawn =
      state +
      JSON.stringify([
        store.classes,
        measured.title,
        measured.meanwhile,
        [...(measured.side?.classes ?? [])],
      ]);
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.showKnown(known, draft, measured);
  }

  private showKnown(known: Known | null, draft: Draft, measured: Column): void {
    const { classes } = this.store;
    const now = known?.now ? predictedSide(known.now, isOfOne(known)) : null;
    const slider = known && predictedSide(known.slider.point);
    const isMore = known !== null && known.at.differentiation > known.applied.differentiation;
    this.price.show(slider && price(classes, now, slider, isMore), known ? placeOf(known, draft) : '');
    const predicted: Column[] = known
      ? [
          { title: 'Predicted as applied', side: now },
          { title: 'Predicted at the sliders', side: slider },
        ]
      : [];
    this.table.show(classes, [measured, ...predicted]);
    this.remarks.replaceChildren(...(known?.slider.answer.remarks ?? []).map((text) => h('li', {}, text)));
  }

  private says(isOutdated: boolean): string {
    const { known, phase } = this.predictor;
    const asking = phase === 'first' ? 'Asking the simulator …' : '';
    if (!known) {
      if (this.store.state && !this.store.state.foresight) {
        return 'This gate cannot predict. Apply works all the same.';
      }
      return asking || 'Move a knob to see what the simulator says of it before it is applied.';
    }
    const { answer, made } = known.slider;
    const { load } = answer;
    const age = this.store.now - made;
    const old =
      isOutdated || age > STALE
        ? `Shown is what was predicted of ${values(known.at)} ${duration(age)} ago. `
        : '';
    return `${asking && `${asking} `}${old}Predicted from the load of the last ${duration(load.seconds)} (${count(load.sessions)} sessions, ${count(load.requests)} requests), as of ${timeOf(made)}, ${duration(age)} ago. Intervals are 95\u00a0%.`;
  }
}

function problemWords(isCurve: boolean, why: string): string {
  return isCurve
    ? `The rest of the curve is not known: ${why}.`
    : `No prediction: ${why}. Apply works all the same.`;
}

/** What is being done about the points of the curve that are not there. */
function curveWords({ phase, problem, missing }: Predictor): string {
  if (phase === 'curve') return 'computing the curve …';
  if (phase !== 'idle' || problem !== null || missing === 0) return '';
  return `${counted(missing, 'point')} could not be simulated in time`;
}

/** Which settings are compared. */
function placeOf(known: Known, draft: Draft): string {
  const isApplied = draft.applied !== null && same(known.applied, draft.applied);
  return `What it would do: ${isApplied ? 'applied' : values(known.applied)} → ${values(known.at)}`;
}
