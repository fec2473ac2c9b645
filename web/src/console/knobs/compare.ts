import { h, type Child } from '../../dom.ts';
import { colours } from '../classes.ts';
import { scrolling } from '../elements.ts';
import { about, range, rate, share } from '../words.ts';
import { lacksPercentiles, type Figures, type Measured, type Side } from './figures.ts';

interface Row {
  head: string;
  of: (figures: Figures) => Measured | null;
  format: (x: number) => string;
  isPercentile?: boolean;
}

/** The three figures of a class. */
const ROWS: Row[] = [
  { head: 'completed', of: (figures) => figures.completed, format: rate },
  { head: 'share of sessions begun', of: (figures) => figures.completion, format: share },
  { head: '95\u00a0% within', of: (figures) => figures.p95, format: about, isPercentile: true },
];

export interface Column {
  title: string;
  side: Side | null;
  /** What is said of a class of which no session has ended. */
  meanwhile?: string;
}

/**
 * Classes down, and across what was measured beside what is predicted. The table stays while its figures change, and
 * with it the focus and how far it is scrolled. On narrow screens rows are blocks, in which each cell has its column's
 * title; the roles are said so that it remains a table.
 */
export class Comparison {
  readonly root: HTMLElement;
  private readonly head = h('tr', { role: 'row' });
  private readonly body = h('tbody', { role: 'rowgroup' });

  constructor(label: string) {
    const head = h('thead', { role: 'rowgroup' }, this.head);
    this.root = scrolling(label, h('table', { role: 'table' }, head, this.body), 'scroll comparison');
  }

  show(classes: string[], columns: Column[]): void {
    const heads = ['Class', 'Sessions', ...columns.map((column) => column.title)];
    this.head.replaceChildren(...heads.map((text) => h('th', { scope: 'col', role: 'columnheader' }, text)));
    const rows = classes.flatMap((name, i) => rowsOf(name, i, columns));
    this.body.replaceChildren(...rows, totals(columns));
  }
}

function rowsOf(name: string, index: number, columns: Column[]): HTMLElement[] {
  return ROWS.map(({ head, of, format, isPercentile }, i) =>
    row(
      i === 0,
      i === 0 && group(name, index),
      rowHead(head),
      ...columns.map(({ title, side, meanwhile }) => {
        const figures = side?.classes.get(name);
        if (meanwhile !== undefined && !figures?.sessions) {
          return (
            i === 0 &&
            h('td', { ...data(title), rowspan: String(ROWS.length), class: 'meanwhile' }, meanwhile)
          );
        }
        // What is not kept is said below the table.
        if (side && isPercentile && lacksPercentiles(side)) return h('td', { ...data(title), class: 'none' });
        return cell(title, figures ? of(figures) : null, format);
      }),
    ),
  );
}

function totals(columns: Column[]): HTMLElement {
  return row(
    true,
    group('Together'),
    rowHead('completed'),
    ...columns.map(({ title, side, meanwhile }) =>
      meanwhile !== undefined && !side?.total
        ? h('td', data(title), meanwhile)
        : cell(title, side?.total ?? null, rate),
    ),
  );
}

function row(isFirst: boolean, ...cells: Child[]): HTMLElement {
  return h('tr', { role: 'row', ...(isFirst ? { class: 'group' } : {}) }, ...cells);
}

/** The head of several rows: of a class, which has a colour, or of all. */
function group(name: string, index?: number): HTMLElement {
  const isClass = index !== undefined;
  return h(
    'th',
    { scope: 'rowgroup', role: 'rowheader', ...(isClass ? { rowspan: String(ROWS.length) } : {}) },
    isClass && h('span', { class: 'key', ...colours(index) }),
    name,
  );
}

function rowHead(text: string): HTMLElement {
  return h('th', { scope: 'row', role: 'rowheader' }, text);
}

/** Attributes of a cell in the column of this title. */
function data(title: string): Record<string, string> {
  return { role: 'cell', 'data-label': title };
}

function cell(title: string, measured: Measured | null, format: (x: number) => string): HTMLElement {
  if (!measured) return h('td', data(title), '–');
  const { value, ends } = measured;
  const interval = ends && h('small', { class: 'under' }, range(ends, format, value));
  return h('td', data(title), h('strong', {}, format(value)), interval);
}
