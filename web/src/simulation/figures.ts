import { Bands, type BandsSpec } from '../chart/bands.ts';
import { chartsFigure } from '../chart/figure.ts';
import { h, scrollingTable } from '../dom.ts';
import { bytes, interval, percent, perSecond, plain, seconds, ticks, unbroken } from '../format.ts';
import type { Check, Figure, Unit } from '../report.ts';

/** How figures are written: one by itself, and the marks of an axis. */
export const WRITTEN: Record<
  Unit,
  { one: (value: number) => string; ticks: (values: number[]) => string[] }
> = {
  plain: { one: plain, ticks: ticks.plain },
  percent: { one: percent, ticks: ticks.percent },
  seconds: { one: seconds, ticks: ticks.seconds },
  bytes: { one: bytes, ticks: ticks.bytes },
  rate: { one: perSecond, ticks: (values) => values.map((value) => `${plain(value)}/s`) },
};

/** A figure with its curves, and what was said about it. */
export function simulated(figure: Figure, checks: Check[]): HTMLElement {
  const { x, y } = figure;
  const spec: BandsSpec = {
    title: figure.title,
    xLabel: x.label,
    yLabel: y.label,
    xLogarithmic: x.logarithmic,
    curves: figure.curves.map((curve, subject) => ({ ...curve, subject })),
    marks: figure.marks,
    overload: figure.overload,
    words: (value) => `${x.label}: ${WRITTEN[x.unit].one(value)}`,
    xTicks: WRITTEN[x.unit].ticks,
    format: WRITTEN[y.unit].one,
    ticks: WRITTEN[y.unit].ticks,
  };
  return chartsFigure({
    id: figure.id,
    title: figure.place === '' ? figure.title : `${figure.place}: ${figure.title}`,
    legend: figure.curves.length > 1 ? figure.curves.map(({ name }, subject) => ({ name, subject })) : [],
    charts: [new Bands(spec, y.logarithmic)],
    sample: 'marked',
    logarithmic: y.logarithmic ? 'at first' : 'on request',
    caption: [figure.caption, ...checks.map(said)],
    tables: () => figure.curves.map((curve) => table(figure, curve)),
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
      h('th', { scope: 'row' }, WRITTEN[x.unit].one(point.x)),
      h('td', { class: 'main' }, WRITTEN[y.unit].one(point.y.value)),
      h('td', {}, interval(point.y, WRITTEN[y.unit].one)),
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
