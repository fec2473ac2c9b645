import { Bands, type BandsSpec } from '../chart/bands.ts';
import { chartsFigure } from '../chart/figure.ts';
import { h } from '../dom.ts';
import { unbroken } from '../format.ts';
import type { Check, Figure } from '../report.ts';
import { scrollingTable } from '../table/table.ts';
import { quantity, intervalOf } from '../table/cell.ts';
import { marks, written } from '../units.ts';

/** A figure with its curves, and what was said about it. */
export function simulated(shown: Figure, checks: Check[]): HTMLElement {
  const { x, y } = shown;
  const spec: BandsSpec = {
    title: shown.title,
    xLabel: x.label,
    yLabel: y.label,
    xLogarithmic: x.logarithmic,
    curves: shown.curves.map((curve, subject) => ({ ...curve, subject })),
    marks: shown.marks,
    overload: shown.overload,
    words: (value) => `${x.label}: ${written(value, x.unit)}`,
    xTicks: marks(x.unit),
    unit: y.unit,
  };
  return chartsFigure({
    id: shown.id,
    title: shown.place === '' ? shown.title : `${shown.place}: ${shown.title}`,
    legend: shown.curves.length > 1 ? shown.curves.map(({ name }, subject) => ({ name, subject })) : [],
    charts: [new Bands(spec, y.logarithmic)],
    sample: 'marked',
    logarithmic: y.logarithmic ? 'at first' : 'on request',
    caption: [shown.caption, ...checks.map(said)],
    tables: () => shown.curves.map((curve) => table(shown, curve)),
  });
}

function said({ statement, holds, evidence }: Check): HTMLElement {
  const verdict = h('strong', { class: holds ? 'held' : 'missed' }, holds ? 'Holds: ' : 'Does not hold: ');
  return h(
    'span',
    { class: 'said' },
    h('strong', {}, 'In the paper: '),
    unbroken(`${statement} `),
    verdict,
    unbroken(`${evidence}.`),
  );
}

function table({ x, y }: Figure, { name, points }: Figure['curves'][number]): HTMLElement {
  const rows = points.map((point) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, written(point.x, x.unit)),
      quantity(point.y.value, y.unit, 'main'),
      intervalOf(point.y, y.unit),
      h('td', { class: 'words' }, point.note),
    ),
  );
  const label = name === '' ? y.label : `${y.label}, ${name}`;
  return scrollingTable(
    label,
    [{ words: `${x.label}; ${name}` }, y.label, '95\u00a0% interval', { words: '' }],
    rows,
  );
}
