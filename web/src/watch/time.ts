import type { TraceSpec } from '../chart/trace.ts';
import { h } from '../dom.ts';
import { clock } from '../format.ts';
import { traces } from '../run/time.ts';
import type { TimeChart, TimeFigure, WatchReport } from '../report.ts';

/** The watch from its beginning to its end; `null` when it looked only once. */
export function overTime(report: WatchReport): HTMLElement | null {
  const { looks, figures } = report;
  if (looks.length < 2 || figures.length === 0) return null;
  return h(
    'section',
    { id: 'time', 'aria-labelledby': 'time-title' },
    h('h2', { id: 'time-title' }, 'Over time'),
    h(
      'p',
      { class: 'hint' },
      'One point for every look. Drag over a plot to zoom, double-click to see all of it again.',
    ),
    ...figures.map((figure) => shown(looks, figure)),
  );
}

function shown(looks: number[], figure: TimeFigure): HTMLElement {
  const names = [...new Set(figure.charts.flatMap((chart) => chart.lines.map((line) => line.name)))];
  // Short dashes cannot be followed where a line goes up and down at every point.
  const subject = (name: string): number => [1, 4, 3, 0, 2][names.indexOf(name) % 5] ?? 1;
  return traces({
    id: figure.id,
    title: figure.title,
    specs: figure.charts.map((chart) => spec(looks, chart, subject)),
    caption: [figure.caption],
  });
}

function spec(looks: number[], chart: TimeChart, subject: (name: string) => number): TraceSpec {
  const length = looks.at(-1) ?? 0;
  return {
    title: chart.title,
    xLabel: 'Since the watch began',
    yLabel: chart.label,
    xs: looks,
    words: (x) => `up to ${clock(x, length)}`,
    xTicks: (marks) => marks.map((x) => clock(x, length)),
    byTheClock: length >= 600,
    counted: [looks[0] ?? 0, length],
    lines: chart.lines.map(({ name, values }) => ({
      name,
      subject: subject(name),
      ys: values,
      bridged: true,
    })),
    unit: chart.unit,
  };
}
