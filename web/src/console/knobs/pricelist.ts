import { h } from '../../dom.ts';
import { setText } from '../elements.ts';
import type { Price } from './price.ts';

/** What a setting costs and gives; announced when it is another. */
export class PriceList {
  private readonly title = h('h3');
  private readonly head = h('p', { class: 'price-head', role: 'status' });
  private readonly list = h('ul', { class: 'price-list' });
  readonly root = h('div', { class: 'price', hidden: true }, this.title, this.head, this.list);

  show(price: Price | null, title: string): void {
    this.root.hidden = price === null;
    setText(this.title, title);
    setText(this.head, price?.head ?? '');
    const sentences = price?.sentences ?? [];
    if ([...this.list.children].map((one) => one.textContent).join('\n') === sentences.join('\n')) return;
    this.list.replaceChildren(...sentences.map((text) => h('li', {}, text)));
  }
}
