import { h, scrollingTable } from '../dom.ts';
import { interval } from '../format.ts';
import { Legend } from './legend.ts';
import { Panel } from './panel.ts';
import { onThemeChange } from './palette.ts';
import type { PanelSpec } from './spec.ts';

export interface FigureSpec {
  id: string;
  title: string;
  caption: (Node | string)[];
  subjects: string[];
  panels: PanelSpec[];
  /** Whether the reader may switch the y axis to a logarithmic one. */
  logarithmic?: boolean;
}

/** A figure: its legend, its panels side by side, what to see in them, and the same as a table. */
export function figure(spec: FigureSpec): HTMLElement {
  const panels = spec.panels.map((panel) => new Panel(panel));
  const hidden = new Set<number>();
  const lines = spec.panels.flatMap((panel) => panel.lines);
  const legend = new Legend(spec.subjects, lines, hidden, (subject) => {
    if (!hidden.delete(subject)) hidden.add(subject);
    for (const panel of panels) panel.setHidden(subject, hidden.has(subject));
  });
  onThemeChange(() => {
    legend.render();
    for (const panel of panels) panel.redraw();
  });
  const label = `${spec.id}-title`;
  return h(
    'figure',
    { id: spec.id, 'aria-labelledby': label },
    h(
      'div',
      { class: 'figure-head' },
      h('h3', { id: label }, spec.title),
      h('div', { class: 'controls' }, legend.root, spec.logarithmic ? scaleSwitch(panels) : null),
    ),
    h(
      'div',
      { class: spec.panels.length > 1 ? 'panels' : 'panels single' },
      ...panels.map((panel) => panel.root),
    ),
    h('figcaption', {}, ...spec.caption),
    h(
      'details',
      { class: 'numbers' },
      h('summary', {}, 'The same as a table'),
      ...spec.panels.map((panel) => readings(panel)),
    ),
  );
}

function scaleSwitch(panels: Panel[]): HTMLElement {
  const button = h(
    'button',
    { type: 'button', 'aria-pressed': 'false', class: 'scale' },
    'Logarithmic y axis',
  );
  button.addEventListener('click', () => {
    const logarithmic = button.getAttribute('aria-pressed') !== 'true';
    button.setAttribute('aria-pressed', String(logarithmic));
    for (const panel of panels) panel.setLogarithmic(logarithmic);
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
        const detail = ` ${interval(point.estimate, panel.format)}; ${point.counts}`;
        return h(
          'td',
          { class: 'words' },
          h('strong', {}, panel.format(point.estimate.value)),
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
