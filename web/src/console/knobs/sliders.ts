import { h } from '../../dom.ts';
import { setAttribute, setText } from '../elements.ts';
import type { Store } from '../store.ts';
import { KNOBS, type Draft, type Knob } from './draft.ts';

const TEXTS: Record<Knob, { label: string; low: string; high: string }> = {
  differentiation: { label: 'Differentiation', low: 'all classes alike', high: 'strict priority' },
  favour: { label: 'Favour', low: 'fastest responses', high: 'most sessions' },
};

/** The two knobs. */
export class Sliders {
  readonly root = h('div', { class: 'sliders' });
  private readonly rows: {
    knob: Knob;
    input: HTMLInputElement;
    output: HTMLOutputElement;
    applied: HTMLElement;
  }[];

  constructor(
    private readonly draft: Draft,
    moved: () => void,
  ) {
    this.rows = KNOBS.map((knob) => {
      const { label, low, high } = TEXTS[knob];
      const input = h('input', {
        type: 'range',
        id: `knob-${knob}`,
        min: '0',
        max: '1',
        step: '0.01',
        'aria-describedby': `knob-${knob}-applied`,
      });
      const output = h('output', { for: input.id });
      const applied = h('span', { class: 'applied', id: `knob-${knob}-applied` });
      input.addEventListener('input', () => {
        if (input.getAttribute('aria-disabled') === 'true') {
          input.value = String(draft.at[knob]);
          return;
        }
        draft.move(knob, input.valueAsNumber);
        moved();
      });
      this.root.append(
        h(
          'div',
          { class: 'slider' },
          h('div', { class: 'slider-head' }, h('label', { for: input.id }, label), output, applied),
          input,
          h(
            'div',
            { class: 'slider-ends', 'aria-hidden': 'true' },
            h('span', {}, `0 ${low}`),
            h('span', {}, `1 ${high}`),
          ),
        ),
      );
      return { knob, input, output, applied };
    });
  }

  render(store: Store): void {
    const { draft } = this;
    for (const { knob, input, output, applied } of this.rows) {
      const value = draft.at[knob];
      if (input.value !== String(value)) input.value = String(value);
      const { low, high } = TEXTS[knob];
      setAttribute(input, 'aria-valuetext', `${value.toFixed(2)}, from 0 ${low} to 1 ${high}`);
      // Who may only read may see what would be.
      // One that is switched off for a moment, as when a slow line falls silent, must not lose the focus.
      const isOff = draft.applied === null || store.connection.kind !== 'live';
      setAttribute(input, 'aria-disabled', isOff ? 'true' : null);
      setText(output, value.toFixed(2));
      const now = draft.applied?.[knob];
      setText(applied, now === undefined ? '' : draft.isMoved ? `applied: ${now.toFixed(2)}` : 'applied');
    }
  }
}
