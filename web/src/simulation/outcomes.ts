import type { Estimate, OutcomeRow, Unit } from '../report.ts';
import { h } from '../dom.ts';
import { plusMinus } from '../format.ts';
import { scrollingTable } from '../table/table.ts';
import { ends, none, cellOf, part } from '../table/cell.ts';
import { writing } from '../units.ts';

/** What came out for all requests and for each class. */
export function outcomes(rows: OutcomeRow[]): HTMLElement | null {
  if (rows.length === 0) return null;
  const body = rows.map((row) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, row.name),
      cell(row.rejected, 'percent'),
      cell(row.mean, 'seconds'),
      cell(row.p50, 'seconds'),
      cell(row.p90, 'seconds'),
      cell(row.p99, 'seconds'),
      cell(row.throughput, 'number'),
    ),
  );
  return h(
    'section',
    { id: 'outcome', 'aria-labelledby': 'outcome-title' },
    h('h2', { id: 'outcome-title' }, 'What came out'),
    h(
      'p',
      { class: 'hint' },
      'Of all replications together, each with half its 95\u00a0% confidence interval. Latencies are those of the requests that were served.',
    ),
    scrollingTable(
      'What came out',
      [
        { words: 'Requests' },
        'Rejected',
        'Mean latency',
        'Median',
        '90th percentile',
        '99th percentile',
        'Served per second',
      ],
      body,
    ),
  );
}

function cell(estimate: Estimate | null, unit: Unit): HTMLElement {
  if (!estimate) return none();
  const [figure, half] = plusMinus(estimate, writing(unit));
  return cellOf(
    [part(estimate.value, unit), ...ends(estimate, unit)],
    'main',
    figure,
    half !== '' && h('span', { class: 'half' }, half),
  );
}
