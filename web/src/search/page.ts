import { h } from '../dom.ts';
import { interval, perSecond, unbroken } from '../format.ts';
import { facts, sources } from '../page/method.ts';
import { head } from '../page/opening.ts';
import { part as headed, sentences } from '../page/part.ts';
import { glossary } from '../page/words.ts';
import { simulated } from '../simulation/figures.ts';
import type { View } from '../view.ts';
import type { Effect, OneSearch, SearchReport } from '../report.ts';
import { scrollingTable } from '../table/table.ts';
import { ends, quantity, none, NONE, cellOf, part } from '../table/cell.ts';

export function search(report: SearchReport): View {
  const parts: [string, HTMLElement | null][] = [
    ['Searches', overview(report)],
    ...report.searches.map((one): [string, HTMLElement] => [
      one.name,
      section(one, report.searches.length === 1),
    ]),
    ['Method', method(report)],
    ['Words', words()],
  ];
  const shown = parts.flatMap(([name, root]): [string, HTMLElement][] => (root ? [[name, root]] : []));
  return {
    title: report.title,
    version: report.version,
    opening: head(report.title, report.verdict, report.warnings),
    contents: shown.map(([name, root]) => [root.id, name]),
    sections: shown.map(([, root]) => root),
  };
}

/** All searches in a table, and what compares them; nothing where there is one. */
function overview(report: SearchReport): HTMLElement | null {
  if (report.searches.length < 2) return null;
  const rows = report.searches.map((one) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row' }, h('a', { href: `#${one.id}` }, one.name)),
      h('td', { class: 'words' }, unbroken(one.result)),
      h('td', { class: 'words' }, unbroken(one.next[0] ?? one.why[0] ?? '')),
    ),
  );
  return h(
    'section',
    { id: 'searches', 'aria-labelledby': 'searches-title' },
    h('h2', { id: 'searches-title' }, 'What was found'),
    scrollingTable('Searches', [{ words: 'Where' }, { words: 'Found' }, { words: 'What to do' }], rows),
    ...effects(report.effects),
    ...report.compared.map((figure) => simulated(figure, [])),
  );
}

/** What each level does to the capacity, a table for each factor and all that is beside it. */
function effects(all: Effect[]): HTMLElement[] {
  const groups = new Map<string, Effect[]>();
  for (const effect of all) {
    const name = effect.beside === '' ? effect.factor : `${effect.factor} (${effect.beside})`;
    groups.set(name, [...(groups.get(name) ?? []), effect]);
  }
  const columns = ['Level', 'Capacity', 'Repeats', 'Against the first', 'By chance'];
  return [...groups].flatMap(([name, rows]) => {
    const published = rows.flatMap((effect) => effect.published ?? [])[0];
    return [
      h('h3', {}, `What difference does it make? ${name}`),
      scrollingTable(
        name,
        [...columns, ...(published ? ['Published'] : [])].map((words) => ({ words })),
        rows.map((effect) =>
          h(
            'tr',
            {},
            h('th', { scope: 'row' }, effect.level),
            cellOf(
              [part(effect.capacity.value, 'rate'), ...ends(effect.capacity, 'rate')],
              '',
              perSecond(effect.capacity.value),
              ' ',
              interval(effect.capacity, perSecond),
            ),
            quantity(effect.repeats, 'count'),
            against(effect),
            h('td', {}, chance(effect)),
            published !== undefined && ratioOf(effect.published?.times ?? null),
          ),
        ),
      ),
      published !== undefined && h('p', { class: 'hint' }, `Published: ${published.source}.`),
    ].filter((part) => part !== false);
  });
}

function against({ times: ratio, pairs, repeats }: Effect): HTMLElement {
  if (ratio === null) return none();
  const all = ratio.ci ? [times(ratio.value), ' ', interval(ratio, times)] : [times(ratio.value)];
  return cellOf(
    [part(ratio.value, 'number'), ...ends(ratio, 'number')],
    '',
    ...(pairs === repeats ? all : [...all, ` of ${pairs} pairs`]),
  );
}

function ratioOf(ratio: number | null): HTMLElement {
  return ratio === null ? none() : cellOf([part(ratio, 'number')], '', times(ratio));
}

function times(ratio: number): string {
  return `${ratio.toFixed(3)}×`;
}

function chance({ times, chance, verdict }: Effect): string {
  if (times === null) return NONE;
  if (chance === null) return 'unknown without repeats of both';
  const p = chance < 0.001 ? 'p < 0.001' : `p = ${chance.toFixed(3)}`;
  return `${p}: ${verdict === 'chance' ? 'may be chance' : verdict}`;
}

function section(one: OneSearch, isOnly: boolean): HTMLElement {
  const title = `${one.id}-title`;
  return h(
    'section',
    { id: one.id, 'aria-labelledby': title },
    h('h2', { id: title }, one.name),
    h('p', {}, h('strong', {}, unbroken(one.result))),
    one.why.length > 0 && h('div', { class: 'warning', role: 'note' }, ...sentences(one.why)),
    // The page begins with what a single search found.
    ...(isOnly ? [] : [...headed('Why', one.evidence), ...headed('What to do', one.next)]),
    ...headed('How sure that is', [...one.order, ...one.basis]),
    ...headed('What was predicted', one.predicted),
    ...one.figures.map((figure) => simulated(figure, [])),
    h(
      'p',
      { class: 'hint' },
      'The records of all probes are in ',
      h('code', {}, one.directory),
      '; ',
      h('code', {}, 'headworks report'),
      ' shows each in more detail.',
    ),
  );
}

function method(report: SearchReport): HTMLElement | null {
  if (report.method.length === 0) return null;
  return h(
    'section',
    { id: 'method', 'aria-labelledby': 'method-title' },
    h('h2', { id: 'method-title' }, 'How it was searched'),
    facts(report.method),
    ...sources(report.sources),
  );
}

function words(): HTMLElement {
  return glossary([
    [
      'Capacity',
      'The highest rate that the server keeps up with: what is in it does not grow, hardly any request fails, and every objective holds.',
    ],
    ['Bottleneck', 'The resource that comes to its end first, and keeps the others waiting.'],
    ['Offered load', 'Requests that are sent per second, whatever becomes of those before.'],
    ['Behind', 'More came than was answered, so that what waited grew.'],
    ['Probe', 'A load that was offered for some seconds, or that so many clients made.'],
    ['bare', 'The server by itself, with nothing in front of it.'],
    ['Median, 99 %', 'Half of the requests, and 99 of 100, took no longer.'],
    ['SYN queue', 'Connections that a client has begun and that are not established yet.'],
    ['Listen queue', 'Connections that are established and that the server has not accepted yet.'],
    ['Worker', 'A process or thread of the server that takes one connection or request at a time.'],
    ['Control group', 'What Linux, and any container, limits processors, memory and disk of programs by.'],
  ]);
}
