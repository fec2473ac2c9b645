import { h } from '../dom.ts';
import { moment } from '../format.ts';
import { facts, sources } from '../page/method.ts';
import { head } from '../page/opening.ts';
import { glossary } from '../page/words.ts';
import type { View } from '../view.ts';
import type { Table, WatchReport } from '../report.ts';
import { scrollingTable } from '../table/table.ts';
import { overTime } from './time.ts';
import { reported } from '../table/cell.ts';

export function watch(report: WatchReport): View {
  const parts: [string, HTMLElement | null][] = [
    ['Tables', tables(report.tables)],
    ['Over time', overTime(report)],
    ['Method', method(report)],
    ['Words', words()],
  ];
  const shown = parts.flatMap(([name, root]): [string, HTMLElement][] => (root ? [[name, root]] : []));
  return {
    title: report.title,
    version: report.version,
    opening: head(`${report.title} · watched · ${moment(report.started)}`, report.verdict, report.warnings),
    contents: shown.map(([name, root]) => [root.id, name]),
    sections: shown.map(([, root]) => root),
  };
}

function tables(all: Table[]): HTMLElement {
  return h(
    'section',
    { id: 'tables', 'aria-labelledby': 'tables-title' },
    h('h2', { id: 'tables-title' }, 'What was seen'),
    h(
      'p',
      { class: 'hint' },
      'After the tables of Almeida, Almeida and Yates, ',
      h('cite', {}, 'WebMonitor: a Tool for Measuring World-Wide Web Server Performance'),
      '.',
    ),
    ...all.flatMap(shown),
  );
}

function shown(table: Table): HTMLElement[] {
  const rows = table.rows.map(({ name, cells }) =>
    h('tr', {}, h('th', { scope: 'row' }, name), ...cells.map(reported)),
  );
  const place = table.place === '' ? '' : ` (${table.place})`;
  return [
    h('h3', { id: table.id }, table.title + place),
    h('p', { class: 'hint' }, table.hint),
    scrollingTable(table.title, [{ words: table.of }, ...table.columns], rows),
  ];
}

function method(report: WatchReport): HTMLElement {
  return h(
    'section',
    { id: 'method', 'aria-labelledby': 'method-title' },
    h('h2', { id: 'method-title' }, 'How it was watched'),
    facts(report.method),
    ...sources(report.sources),
    h('h3', {}, 'Raw data'),
    h(
      'p',
      { class: 'hint' },
      'Beside this file: Parquet for DuckDB or pandas, one row for each figure of each look and for each phase; the rest is text.',
    ),
    h('p', {}, ...report.files.map((file) => h('a', { class: 'file', href: encodeURI(file) }, file))),
  );
}

function words(): HTMLElement {
  return glossary([
    [
      'Parse',
      'From when the first byte of a request was there and its connection accepted, so that it could be read, to when its header had been understood. The time that it lies unread is part of it.',
    ],
    ['Process', 'From there to when the last part of the response had been handed to the kernel.'],
    ['Log', 'From there to when the thread was ready for something else.'],
    [
      'Processor, elapsed',
      'The two clocks of a phase: what its thread used, and what passed. What lies between them is waiting: for a processor, a disk, a back end or the client.',
    ],
    [
      'Soft interrupts',
      'Work that interrupts leave to be done later, the network mostly. Of a request: what ran while its thread had the processor, whomever it served.',
    ],
    ['Blocks', 'Of 512 bytes.'],
    ['To be accepted', 'The wait of a connection from when it was established to when the server took it.'],
  ]);
}
