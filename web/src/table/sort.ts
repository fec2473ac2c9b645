import { h } from '../dom.ts';
import { partsOf, type Part } from './cell.ts';

type Order = 'descending' | 'ascending' | 'as it was';

const NEXT: Record<Order, Order> = {
  'as it was': 'descending',
  descending: 'ascending',
  ascending: 'as it was',
};

/**
 * Lets the reader sort the rows by a column of figures in one unit: a click on its head puts the greatest first,
 * the next one the least, the third the rows as they were. Rows that belong together stay as they are.
 */
export function sortable(heads: HTMLTableCellElement[], body: HTMLTableSectionElement): void {
  const rows = [...body.rows];
  if (rows.some((row) => [...row.cells].some((cell) => cell.rowSpan > 1))) return;
  heads.forEach((head, column) => {
    const keys = new Map(rows.map((row) => [row, mainOf(row.cells[column])]));
    const known = [...keys.values()].filter((part) => part !== undefined);
    if (known.length < 2 || new Set(known.map((part) => part.unit)).size > 1) return;
    const button = h('button', { type: 'button', class: 'sort' }, ...head.childNodes);
    head.append(button);
    button.addEventListener('click', () => {
      const order = NEXT[orderOf(head)];
      for (const other of heads) other.removeAttribute('aria-sort');
      if (order !== 'as it was') head.setAttribute('aria-sort', order);
      body.append(...sorted(rows, keys, order));
    });
  });
}

function mainOf(cell: HTMLTableCellElement | undefined): Part | undefined {
  return cell && partsOf(cell)[0];
}

function orderOf(head: HTMLTableCellElement): Order {
  const order = head.getAttribute('aria-sort');
  return order === 'ascending' || order === 'descending' ? order : 'as it was';
}

/** Rows without a figure come last either way. */
function sorted(
  rows: HTMLTableRowElement[],
  keys: Map<HTMLTableRowElement, Part | undefined>,
  order: Order,
): HTMLTableRowElement[] {
  if (order === 'as it was') return rows;
  const sign = order === 'ascending' ? 1 : -1;
  const worst = sign * Infinity;
  const key = (row: HTMLTableRowElement): number => keys.get(row)?.value ?? worst;
  return [...rows].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    return x === y ? 0 : sign * (x < y ? -1 : 1);
  });
}
