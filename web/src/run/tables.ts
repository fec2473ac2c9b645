import { h } from '../dom.ts';
import { count, number, seconds, setting } from '../format.ts';
import type { PhaseName, Quantiles, RunReport, Unit } from '../report.ts';
import { scrollingTable } from '../table/table.ts';
import { quantity, quantityWith, none, cellOf, part } from '../table/cell.ts';

export const PHASES: Record<PhaseName, string> = {
  total: 'In all',
  queued: 'Waiting to begin',
  dns: 'Looking up the name',
  connect: 'Connecting',
  tls: 'TLS handshake',
  sending: 'Sending the body',
  processing: 'Processing',
  transfer: 'Transfer',
  server: 'By the server’s own account',
};

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
  const look = main ? 'main' : '';
  const figures = [q.mean, q.p50, q.p90, q.p99, q.p999, q.max];
  return [
    ...figures.map((x) => (q.count > 0 ? quantity(x, 'seconds', look) : none(look))),
    quantity(q.count, 'count', look),
  ];
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
      quantity(n, 'count', 'main'),
      summary.requests > 0 ? quantity(n / summary.requests, 'percent') : none(),
    ),
  );
}

function otherRows({ summary, unit }: RunReport): HTMLTableRowElement[] {
  const { rate, connections, client } = summary;
  const { lag } = client;
  const words = (text: string): HTMLElement => h('td', { class: 'main' }, text);
  const rows: [string, HTMLElement][] = [
    [`${unit} offered`, quantity(rate.offered, 'rate', 'main')],
    [
      unit === 'sessions' ? 'sessions completed' : 'requests answered',
      quantity(rate.achieved, 'rate', 'main'),
    ],
    ['bodies received', quantity(summary.bytes, 'bytes', 'main')],
    ['connections opened', quantity(connections.opened, 'count', 'main')],
    ['requests on an open connection', quantity(connections.reused, 'count', 'main')],
    ['SYNs sent again', quantity(connections.syn_retransmits, 'count', 'main')],
    [
      'processor used by the busiest thread',
      cellOf([part(client.cpu, 'percent')], 'main', `${number(client.cpu * 100)}\u00a0%`),
    ],
    [
      'lateness of the generator, 99th percentile',
      lag.count > 0
        ? cellOf(
            [part(lag.p99, 'seconds'), part(lag.max, 'seconds', 'at most')],
            'main',
            `${seconds(lag.p99)}, at most ${seconds(lag.max)}`,
          )
        : words('it followed no schedule'),
    ],
    ['whether the figures are the server’s', words(client.valid ? 'valid' : 'not valid')],
  ];
  return rows.map(([what, cell]) => h('tr', {}, h('th', { scope: 'row' }, what), cell));
}

function classes({ summary }: RunReport): HTMLElement[] {
  const all = Object.entries(summary.sessions.by_class);
  if (all.length === 0) return [];
  const rows = all.map(([name, c]) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, name),
      quantity(c.started, 'count'),
      quantity(c.completed, 'count'),
      c.started > 0 ? quantity(c.completed / c.started, 'percent', 'main') : none('main'),
      ...[c.timeout, c.refused, c.error, c.censored].map((n) => quantity(n, 'count')),
      ...[c.duration.mean, c.duration.p50, c.duration.p90].map((x) =>
        c.duration.count > 0 ? quantity(x, 'seconds') : none(),
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
  const unitOf = (name: string): Unit => {
    if (/^(errors|failed|completed)/.test(name)) return 'percent';
    return name.startsWith('rate') ? 'rate' : 'seconds';
  };
  const rows = all.map(({ objective, measured, met }) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('code', {}, objective)),
      measured === null
        ? h('td', { class: 'main' }, 'not measured')
        : quantity(measured, unitOf(objective), 'main'),
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
      quantity(row.count, 'count', 'main'),
      quantity(row.failed, 'count'),
      quantity(row.bytes, 'bytes'),
      ...[row.connect, row.processing, row.transfer, row.total].map((q) =>
        q.count > 0
          ? quantityWith(
              part(q.mean, 'seconds'),
              [part(q.p99, 'seconds', '99th percentile')],
              h('small', { class: 'under' }, seconds(q.p99)),
            )
          : none(),
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
