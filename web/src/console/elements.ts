import { h, type Child } from '../dom.ts';
import type { Store } from './store.ts';

/** Sets a text where it is another one: what has not changed is not announced or painted again. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element: Element, name: string, value: string | null): void {
  if (element.getAttribute(name) === value) return;
  if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

/** A part of the page with its heading. */
export function section(id: string, title: string, ...children: Child[]): HTMLElement {
  const label = `${id}-title`;
  return h(
    'section',
    { id, class: 'card', 'aria-labelledby': label },
    h('h2', { id: label }, title),
    ...children,
  );
}

export function button(
  text: string,
  act: () => void,
  attributes: Record<string, string> = {},
): HTMLButtonElement {
  const element = h('button', { type: 'button', class: 'button', ...attributes }, text);
  element.addEventListener('click', act);
  return element;
}

/** Switches a control off where the token may only read, and says so. */
export function allow(control: HTMLInputElement | HTMLButtonElement, store: Store, otherwise = true): void {
  const readOnly = store.state?.operator.may_change === false;
  control.disabled = !store.mayChange || !otherwise;
  setAttribute(control, 'title', readOnly ? 'This token may only read' : null);
}

/** What scrolls by itself, by touch or by keyboard; `label` names it. */
export function scrolling(label: string, content: HTMLElement, name = 'scroll'): HTMLElement {
  return h('div', { class: name, tabindex: '0', role: 'region', 'aria-label': label }, content);
}

export function table(label: string, head: string[], body: HTMLElement): HTMLElement {
  const cells = head.map((text) => h('th', { scope: 'col' }, text));
  return scrolling(label, h('table', {}, h('thead', {}, h('tr', {}, ...cells)), body));
}

/** What words of a part mean, for who opens it: by touch and by keyboard alike. */
export function terms(list: [string, string][]): HTMLElement {
  const each = list.flatMap(([term, meaning]) => [h('dt', {}, term), h('dd', {}, meaning)]);
  return h(
    'details',
    { class: 'terms' },
    h('summary', {}, `What the words mean: ${list.map(([term]) => term.toLowerCase()).join(', ')}`),
    h('dl', {}, ...each),
  );
}

/** The last word on something that was tried: what came of it, or why not. */
export class Notice {
  readonly root = h('p', { class: 'notice', role: 'status' });

  good(text: string): void {
    this.root.className = 'notice';
    setText(this.root, text);
  }

  bad(text: string): void {
    this.root.className = 'notice bad';
    setText(this.root, text);
  }

  clear(): void {
    this.good('');
  }
}

/** Children by key: those that stay keep their element, and so the focus. */
export class Keyed<T> {
  private readonly rows = new Map<string, { element: HTMLElement; update: (item: T) => void }>();

  constructor(
    private readonly root: HTMLElement,
    private readonly key: (item: T) => string,
    private readonly make: (item: T) => { element: HTMLElement; update: (item: T) => void },
  ) {}

  show(items: T[]): void {
    const keys = new Set(items.map(this.key));
    for (const [key, row] of this.rows) {
      if (keys.has(key)) continue;
      row.element.remove();
      this.rows.delete(key);
    }
    items.forEach((item, i) => {
      const key = this.key(item);
      let row = this.rows.get(key);
      if (!row) {
        row = this.make(item);
        this.rows.set(key, row);
      }
      row.update(item);
      const there = this.root.children[i];
      if (there !== row.element) this.root.insertBefore(row.element, there ?? null);
    });
  }
}
