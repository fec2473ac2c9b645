import { h } from '../dom.ts';
import { unbroken } from '../format.ts';

/** A heading with sentences below it; nothing where there are none. */
export function part(title: string, all: string[]): HTMLElement[] {
  return all.length === 0 ? [] : [h('h3', {}, title), ...sentences(all)];
}

export function sentences(all: string[]): HTMLElement[] {
  return all.map((sentence) => h('p', {}, unbroken(sentence)));
}
