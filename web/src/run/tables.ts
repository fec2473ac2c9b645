import { h, scrollingTable } from '../dom.ts';
import { bytes, count, number, percent, perSecond, seconds, setting } from '../format.ts';
import type { PhaseName, Quantiles, RunReport } from '../report.ts';

export const PHASES: Record<PhaseName, string> = {
  total: 'In all',
  connect: 'Connecting',
  processing: 'Processing',
  transfer: 'Transfer',
  server: 'By the server’s own account',
};

export const NONE = '–';

const FIGURES = ['Mean', 'Median', '90th', '99th', '99.9th', 'Longest', 'Count'];

/** The figures of the summary, as tables. */
export function overview(report: RunReport): HTMLElement {
  const { summary } = report;
  return h(
    'section',
    { id: 'figures', 'aria-labelledby': 'figures-title' },
    h('h2', { id: 'figures-title' }, 'The run in figures'),
    h(
      'p',
      { class: 'hint' },
      `Of what was due in the measuring window of ${setting(summary.duration)}, followed to its end.`,
    ),
    h('h3', {}, 'Where the time of requests went'),
    scrollingTable('Latency by phase', [{ words: 'Phase' }, ...FIGURES], phaseRows(report)),
    ...classes(report),
    ...objectives(report),
    h(
      'div',
      { class: 'side-by-side' },
      h(
        'div',
        {},
        h('h3', {}, 'What became of the requests'),
        scrollingTable('Outcomes', [{ words: 'Outcome' }, 'Requests', 'Share'], outcomeRows(report)),
      ),
      h(
        'div',
        {},
        h('h3', {}, 'Connections and generator'),
        scrollingTable('Connections and generator', [{ words: 'Quantity' }, 'Figure'], otherRows(report)),
      ),
    ),
  );
}

function phaseRows(report: RunReport): HTMLTableRowElement[] {
  return report.distributions.map(({ phase, quantiles }) =>
    h('tr', {}, h('th', { scope: 'row' }, PHASES[phase]), ...quantileCells(quantiles, phase === 'total')),
  );
}

function quantileCells(q: Quantiles, main = false): HTMLElement[] {
  const figures = [q.mean, q.p50, q.p90, q.p99, q.p999, q.max].map((x) => (q.count > 0 ? seconds(x) : NONE));
  return [...figures, count(q.count)].map((text) => h('td', { class: main ? 'main' : '' }, text));
}

function outcomeRows({ summary }: RunReport): HTMLTableRowElement[] {
  const failed: Record<string, string> = {
    connect: 'no connection',
    timeout: 'took longer than allowed',
    reset: 'cut off by the server',
    protocol: 'no HTTP',
    body: 'a body that is not what was asked for',
  };
  const answered = Object.entries(summary.status).map(([status, n]): [string, number] => [
    status === '0' ? 'answered without a status' : `status ${status}`,
    n,
  ]);
  const errors = Object.entries(summary.errors)
    .filter(([, n]) => n > 0)
    .map(([kind, n]): [string, number] => [`error: ${kind}, ${failed[kind] ?? kind}`, n]);
  const known = [...answered, ...errors];
  const rest = summary.requests - known.reduce((sum, [, n]) => sum + n, 0);
  if (rest > 0) known.push(['cut off by the end of the run', rest]);
  return known.map(([what, n]) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, what),
      h('td', { class: 'main' }, count(n)),
      h('td', {}, summary.requests > 0 ? percent(n / summary.requests) : NONE),
    ),
  );
}

function otherRows({ summary, unit }: RunReport): HTMLTableRowElement[] {
  const { rate, connections, client } = summary;
  const rows: [string, string][] = [
    [`${unit} offered`, perSecond(rate.offered)],
    [unit === 'sessions' ? 'sessions completed' : 'requests answered', perSecond(rate.achieved)],
    ['bodies received', bytes(summary.bytes)],
    ['connections opened', count(connections.opened)],
    ['requests on an open connection', count(connections.reused)],
    ['SYNs sent again', count(connections.syn_retransmits)],
    ['processor used by the busiest thread', `${number(client.cpu * 100)}\u00a0%`],
    [
      'lateness of the generator, 99th percentile',
      client.lag.count > 0
        ? `${seconds(client.lag.p99)}, at most ${seconds(client.lag.max)}`
        : 'it followed no schedule',
    ],
  ];
  rows.push(['whether the figures are the server’s', client.valid ? 'valid' : 'not valid']);
  return rows.map(([what, figure]) =>
    h('tr', {}, h('th', { scope: 'row' }, what), h('td', { class: 'main' }, figure)),
  );
}

function classes({ summary }: RunReport): HTMLElement[] {
  const all = Object.entries(summary.sessions.by_class);
  if (all.length === 0) return [];
  const rows = all.map(([name, c]) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, name),
      h('td', {}, count(c.started)),
      h('td', {}, count(c.completed)),
      h('td', { class: 'main' }, c.started > 0 ? percent(c.completed / c.started) : NONE),
      ...[c.timeout, c.refused, c.error, c.censored].map((n) => h('td', {}, count(n))),
      ...[c.duration.mean, c.duration.p50, c.duration.p90].map((x) =>
        h('td', {}, c.duration.count > 0 ? seconds(x) : NONE),
      ),
    ),
  );
  const head = [
    'Started',
    'Completed',
    'Share',
    'Timeout',
    'Refused',
    'Error',
    'Cut off',
    'Mean',
    'Median',
    '90th',
  ];
  return [
    h('h3', {}, 'Sessions, class by class'),
    scrollingTable('Sessions by class', [{ words: 'Class' }, ...head], rows),
  ];
}

function objectives({ summary }: RunReport): HTMLElement[] {
  const all = summary.objectives ?? [];
  if (all.length === 0) return [];
  const figure = (name: string, x: number): string => {
    if (name.startsWith('errors')) return percent(x);
    return name.startsWith('rate') ? perSecond(x) : seconds(x);
  };
  const rows = all.map(({ objective, measured, met }) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('code', {}, objective)),
      h('td', { class: 'main' }, measured === null ? 'not measured' : figure(objective, measured)),
      h('td', {}, h('span', { class: met ? 'state' : 'state broken' }, met ? 'met' : 'missed')),
    ),
  );
  return [
    h('h3', {}, 'Objectives'),
    scrollingTable('Objectives', [{ words: 'Objective' }, 'Measured', 'Verdict'], rows),
  ];
}

/** What was asked for most; `null` when it was one and the same. */
export function urls({ urls: { distinct, complete, rows } }: RunReport): HTMLElement | null {
  if (rows.length === 0) return null;
  const cells = rows.map((row) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row', class: 'url' }, row.url),
      h('td', { class: 'main' }, count(row.count)),
      h('td', {}, count(row.failed)),
      h('td', {}, row.bytes === null ? NONE : bytes(row.bytes)),
      ...[row.connect, row.processing, row.transfer, row.total].map((q) =>
        h(
          'td',
          {},
          q.count > 0 ? seconds(q.mean) : NONE,
          q.count > 0 && h('small', { class: 'under' }, seconds(q.p99)),
        ),
      ),
    ),
  );
  const all = complete ? count(distinct) : `more than ${count(distinct)}`;
  const which =
    distinct > rows.length || !complete
      ? `The ${count(rows.length)} most frequent of ${all} different URLs. `
      : '';
  return h(
    'section',
    { id: 'urls', 'aria-labelledby': 'urls-title' },
    h('h2', { id: 'urls-title' }, 'What was asked for'),
    h(
      'p',
      { class: 'hint' },
      `${which}Times are means and, small, 99th percentiles; sizes are means of complete responses. Failed: without a complete response, or with a status of 400 or more.`,
    ),
    scrollingTable(
      'Requests by URL',
      [{ words: 'URL' }, 'Requests', 'Failed', 'Size', 'Connecting', 'Processing', 'Transfer', 'In all'],
      cells,
    ),
  );
}
