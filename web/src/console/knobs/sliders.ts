import { h } from '../../dom.ts';
import { setAttribute, setText } from '../elements.ts';
import type { Store } from '../store.ts';
import { KNOBS, type Draft, type Knob } from './draft.ts';

interface Text {
  label: string;
  low: string;
  high: string;
  /** What it decides, and for whom. */
  words: (classes: string[]) => string;
  lines: (classes: string[]) => string[];
}

const TEXTS: Record<Knob, Text> = {
  differentiation: {
    label: 'Differentiation',
    low: 'all alike',
    high: 'strict priority',
    words: ([first, ...rest]) => (rest.length > 0 ? `: ${first} before ${rest.at(-1)}` : ''),
    lines: ([first]) =>
      first === undefined ? [] : [`Towards 1 ${first} goes first; the others pay for it.`],
  },
  favour: {
    label: 'Favour',
    low: 'short waits',
    high: 'long waits allowed',
    words: (classes) => (classes.length > 1 ? `: for ${below(classes)}` : ''),
    lines: (classes) => {
      const whom = below(classes);
      return [`Towards 1 ${whom} may wait as long as clients do; that may complete more, or fewer.`];
    },
  },
};

/** The classes for which it is decided: those below the first, which waits least. */
function below(classes: string[]): string {
  return (classes.length > 1 ? classes.slice(1) : classes).join(', ') || 'all classes';
}

/** The two knobs. */
export class Sliders {
  readonly root = h('div', { class: 'sliders' });
  private readonly rows: {
    knob: Knob;
    input: HTMLInputElement;
    output: HTMLOutputElement;
    applied: HTMLElement;
    words: HTMLElement;
    lines: HTMLElement;
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
        'aria-describedby': `knob-${knob}-words knob-${knob}-applied knob-${knob}-lines`,
      });
      const output = h('output', { for: input.id });
      const applied = h('span', { class: 'applied', id: `knob-${knob}-applied` });
      const words = h('span', { class: 'slider-words', id: `knob-${knob}-words` });
      const lines = h('p', { class: 'small lines', id: `knob-${knob}-lines` });
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
          h(
            'div',
            { class: 'slider-head' },
            h('span', {}, h('label', { for: input.id }, label), words),
            output,
            applied,
          ),
          input,
          h(
            'div',
            { class: 'slider-ends', 'aria-hidden': 'true' },
            h('span', {}, `0 ${low}`),
            h('span', {}, `1 ${high}`),
          ),
          lines,
        ),
      );
      return { knob, input, output, applied, words, lines };
    });
  }

  render(store: Store): void {
    const { draft } = this;
    for (const { knob, input, output, applied, words, lines } of this.rows) {
      const value = draft.at[knob];
      if (input.value !== String(value)) input.value = String(value);
      const { low, high, ...of } = TEXTS[knob];
      setText(words, of.words(store.classes));
      setText(lines, of.lines(store.classes).join('\n'));
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
