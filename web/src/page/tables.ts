import { swatch } from '../chart/legend.ts';
import type { ClassPoint, ClientReading, ExperimentReport, Point } from '../report.ts';
import { h } from '../dom.ts';
import { count, levelInWords, percent, seconds } from '../format.ts';
import { scrollingTable } from '../table/table.ts';
import { axisName } from './curves.ts';
import { quantity, quantityWith, intervalOf, none, cellOf, part, share } from '../table/cell.ts';

/** The figures as numbers: intervals and raw counts, subject beside subject. */
export function comparison(report: ExperimentReport): HTMLElement {
  return h(
    'section',
    { id: 'comparison', 'aria-labelledby': 'comparison-title' },
    h('h2', { id: 'comparison-title' }, 'Side by side'),
    h('h3', {}, 'Sessions'),
    scrollingTable(
      'Sessions completed and their durations',
      [
        { words: axisName(report) },
        { words: 'Class' },
        { words: 'Subject' },
        'Completed',
        '95\u00a0% interval',
        'Sessions',
        'Median',
        '95\u00a0% interval',
        'Mean',
        '90th percentile',
      ],
      report.points.length > 0 ? sessionRows(report) : [],
    ),
    h('h3', {}, 'Requests, and where their time went'),
    h(
      'p',
      { class: 'hint' },
      'Mean over all requests and, small, the 99th percentile. Connecting: waiting to be let in. Processing: from the request to the first byte of the response. Transfer: receiving the rest.',
    ),
    scrollingTable(
      'Requests by phase',
      [
        { words: axisName(report) },
        { words: 'Subject' },
        'Requests',
        'Connecting',
        'Processing',
        'Transfer',
        { words: 'Failed' },
      ],
      requestRows(report),
    ),
  );
}

function sessionRows(report: ExperimentReport): HTMLTableRowElement[] {
  return inOrder(report).flatMap(({ level, points }) =>
    report.classes.flatMap((group, g) =>
      points.map((point, p) => {
        const first = g === 0 && p === 0;
        const found = point.classes.find((c) => c.name === group.name);
        return h(
          'tr',
          { class: first ? 'group' : p === 0 ? 'subgroup' : '' },
          first &&
            h('th', { scope: 'rowgroup', rowspan: String(points.length * report.classes.length) }, level),
          p === 0 && h('th', { scope: 'rowgroup', rowspan: String(points.length) }, group.name),
          subject(report, point),
          ...sessionCells(found),
        );
      }),
    ),
  );
}

function sessionCells(found: ClassPoint | undefined): HTMLElement[] {
  const d = found?.duration ?? null;
  return [
    quantity(found?.share?.value, 'percent', 'main'),
    intervalOf(found?.share, 'percent'),
    found ? share(found.completed, found.started) : none(),
    quantity(d?.median.value, 'seconds', 'main'),
    intervalOf(d?.median, 'seconds'),
    quantity(d?.mean.value, 'seconds'),
    quantity(d?.p90.value, 'seconds'),
  ];
}

function requestRows(report: ExperimentReport): HTMLTableRowElement[] {
  return inOrder(report).flatMap(({ level, points }) =>
    points.map((point, p) => {
      const { requests, phases, errors } = point.requests;
      return h(
        'tr',
        { class: p === 0 ? 'group' : '' },
        p === 0 && h('th', { scope: 'rowgroup', rowspan: String(points.length) }, level),
        subject(report, point),
        quantity(requests, 'count'),
        ...[phases.connect, phases.processing, phases.transfer].map((phase) =>
          phase.count > 0
            ? quantityWith(
                part(phase.mean, 'seconds'),
                [part(phase.p99, 'seconds', '99th percentile')],
                h('small', {}, ` ${seconds(phase.p99)}`),
              )
            : none(),
        ),
        h(
          'td',
          { class: 'words' },
          errors.length > 0 ? errors.map((e) => `${e.kind}: ${count(e.count)}`).join(', ') : 'none',
        ),
      );
    }),
  );
}

function subject(report: ExperimentReport, point: Point): HTMLElement {
  const index = report.subjects.indexOf(point.subject);
  return h('th', { scope: 'row', class: 'subject' }, swatch(index), point.subject);
}

function inOrder(report: ExperimentReport): { level: string; points: Point[] }[] {
  return [...new Set(report.points.map((point) => point.level))]
    .sort((a, b) => a - b)
    .map((x) => ({
      level: levelInWords(x, report.factor.unit),
      points: report.subjects.flatMap((name) =>
        report.points.filter((point) => point.level === x && point.subject === name),
      ),
    }));
}

/** Every test as it was run, with the way to its raw rows. */
export function tests(report: ExperimentReport): HTMLElement {
  const rows = report.tests.map((test) =>
    h(
      'tr',
      { class: test.state === 'measured' ? '' : 'excluded' },
      h(
        'th',
        { scope: 'row', class: 'subject' },
        swatch(report.subjects.indexOf(test.subject)),
        h('a', { href: encodeURI(`${test.directory}/`) }, test.directory.replace(/^tests\//, '')),
      ),
      quantity(test.offered, 'rate'),
      quantity(test.goodput, 'rate'),
      test.client ? generator(test.client) : none(),
      h(
        'td',
        { class: 'words' },
        h('span', { class: `state ${test.state.replace(' ', '-')}` }, test.state),
        test.why.length > 0 && h('small', {}, ` ${test.why.join('; ')}`),
      ),
      h('td', { class: 'words' }, ...links(test.directory, test.files)),
    ),
  );
  return h(
    'div',
    {},
    h('h3', { id: 'tests' }, 'The tests, in the order in which they were run'),
    h(
      'p',
      { class: 'hint' },
      'The raw rows lie beside this file: Parquet for DuckDB or pandas, the rest is text. The generator’s use of a processor and its lateness (99th percentile) tell whether it kept up with what it was to offer.',
    ),
    scrollingTable(
      'Tests',
      [{ words: 'Test' }, 'Offered', 'Completed', 'Generator', { words: 'State' }, { words: 'Raw data' }],
      rows,
    ),
  );
}

function generator({ cpu, lag_p99 }: ClientReading): HTMLElement {
  return cellOf([part(cpu, 'percent')], '', `${percent(Math.min(1, cpu))}, ${seconds(lag_p99)} late`);
}

/** The tables first, since they are what one comes for; the rest on request. */
function links(directory: string, files: string[]): HTMLElement[] {
  const link = (file: string): HTMLElement =>
    h('a', { class: 'file', href: encodeURI(`${directory}/${file}`) }, file);
  const tables = files.filter((file) => file.endsWith('.parquet'));
  const others = files.filter((file) => !file.endsWith('.parquet'));
  const rest = h('details', {}, h('summary', {}, `${others.length} more`), ...others.map(link));
  return [...tables.map(link), ...(others.length > 0 ? [rest] : [])];
}
