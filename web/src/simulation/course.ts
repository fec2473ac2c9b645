import type { TraceSpec } from '../chart/trace.ts';
import { h } from '../dom.ts';
import { clock, count } from '../format.ts';
import { traces } from '../run/time.ts';
import type { Replication, ReplicationFigure, TimeChart } from '../report.ts';

/** One replication from its beginning to its end. */
export function overTime(course: Replication): HTMLElement {
  const { arrivals, ends } = course;
  return h(
    'section',
    { id: 'time', 'aria-labelledby': 'time-title' },
    h('h2', { id: 'time-title' }, 'One replication over time'),
    h(
      'p',
      { class: 'hint' },
      `Simulated time, in ${count(ends.length)} intervals of ${count(arrivals)} arrivals each. `,
      course.warmup > 0 && 'Shaded: the warm-up, which is not counted. ',
      'Drag over a plot to zoom, double-click to see all of it again.',
    ),
    ...course.figures.map((figure) => shown(course, figure)),
  );
}

function shown(course: Replication, figure: ReplicationFigure): HTMLElement {
  const names = [...new Set(figure.charts.flatMap((chart) => chart.lines.map((line) => line.name)))];
  const ends = figure.beginning ? course.beginning : course.ends;
  // Short dashes cannot be followed where a line goes up and down at every point.
  const subject = (name: string): number => [1, 4, 3, 0, 2][names.indexOf(name) % 5] ?? 1;
  return traces({
    id: figure.id,
    title: figure.title,
    specs: figure.charts.map((chart) => spec(ends, course.warmup, chart, subject)),
    caption: [figure.caption],
    ...(figure.logarithmic === null
      ? {}
      : { logarithmic: figure.logarithmic ? ('at first' as const) : ('on request' as const) }),
  });
}

function spec(
  ends: number[],
  warmup: number,
  chart: TimeChart,
  subject: (name: string) => number,
): TraceSpec {
  const length = ends.at(-1) ?? 0;
  const began = (i: number): number => ends[i - 1] ?? 0;
  // A value stands in the middle of its interval.
  const xs = ends.map((end, i) => (began(i) + end) / 2);
  return {
    title: chart.title,
    xLabel: 'Simulated time',
    yLabel: chart.label,
    xs,
    words: (x) => {
      const i = xs.indexOf(x);
      return `${clock(began(i), length)} to ${clock(ends[i] ?? 0, length)}`;
    },
    xTicks: (marks) => marks.map((x) => clock(x, length)),
    byTheClock: length >= 600,
    counted: [Math.min(warmup, length), length],
    lines: chart.lines.map(({ name, values, ranges }) => ({
      name,
      subject: subject(name),
      ys: values,
      bridged: true,
      ...(ranges.length > 0 ? { ranges } : {}),
    })),
    unit: chart.unit,
  };
}
