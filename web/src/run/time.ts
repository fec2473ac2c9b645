import { chartsFigure } from '../chart/figure.ts';
import type { Entry } from '../chart/legend.ts';
import { Trace, type TraceLine, type TraceSpec } from '../chart/trace.ts';
import { h } from '../dom.ts';
import { clock, plain, setting, ticks } from '../format.ts';
import type { Percentiles, RunReport } from '../report.ts';
import { scrollingTable } from '../table/table.ts';
import { quantity } from '../table/cell.ts';

/** The run from its start to its end. */
export function overTime(report: RunReport): HTMLElement {
  const { width } = report.timeline;
  return h(
    'section',
    { id: 'time', 'aria-labelledby': 'time-title' },
    h('h2', { id: 'time-title' }, 'Over time'),
    h(
      'p',
      { class: 'hint' },
      `One point for every ${setting(width)}. Shaded: outside the measuring window. Drag over a plot to zoom, double-click to see all of it again.`,
    ),
    rates(report),
    latency(report),
    connections(report),
    generator(report),
  );
}

/** What all plots over time have in common. */
function frame(report: RunReport): Omit<TraceSpec, 'title' | 'yLabel' | 'lines' | 'unit' | 'ticks'> {
  const { timeline, steps } = report;
  const length = timeline.due.length * timeline.width;
  return {
    xLabel: 'Since the start of the run',
    xs: timeline.due.map((_, i) => Number((i * timeline.width).toPrecision(12))),
    words: (x) => `${clock(x, length)} to ${clock(x + timeline.width, length)}`,
    xTicks: (xs) => xs.map((x) => clock(x, length)),
    counted: report.window,
    ...(steps.ramp ? { boundaries: boundaries(report) } : {}),
  };
}

/** Where a ramp went from one level to the next. */
function boundaries({ steps }: RunReport): { x: number; name: string }[] {
  return steps.held.map(({ from, level }) => ({ x: from, name: plain(level) }));
}

function line(name: string, subject: number, ys: (number | null)[], bridged = false): TraceLine {
  return { name, subject, ys, bridged };
}

function rates(report: RunReport): HTMLElement {
  const { begun, answered, errors } = report.timeline;
  const lines = [
    line('begun', 0, begun),
    line('answered', 1, answered),
    line('without a response', 3, errors),
  ];
  return traces({
    id: 'rates',
    title: 'How much was asked for, and how much answered?',
    specs: [
      {
        ...frame(report),
        title: 'Requests',
        yLabel: 'Requests per second',
        lines,
        unit: 'rate',
        ticks: ticks.plain,
      },
    ],
    caption: [
      'Requests begun, complete responses, and requests that ended without one, each counted when it happened.',
    ],
  });
}

function latency(report: RunReport): HTMLElement {
  const { timeline } = report;
  const panel = (title: string, of: Percentiles): TraceSpec => ({
    ...frame(report),
    title,
    yLabel: 'Time',
    lines: [
      line('median', 0, of.p50),
      line('90th percentile', 1, of.p90),
      line('99th percentile', 2, of.p99),
    ],
    unit: 'seconds',
  });
  return traces({
    id: 'latency',
    title: 'How long did it take, and in which phase?',
    logarithmic: 'at first',
    specs: [
      panel('(a) in all, from when it was due', timeline.total),
      panel('(b) connecting', timeline.connect),
      panel('(c) processing', timeline.processing),
      panel('(d) transfer', timeline.transfer),
    ],
    caption: [
      'Each request counts for the moment at which it was due. What the timeout or the end of the run cut off is shown with the time it had lasted by then.',
    ],
  });
}

function connections(report: RunReport): HTMLElement {
  const { opened, syn_retransmits, connect_timeouts } = report.timeline;
  const lines = [
    line('opened', 1, opened),
    line('SYNs sent again', 0, syn_retransmits),
    line('given up', 3, connect_timeouts),
  ];
  return traces({
    id: 'connections',
    title: 'Did connections come about?',
    specs: [
      {
        ...frame(report),
        title: 'Connections',
        yLabel: 'Per second',
        lines,
        unit: 'rate',
        ticks: ticks.plain,
      },
    ],
    caption: [
      'Connections established, SYNs that had to be sent again because nothing answered them, and connections given up at the timeout. ' +
        'SYNs count when the connection stood or was given up. Where many are sent again, a listen queue is too short for what arrives, or the server too slow to empty it.',
    ],
  });
}

function generator(report: RunReport): HTMLElement {
  const { cpu, lag } = report.timeline;
  const processor: TraceSpec = {
    ...frame(report),
    title: '(a) processor',
    yLabel: 'Share of one processor',
    lines: [line('busiest thread', 1, cpu, true)],
    unit: 'percent',
  };
  const lateness: TraceSpec = {
    ...frame(report),
    title: '(b) from when a request was due to when it was begun',
    yLabel: 'Lateness',
    lines: [line('median', 0, lag.p50), line('99th percentile', 2, lag.p99)],
    unit: 'seconds',
  };
  // In a closed loop nothing is due before it is begun.
  const late = lag.p99.some((y) => y !== null && y > 0);
  return traces({
    id: 'generator',
    title: 'Did the generator keep up?',
    specs: late ? [processor, lateness] : [processor],
    caption: [
      'A generator that is short of processor time, or late, measures itself. ',
      late ? '' : 'Nothing was begun later than it was due.',
    ],
  });
}

export interface Traces {
  id: string;
  title: string;
  specs: TraceSpec[];
  caption: string[];
  logarithmic?: 'at first' | 'on request';
}

export function traces({ specs, ...about }: Traces): HTMLElement {
  return chartsFigure({
    ...about,
    legend: entries(specs.flatMap((spec) => spec.lines)),
    charts: specs.map((spec) => new Trace(spec, about.logarithmic === 'at first')),
    sample: 'plain',
    tables: () => [table(specs)],
  });
}

/** Each line once, in the order of their looks. */
export function entries(lines: TraceLine[]): Entry[] {
  const named = new Map(lines.map(({ name, subject }) => [subject, { name, subject }]));
  return [...named.values()].sort((a, b) => a.subject - b.subject);
}

interface Column {
  name: string;
  cell: (i: number) => HTMLElement;
}

/** Every point of every plot of a figure; they share their x axis. */
function table(specs: TraceSpec[]): HTMLElement {
  const [first] = specs;
  const columns = specs.flatMap((spec) =>
    spec.lines.flatMap((l) => {
      const name =
        specs.length > 1 ? `${spec.title.replace(/^\(.\) /, '').split(',')[0] ?? ''}: ${l.name}` : l.name;
      const column = (name: string, at: (i: number) => number | null | undefined): Column => ({
        name,
        cell: (i) => quantity(at(i), spec.unit),
      });
      const ends = [0, 1].map((end) => column(end === 0 ? 'least' : 'greatest', (i) => l.ranges?.[i]?.[end]));
      return [column(name, (i) => l.ys[i]), ...(l.ranges ? ends : [])];
    }),
  );
  const rows = (first?.xs ?? []).map((x, i) =>
    h('tr', {}, h('th', { scope: 'row' }, first?.words(x)), ...columns.map((column) => column.cell(i))),
  );
  return scrollingTable(
    'The plots as numbers',
    [{ words: first?.xLabel ?? '' }, ...columns.map((c) => c.name)],
    rows,
  );
}
