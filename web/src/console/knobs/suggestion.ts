import { h } from '../../dom.ts';
import { why } from '../client.ts';
import { button, Notice, setText } from '../elements.ts';
import type { Knobs } from '../schemas.ts';
import type { Store } from '../store.ts';
import { counted } from '../words.ts';
import { same } from './draft.ts';
import type { Predictor } from './prediction.ts';
import { values } from './words.ts';

/** A button that lets the gate try settings over both knobs, and moves the sliders to the one that suits best. */
export class Suggestion {
  readonly root = h('div', { class: 'suggestion' });
  private readonly ask = button('Suggest a setting', () => void this.suggest());
  private readonly rule = h('p', { class: 'small' });
  private readonly notice = new Notice();

  constructor(
    private readonly store: Store,
    private readonly predictor: Predictor,
    private readonly move: (to: Knobs) => void,
    /** What had been asked before is asked again. */
    private readonly resume: () => void,
  ) {
    this.root.append(this.ask, this.rule, this.notice.root);
  }

  render(): void {
    const { store, predictor } = this;
    const [first, ...others] = store.classes;
    this.root.hidden = store.state?.foresight !== true;
    this.ask.disabled = store.connection.kind !== 'live' || predictor.phase === 'suggestion';
    const rule =
      others.length > 0
        ? `${first ?? ''} first; then as many sessions as can be; then short waits.`
        : 'As many sessions as can be; then short waits.';
    setText(this.rule, rule);
  }

  clear(): void {
    this.notice.clear();
  }

  private async suggest(): Promise<void> {
    const { predictor, store } = this;
    this.notice.good('Trying settings over both knobs in the simulator …');
    try {
      const found = await predictor.suggest();
      if (found) this.show(found.to, found.tried);
      else this.notice.clear();
    } catch (error) {
      this.notice.bad(`No suggestion: ${why(error)}.`);
      this.resume();
    }
    store.changed();
  }

  private show(to: Knobs, tried: number): void {
    const { state } = this.store;
    const isThere = state !== null && same(state.knobs, to);
    this.move(to);
    this.notice.good(
      isThere
        ? `What is applied is as good as any of ${counted(tried, 'setting')} tried.`
        : `${values(to)}: the best of ${counted(tried, 'setting')} tried. Not applied yet.`,
    );
  }
}
