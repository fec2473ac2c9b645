import { h } from '../../dom.ts';
import { colours } from '../classes.ts';
import { scrolling } from '../elements.ts';
import { about, range, rate, share } from '../words.ts';
import type { Figures, Measured, Side } from './figures.ts';

/** The three figures of a class. */
const ROWS: { head: string; of: (figures: Figures) => Measured | null; format: (x: number) => string }[] = [
  { head: 'completed', of: (figures) => figures.completed, format: rate },
  { head: 'share', of: (figures) => figures.completion, format: share },
  { head: '95\u00a0% within', of: (figures) => figures.p95, format: about },
];

export interface Column {
  title: string;
  side: Side | null;
  /** What is said of a class of which no session has ended. */
  meanwhile?: string;
}

/** Classes down, and across what was measured beside what is predicted. The table stays while its figures change, and with it the focus and how far it is scrolled. */
export class Comparison {
  readonly root: HTMLElement;
  private readonly head = h('tr');
  private readonly body = h('tbody');

  constructor(label: string) {
    this.root = scrolling(label, h('table', {}, h('thead', {}, this.head), this.body));
  }

  show(classes: string[], columns: Column[]): void {
    const heads = ['Class', 'Sessions', ...columns.map((column) => column.title)];
    this.head.replaceChildren(...heads.map((text) => h('th', { scope: 'col' }, text)));
    const rows = classes.flatMap((name, i) => rowsOf(name, i, columns));
    this.body.replaceChildren(...rows, totals(columns));
  }
}

function rowsOf(name: string, index: number, columns: Column[]): HTMLElement[] {
  return ROWS.map(({ head, of, format }, i) =>
    h(
      'tr',
      i === 0 ? { class: 'group' } : {},
      i === 0 &&
        h('th', { scope: 'rowgroup', rowspan: '3' }, h('span', { class: 'key', ...colours(index) }), name),
      h('th', { scope: 'row' }, head),
      ...columns.map(({ side, meanwhile }) => {
        const figures = side?.classes.get(name);
        if (meanwhile !== undefined && !figures?.sessions) {
          return i === 0 && h('td', { rowspan: '3', class: 'meanwhile' }, meanwhile);
        }
        return cell(figures ? of(figures) : null, format);
      }),
    ),
  );
}

function totals(columns: Column[]): HTMLElement {
  return h(
    'tr',
    { class: 'group' },
    h('th', { scope: 'rowgroup' }, 'Together'),
    h('th', { scope: 'row' }, 'completed'),
    ...columns.map(({ side, meanwhile }) =>
      meanwhile !== undefined && !side?.total ? h('td', {}, meanwhile) : cell(side?.total ?? null, rate),
    ),
  );
}

function cell(measured: Measured | null, format: (x: number) => string): HTMLElement {
  if (!measured) return h('td', {}, '–');
  const { value, ends } = measured;
  const interval = ends && h('small', { class: 'under' }, range(ends, format, value));
  return h('td', {}, h('strong', {}, format(value)), interval);
}
