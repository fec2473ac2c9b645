import { h } from '../dom.ts';
import { interval } from '../format.ts';
import { scrollingTable } from '../table/table.ts';
import type { Chart } from './chart.ts';
import { Legend, type Entry, type Sample } from './legend.ts';
import { Panel } from './panel.ts';
import { onThemeChange } from './palette.ts';
import type { PanelSpec, ReferenceLine } from './spec.ts';
import { cellOf, ends, part } from '../table/cell.ts';
import { writing, written } from '../units.ts';

interface About {
  id: string;
  title: string;
  caption: (Node | string)[];
  /** Whether the reader may switch the y axis to a logarithmic one, and how it is at first. */
  logarithmic?: 'at first' | 'on request';
}

export interface FigureSpec extends About {
  /** What the legend lists, in the order of their looks. */
  subjects: string[];
  panels: PanelSpec[];
}

export interface ChartsSpec extends About {
  legend: Entry[];
  charts: Chart[];
  sample: Sample;
  lines?: ReferenceLine[];
  /** The same as a table, made when it is asked for. */
  tables: () => HTMLElement[];
}

/** A figure of curves with a few points each. */
export function figure(spec: FigureSpec): HTMLElement {
  return chartsFigure({
    ...spec,
    legend: spec.subjects.map((name, subject) => ({ name, subject })),
    charts: spec.panels.map((panel) => new Panel(panel)),
    sample: 'marked',
    lines: spec.panels.flatMap((panel) => panel.lines),
    tables: () => spec.panels.map(readings),
  });
}

/** A figure: its legend, its charts side by side, what to see in them, and the same as a table. */
export function chartsFigure(spec: ChartsSpec): HTMLElement {
  const { charts } = spec;
  const hidden = new Set<number>();
  const toggle = (subject: number): void => {
    if (!hidden.delete(subject)) hidden.add(subject);
    for (const chart of charts) chart.setHidden(subject, hidden.has(subject));
  };
  const legend = new Legend(spec.legend, spec.lines ?? [], hidden, toggle, spec.sample);
  onThemeChange(() => {
    legend.render();
    for (const chart of charts) chart.redraw();
  });
  const label = `${spec.id}-title`;
  return h(
    'figure',
    { id: spec.id, 'aria-labelledby': label },
    h(
      'div',
      { class: 'figure-head' },
      h('h3', { id: label }, spec.title),
      h('div', { class: 'controls' }, legend.root, scaleSwitch(spec)),
    ),
    h('div', { class: charts.length > 1 ? 'panels' : 'panels single' }, ...charts.map((chart) => chart.root)),
    h('figcaption', {}, ...spec.caption),
    numbers(spec.tables),
  );
}

function numbers(tables: () => HTMLElement[]): HTMLElement {
  const details = h('details', { class: 'numbers' }, h('summary', {}, 'The same as a table'));
  details.addEventListener(
    'toggle',
    () => {
      details.append(...tables());
    },
    { once: true },
  );
  return details;
}

function scaleSwitch({ logarithmic, charts }: ChartsSpec): HTMLElement | null {
  if (!logarithmic) return null;
  const button = h(
    'button',
    { type: 'button', 'aria-pressed': String(logarithmic === 'at first'), class: 'scale' },
    'Logarithmic y axis',
  );
  button.addEventListener('click', () => {
    const pressed = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(pressed));
    for (const chart of charts) chart.setLogarithmic(pressed);
  });
  return button;
}

function readings(panel: PanelSpec): HTMLElement {
  const rows = panel.levels.map((level, i) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, level.words),
      ...panel.curves.map((curve) => {
        const point = curve.points[i];
        if (!point) return h('td', { class: 'words' }, 'not measured');
        const { estimate, counts } = point;
        const detail = ` ${interval(estimate, writing(panel.unit))}; ${counts}`;
        return cellOf(
          [part(estimate.value, panel.unit), ...ends(estimate, panel.unit)],
          'words',
          h('strong', {}, written(estimate.value, panel.unit)),
          h('small', {}, detail),
        );
      }),
    ),
  );
  const head = [panel.title, ...panel.curves.map((curve) => curve.name)];
  return scrollingTable(
    panel.title,
    head.map((words) => ({ words })),
    rows,
  );
}
