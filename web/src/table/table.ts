import { h } from '../dom.ts';
import { copyable } from './copy.ts';
import { sortable } from './sort.ts';

/**
 * A table that scrolls by itself when the window is narrower than it, by touch or by keyboard.
 * Columns hold figures, flush right, unless their head is marked with `words`.
 */
export function scrollingTable(
  label: string,
  head: (string | { words: string })[],
  rows: HTMLTableRowElement[],
): HTMLElement {
  const cells = head.map((cell) =>
    typeof cell === 'string'
      ? h('th', { scope: 'col' }, cell)
      : h('th', { scope: 'col', class: 'words' }, cell.words),
  );
  const body = h('tbody', {}, ...rows);
  const table = h('table', {}, h('thead', {}, h('tr', {}, ...cells)), body);
  sortable(cells, body);
  copyable(table);
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, table);
}
