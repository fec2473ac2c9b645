import { h } from '../dom.ts';
import { swatch } from '../chart/legend.ts';
import { onThemeChange } from '../chart/palette.ts';
import { refusals } from './counts.ts';
import { Keyed, section, setAttribute, setText } from './elements.ts';
import type { Desk, Part } from './part.ts';
import { lately, type Lately } from './samples.ts';
import type { ClassState, Waits } from './schemas.ts';
import { STAGES } from './stages.ts';
import { about, count, rate, share } from './words.ts';

/** Meters average over this long, s. */
const LOOK_BACK = 5;

/** Refusals are counted over this long by reason, s. */
const REASONS_OVER = 60;

interface Metered {
  now: Lately;
  state: ClassState | undefined;
  reasons: [string, number][];
  shadow: boolean;
}

/** Offered, served and refused of each class, and where its requests spend their time. */
export function meters({ store }: Desk): Part {
  const cards = h('div', { class: 'meters' });
  const keyed = new Keyed<Metered>(cards, ({ now }) => now.name, card);
  const root = section(
    'classes',
    'Classes',
    h(
      'p',
      { class: 'hint' },
      `Offered, served, refused and given up: means of the last ${LOOK_BACK}\u00a0s. 95\u00a0% within: the highest of these seconds. Queued: now. Waits by stage: means of the last second in which a request was served. Reasons: the last ${REASONS_OVER}\u00a0s.`,
    ),
    cards,
  );
  const render = (): void => {
    const recent = store.samples.recent(LOOK_BACK);
    const before = store.state && store.counts.before(store.state, REASONS_OVER);
    const shown = store.classes.map((name, index): Metered => {
      const state = store.state?.classes[index];
      const was = before?.classes.find((one) => one.name === name);
      return {
        now: lately(recent, name, store.samples.classes.indexOf(name)),
        state,
        reasons: state ? refusals(state, was) : [],
        shadow: store.isShadow,
      };
    });
    keyed.show(shown);
  };
  return { root, render };
}

function card(first: Metered): { element: HTMLElement; update: (metered: Metered) => void } {
  const figures = ['Offered', 'Served', 'Refused', 'Queued', '95\u00a0% within'].map(figure);
  const bar = h(
    'div',
    { class: 'load', role: 'img' },
    h('span', { class: 'served' }),
    h('span', { class: 'refused' }),
  );
  const stack = new Stack();
  const details = h('p', { class: 'small' });
  const element = h(
    'article',
    { class: 'meter', 'aria-label': `Class ${first.now.name}` },
    h('h3', {}, first.now.name),
    bar,
    h('dl', { class: 'figures' }, ...figures.map((one) => one.root)),
    details,
    stack.root,
  );
  const update = ({ now, state, reasons, shadow }: Metered): void => {
    const refused = now.refused / Math.max(now.offered, now.refused, 1e-9);
    const queued = state?.queued ?? now.queued;
    const target = state && state.target > 0 ? `target ${count(state.target)}` : '';
    const texts: [string, string][] = [
      [rate(now.offered), ''],
      [rate(now.served), ''],
      [rate(now.refused), now.refused > 0.005 ? share(refused) : ''],
      [count(queued), target],
      [now.p95 === null ? '–' : about(now.p95), ''],
    ];
    texts.forEach(([value, note], i) => figures[i]?.set(value, note));
    figures[2]?.rename(shadow ? 'Would be refused' : 'Refused');
    const parts = [now.served, now.refused];
    const whole = Math.max(now.offered, now.served + now.refused, 1e-9);
    [...bar.children].forEach((one, i) => {
      (one as HTMLElement).style.width = `${((parts[i] ?? 0) / whole) * 100}%`;
    });
    setAttribute(bar, 'aria-label', `Of ${rate(now.offered)} offered, ${share(refused)} refused`);
    element.classList.toggle('refusing', now.refused > 0.005);
    setText(details, detail(now, state, reasons));
    stack.show(now.waits);
  };
  return { element, update };
}

/** What is behind the figures: who gives up, why the others are refused, and who is admitted. */
function detail({ aborted }: Lately, state: ClassState | undefined, reasons: [string, number][]): string {
  if (!state) return '';
  const { admits, patience } = state;
  const why = reasons.map(([reason, n]) => `${reason} ${count(n)}`).join(', ') || 'none';
  const whom = admits.sessions ? 'sessions' : 'requests';
  const of = `${share(admits.new)} of new sessions, ${share(admits.existing)} of others (by ${whom})`;
  return `Given up ${rate(aborted)}; clients wait ${about(patience)} at most. Refused for: ${why}. Admitted: ${of}.`;
}

interface Figure {
  root: HTMLElement;
  set: (value: string, note: string) => void;
  rename: (name: string) => void;
}

function figure(name: string): Figure {
  const label = h('dt', {}, name);
  const value = h('dd', { class: 'value' });
  const note = h('dd', { class: 'note' });
  return {
    root: h('div', {}, label, value, note),
    set: (text, more) => {
      setText(value, text);
      setText(note, more);
    },
    rename: (text) => {
      setText(label, text);
    },
  };
}

/** Time by stage: a bar, and the same in words below it. */
class Stack {
  private readonly bar = h('div', { class: 'stack', 'aria-hidden': 'true' });
  private readonly texts = STAGES.map(() => h('span', {}));
  private readonly list: HTMLElement;
  readonly root: HTMLElement;

  constructor() {
    const samples = STAGES.map((_stage, i) => h('span', { class: 'sample' }, swatch(i, 'plain')));
    onThemeChange(() => {
      samples.forEach((one, i) => {
        one.replaceChildren(swatch(i, 'plain'));
      });
    });
    this.bar.append(...STAGES.map((_stage, i) => h('span', { class: `stage-${i}` })));
    const items = STAGES.map((_stage, i) => h('li', {}, samples[i], this.texts[i]));
    this.list = h('ul', { class: 'stages' }, ...items);
    this.root = h(
      'div',
      { class: 'waits' },
      h('p', { class: 'small' }, 'Mean wait by stage'),
      this.bar,
      this.list,
    );
  }

  show(waits: Waits | null): void {
    const total = waits ? STAGES.reduce((sum, stage) => sum + waits[stage], 0) : 0;
    STAGES.forEach((stage, i) => {
      const value = waits?.[stage] ?? 0;
      const part = this.bar.children[i] as HTMLElement;
      part.style.width = total > 0 ? `${(value / total) * 100}%` : '0';
      const text = this.texts[i];
      if (text) setText(text, `${stage} ${waits ? about(value) : '–'}`);
    });
  }
}
