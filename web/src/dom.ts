/** What an element may hold; what is not there is left out. */
export type Child = Node | string | null | undefined | false;
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
