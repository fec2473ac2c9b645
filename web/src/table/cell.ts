import { h, type Child } from '../dom.ts';
import { count, interval } from '../format.ts';
import type { Cell, Estimate, Unit } from '../report.ts';
import { writing, written } from '../units.ts';

/** What stands where nothing was measured. */
export const NONE = '–';

/** A number behind what a cell shows; tables are sorted and copied by these. */
export interface Part {
  /** What sets it apart from the first one of its cell, such as `low`; empty for the first. */
  name: string;
  value: number;
  unit: Unit;
}

type TableCell = HTMLTableCellElement;

const PARTS = new WeakMap<TableCell, Part[]>();

/** The cellOf of a cell, the one that matters most first; none of a cell that holds words or nothing. */
export function partsOf(cell: TableCell): Part[] {
  return PARTS.get(cell) ?? [];
}

export function part(value: number, unit: Unit, name = ''): Part {
  return { name, value, unit };
}

/** A cell that shows these numbers in a way of its own. */
export function cellOf(parts: Part[], look: string, ...content: Child[]): TableCell {
  const cell = h('td', { class: look }, ...content);
  PARTS.set(cell, parts);
  return cell;
}

/** A cell for which nothing was measured. */
export function none(look = ''): TableCell {
  return h('td', { class: look }, NONE);
}

/** A number with its unit. */
export function quantity(value: number | null | undefined, unit: Unit, look = ''): TableCell {
  return value == null ? none(look) : cellOf([part(value, unit)], look, written(value, unit));
}

/** A number, and others small behind or below it. */
export function quantityWith(
  main: Part | null,
  others: Part[],
  small: HTMLElement | null,
  look = '',
): TableCell {
  if (main === null) return h('td', { class: look }, NONE, small);
  return cellOf([main, ...others], look, written(main.value, main.unit), small);
}

/** The ends of an estimate's interval. */
export function ends({ ci }: Estimate, unit: Unit): Part[] {
  return ci ? [part(ci[0], unit, 'low'), part(ci[1], unit, 'high')] : [];
}

/** The interval of an estimate, without its value. */
export function intervalOf(estimate: Estimate | null | undefined, unit: Unit): TableCell {
  return estimate ? cellOf(ends(estimate, unit), '', interval(estimate, writing(unit))) : none();
}

/** So many of so many. */
export function share(some: number, all: number): TableCell {
  const text = `${count(some)} of ${count(all)}`;
  return cellOf([part(some, 'count'), part(all, 'count', 'of')], '', text);
}

/** A cell of a table that came with the report. */
export function reported(cell: Cell): TableCell {
  if (cell === null) return none();
  if (typeof cell === 'string') return h('td', {}, cell);
  const { value, unit, ci } = cell;
  const [low, high] = ci ? ci.map(writing(unit)) : [];
  const text = ci ? `${written(value, unit)} (${low} to ${high})` : written(value, unit);
  return cellOf([part(value, unit), ...ends(cell, unit)], '', text);
}
