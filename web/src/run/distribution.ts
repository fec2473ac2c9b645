import { Dots, type Dot } from '../chart/dots.ts';
import { chartsFigure } from '../chart/figure.ts';
import { Trace, type TraceLine } from '../chart/trace.ts';
import { h } from '../dom.ts';
import { bytes, count, seconds, ticks } from '../format.ts';
import type { Distribution, RunReport } from '../report.ts';
import { scrollingTable } from '../table/table.ts';
import { PHASES } from './tables.ts';
import { entries } from './time.ts';
import { quantity } from '../table/cell.ts';

/** All requests side by side, from the quickest to the slowest. */
export function distribution(report: RunReport): HTMLElement | null {
  const { distributions } = report;
  if (distributions.length === 0) return null;
  const chart = new Trace(
    {
      title: 'Latency by percentile',
      xLabel: 'Share of requests that took so long or less',
      yLabel: 'Time',
      xs: places(distributions),
      lines: lines(distributions),
      words: (x) => `${nines(x)} took so long or less`,
      splits: [0, Math.log10(2), ...Array.from({ length: 9 }, (_, i) => i + 1)],
      xTicks: (xs) => xs.map(nines),
      unit: 'seconds',
    },
    true,
  );
  return h(
    'section',
    { id: 'distribution', 'aria-labelledby': 'distribution-title' },
    h('h2', { id: 'distribution-title' }, 'The whole distribution'),
    chartsFigure({
      id: 'percentiles',
      title: 'How long did the slow ones take?',
      legend: entries(lines(distributions)),
      logarithmic: 'at first',
      charts: [chart],
      sample: 'plain',
      caption: [
        'Time by percentile; every step to the right is a tenth of what was left. The last point of a line is the slowest of all. ' +
          'Flat stretches with steps between them are several kinds of request, or requests that met something that others did not, such as a SYN sent again after a second.',
      ],
      tables: () => [table(distributions)],
    }),
  );
}

/** What matters most has the plain line; the server's own account is only there where it is told. */
const LOOKS = {
  connect: 0,
  total: 1,
  processing: 2,
  transfer: 3,
  server: 4,
  queued: 5,
  sending: 6,
  tls: 7,
  dns: 8,
} as const;

function places(distributions: Distribution[]): number[] {
  const all = distributions.flatMap((d) => d.curve.map(([x]) => x));
  return [...new Set(all)].sort((a, b) => a - b);
}

function lines(distributions: Distribution[]): TraceLine[] {
  const xs = places(distributions);
  return distributions.map(({ phase, curve }) => {
    const at = new Map(curve);
    return {
      name: PHASES[phase],
      subject: LOOKS[phase],
      ys: xs.map((x) => at.get(x) ?? null),
      bridged: true,
    };
  });
}

/** `99.9 %` for three nines. */
function nines(n: number): string {
  const share = 100 * (1 - 10 ** -n);
  const digits = Math.max(0, Math.ceil(n - 1e-9) - 2);
  return `${share
    .toFixed(Math.min(digits, 8))
    .replace(/(\.\d*?)0+$/, '$1')
    .replace(/\.$/, '')}\u00a0%`;
}

function table(distributions: Distribution[]): HTMLElement {
  const rows = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999].map((share) => {
    const n = -Math.log10(1 - share);
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, nines(n)),
      ...distributions.map((d) => quantity(read(d, n), 'seconds')),
    );
  });
  const longest = h(
    'tr',
    {},
    h('th', { scope: 'row' }, 'the slowest'),
    ...distributions.map((d) => quantity(d.quantiles.max, 'seconds')),
  );
  return scrollingTable(
    'Latency by percentile',
    [{ words: 'Share' }, ...distributions.map((d) => PHASES[d.phase])],
    [...rows, longest],
  );
}

/** The first point of a curve at or beyond so many nines. */
function read(d: Distribution, n: number): number | null {
  const point = d.curve.find(([x]) => x >= n - 1e-6);
  return point && n <= Math.log10(d.quantiles.count) ? point[1] : null;
}

/** Size against transfer time; `null` where no body came. */
export function sizes(report: RunReport): HTMLElement | null {
  if (report.sizes.length === 0) return null;
  // Below a microsecond, the rest of the response came with its first byte.
  const dots = report.sizes
    .map((field): Dot => ({ x: field.bytes, y: Math.max(field.transfer, 1e-6), count: field.count }))
    .sort((a, b) => a.x - b.x);
  const chart = new Dots({
    title: 'Size and transfer time',
    xLabel: 'Size of the body',
    yLabel: 'Transfer time',
    dots,
    xTicks: ticks.bytes,
    unit: 'seconds',
    spot: (dot) => ({
      words: `about ${bytes(dot.x)} in ${seconds(dot.y)}`,
      readings: [{ name: 'responses', subject: null, value: count(dot.count), details: [] }],
    }),
  });
  return h(
    'section',
    { id: 'sizes', 'aria-labelledby': 'sizes-title' },
    h('h2', { id: 'sizes-title' }, 'Size and transfer time'),
    chartsFigure({
      id: 'transfer',
      title: 'Did large responses take longer?',
      legend: [],
      charts: [chart],
      sample: 'plain',
      caption: [
        'Complete responses with a body. A dot stands for all that would fall on it, the stronger the more; none is left out. Times below a microsecond are drawn at one.',
      ],
      tables: () => [sizeTable(dots)],
    }),
  );
}

function sizeTable(dots: Dot[]): HTMLElement {
  const decades = [...new Set(dots.map((dot) => Math.floor(Math.log10(dot.x))))];
  const rows = decades.map((decade) => {
    const inside = dots.filter((dot) => Math.floor(Math.log10(dot.x)) === decade);
    const times = inside.map((dot) => dot.y);
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, `${bytes(10 ** decade)} to ${bytes(10 ** (decade + 1))}`),
      quantity(
        inside.reduce((sum, dot) => sum + dot.count, 0),
        'count',
        'main',
      ),
      quantity(Math.min(...times), 'seconds'),
      quantity(Math.max(...times), 'seconds'),
    );
  });
  return scrollingTable(
    'Responses by size',
    [{ words: 'Size' }, 'Responses', 'Quickest, about', 'Slowest, about'],
    rows,
  );
}
