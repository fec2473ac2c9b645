type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | boolean | undefined>;

/**
 * An element with attributes and children. Text becomes text nodes, so nothing from a record
 * is ever read as markup.
 */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, '');
    else if (typeof value === 'string') element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child instanceof Node || typeof child === 'string'));
  return element;
}

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
  return h(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
    h('table', {}, h('thead', {}, h('tr', {}, ...cells)), h('tbody', {}, ...rows)),
  );
}
