import { swatch } from '../chart/legend.ts';
import type { ClassPoint, ExperimentReport, Point } from '../report.ts';
import { h, scrollingTable } from '../dom.ts';
import { count, interval, levelInWords, percent, perSecond, seconds } from '../format.ts';
import { axisName } from './curves.ts';

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
  const none = '–';
  const d = found?.duration ?? null;
  const cells = [
    found?.share ? percent(found.share.value) : none,
    found?.share ? interval(found.share, percent) : none,
    found ? `${count(found.completed)} of ${count(found.started)}` : none,
    d ? seconds(d.median.value) : none,
    d ? interval(d.median, seconds) : none,
    d ? seconds(d.mean.value) : none,
    d ? seconds(d.p90.value) : none,
  ];
  return cells.map((text, i) => h('td', { class: i === 0 || i === 3 ? 'main' : '' }, text));
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
        h('td', {}, count(requests)),
        ...[phases.connect, phases.processing, phases.transfer].map((phase) =>
          h(
            'td',
            {},
            phase.count > 0 ? seconds(phase.mean) : '–',
            phase.count > 0 && h('small', {}, ` ${seconds(phase.p99)}`),
          ),
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
      h('td', {}, perSecond(test.offered)),
      h('td', {}, test.goodput === null ? '–' : perSecond(test.goodput)),
      h(
        'td',
        {},
        test.client ? `${percent(Math.min(1, test.client.cpu))}, ${seconds(test.client.lag_p99)} late` : '–',
      ),
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

/** The tables first, since they are what one comes for; the rest on request. */
function links(directory: string, files: string[]): HTMLElement[] {
  const link = (file: string): HTMLElement =>
    h('a', { class: 'file', href: encodeURI(`${directory}/${file}`) }, file);
  const tables = files.filter((file) => file.endsWith('.parquet'));
  const others = files.filter((file) => !file.endsWith('.parquet'));
  const rest = h('details', {}, h('summary', {}, `${others.length} more`), ...others.map(link));
  return [...tables.map(link), ...(others.length > 0 ? [rest] : [])];
}
