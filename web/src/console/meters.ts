import { h } from '../dom.ts';
import { colours } from './classes.ts';
import { refusals } from './counts.ts';
import { doorWords } from './door.ts';
import { Keyed, section, setAttribute, setText, terms } from './elements.ts';
import type { Desk, Part } from './part.ts';
import { lately, type Lately } from './samples.ts';
import type { ClassState, Waits } from './schemas.ts';
import { STAGES } from './stages.ts';
import { about, count, rate, share } from './words.ts';

/** Meters average over this long, s. */
const LOOK_BACK = 5;

/** Refusals are counted over this long by reason, s; over less than the least, nothing can be said. */
const REASONS_OVER = 60;
const LEAST = 3;

interface Metered {
  now: Lately;
  state: ClassState | undefined;
  index: number;
  /** Refusals by reason, per second; `null` while that is not known, as at first. */
  reasons: [string, number][] | null;
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
      `Offered, served, refused and given up: means of the last ${LOOK_BACK}\u00a0s. 95\u00a0% within: of the last 10\u00a0s. Queued: now. Waits by stage: means of the last second in which a request was served. Reasons: of the last ${REASONS_OVER}\u00a0s, or since this page was opened.`,
    ),
    legend(),
    cards,
    terms(TERMS),
  );
  const render = (): void => {
    const recent = store.samples.recent(LOOK_BACK);
    const before = store.state && store.counts.before(store.state, REASONS_OVER);
    const shown = store.classes.map((name, index): Metered => {
      const state = store.state?.classes[index];
      const was = before?.classes.find((one) => one.name === name);
      const seconds = store.state && before ? store.state.clock - before.clock : 0;
      return {
        now: lately(recent, name, store.samples.classes.indexOf(name)),
        state,
        index,
        reasons:
          state && seconds >= LEAST ? refusals(state, was).map(([reason, n]) => [reason, n / seconds]) : null,
        shadow: store.isShadow,
      };
    });
    keyed.show(shown);
  };
  return { root, render };
}

const TERMS: [string, string][] = [
  ['Offered', 'requests that came; served: those that were answered; refused: told to come back later.'],
  [
    'Target',
    'how long the class queue is to be: requests beyond it are held back, and refused after a while.',
  ],
  ['Deadline', 'the longest that a request may wait in a stage; then it is refused.'],
  ['Clients wait at most', 'after that long they have been seen to give up.'],
  [
    'Stages',
    'acceptor: just come; pending: waits for its class to be found; discard: held back, beyond the target; class: in the queue of its class; server: on the server.',
  ],
];

/** What the bars of the cards are drawn in. */
function legend(): HTMLElement {
  const item = (name: string, look: string): HTMLElement =>
    h('li', {}, h('span', { class: `key ${look}` }), name);
  return h(
    'ul',
    { class: 'stages', 'aria-label': 'Upper bar of each class' },
    h('li', {}, 'Upper bar:'),
    item('served, in the colour of the class', 'served'),
    item('refused', 'refused'),
  );
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
    { class: 'meter', 'aria-label': `Class ${first.now.name}`, ...colours(first.index) },
    h('h3', {}, h('span', { class: 'key served' }), first.now.name),
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
      [state?.p95 == null ? '–' : about(state.p95), ''],
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

/** What is behind the figures: who gives up, and where the others are refused. */
function detail(now: Lately, state: ClassState | undefined, reasons: [string, number][] | null): string {
  if (!state) return '';
  return `${doorWords(state.admits, now, reasons)} Given up ${rate(now.aborted)}; clients wait ${about(state.patience)} at most.`;
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
    this.bar.append(...STAGES.map((_stage, i) => h('span', { class: `stage-${i}` })));
    const items = STAGES.map((_stage, i) =>
      h('li', {}, h('span', { class: `key stage-${i}` }), this.texts[i]),
    );
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
