import { h } from '../dom.ts';
import { symbol } from '../units.ts';
import { partsOf, type Part } from './cell.ts';

type TableCell = HTMLTableCellElement;

/**
 * What is copied from a table are its numbers, in full and in one unit, so that a spreadsheet can go on with them.
 * The unit stands in the head of the column, or of the row where columns mix units. A part of one cell is copied as
 * it is shown.
 */
export function copyable(table: HTMLTableElement): void {
  table.addEventListener('copy', (event) => {
    const range = document.getSelection()?.getRangeAt(0);
    if (!range || !event.clipboardData || !table.contains(range.commonAncestorContainer)) return;
    const fields = selected(table, range);
    if (fields === null) return;
    event.clipboardData.setData('text/plain', fields.map((row) => row.join('\t')).join('\n'));
    event.clipboardData.setData('text/html', markup(fields).outerHTML);
    event.preventDefault();
  });
}

function markup(fields: string[][]): HTMLElement {
  return h('table', {}, ...fields.map((row) => h('tr', {}, ...row.map((field) => h('td', {}, field)))));
}

/** The fields of the rows and columns that the selection touches; `null` where it is inside of one cell. */
function selected(table: HTMLTableElement, range: Range): string[][] | null {
  const grid = gridOf(table);
  const touched = grid.map((row, r) => {
    const line = table.rows[r];
    const isTouched = line !== undefined && range.intersectsNode(line);
    return row.map((cell) => isTouched && cell !== undefined && range.intersectsNode(cell));
  });
  if (new Set(grid.flatMap((row, r) => row.filter((_, c) => touched[r]?.[c]))).size < 2) return null;
  const columns = grid[0]?.map((_, c) => c).filter((c) => touched.some((row) => row[c])) ?? [];
  const inOneUnit = new Map(columns.map((c) => [c, unitOf(grid.flatMap((row) => parts(row[c])))]));
  const widths = new Map(columns.map((c) => [c, Math.max(1, ...grid.map((row) => parts(row[c]).length))]));
  return grid
    .filter((_, r) => touched[r]?.includes(true))
    .map((row) => {
      const unit = unitOf(row.flatMap(parts));
      const mixed = columns.some((c) => parts(row[c]).length > 0 && inOneUnit.get(c) === null);
      return columns.flatMap((c) => {
        const cell = row[c];
        const width = widths.get(c) ?? 1;
        if (cell?.closest('thead')) return head(cell, grid, c, width, inOneUnit.get(c) ?? '');
        if (cell?.tagName === 'TH') return padded([named(cell, mixed ? (unit ?? '') : '')], width);
        if (!cell || parts(cell).length === 0 || (inOneUnit.get(c) === null && unit === null)) {
          return padded([cell ? shown(cell) : ''], width);
        }
        return padded(
          parts(cell).map((part) => String(part.value)),
          width,
        );
      });
    });
}

/** The head of a column, once for each of the numbers that its cells have. */
function head(
  cell: TableCell,
  grid: (TableCell | undefined)[][],
  c: number,
  width: number,
  unit: string,
): string[] {
  const fullest = grid.map((row) => parts(row[c])).find((all) => all.length === width) ?? [];
  if (fullest.length === 0) return [shown(cell)];
  return fullest.map(({ name }) => [named(cell, unit), name].filter((word) => word !== '').join(', '));
}

function named(cell: TableCell, unit: string): string {
  return unit === '' ? shown(cell) : `${shown(cell)} (${unit})`;
}

function shown(cell: TableCell): string {
  return cell.innerText.replace(/\s+/g, ' ').trim();
}

function parts(cell: TableCell | undefined): Part[] {
  return cell ? partsOf(cell) : [];
}

/** What numbers are in, if all of them are in the same; `null` where they are not. */
function unitOf(all: Part[]): string | null {
  const units = [...new Set(all.map((part) => part.unit))];
  if (units.length > 1) return null;
  return units[0] === undefined ? '' : symbol(units[0]);
}

function padded(fields: string[], width: number): string[] {
  return [...fields, ...Array.from({ length: width - fields.length }, () => '')];
}

/** The cells by row and column; one that spans several rows is in each of them. */
function gridOf(table: HTMLTableElement): (TableCell | undefined)[][] {
  const grid: (TableCell | undefined)[][] = [...table.rows].map(() => []);
  [...table.rows].forEach((row, r) => {
    let column = 0;
    for (const cell of row.cells) {
      while (grid[r]?.[column] !== undefined) column += 1;
      for (let below = 0; below < cell.rowSpan; below += 1) {
        const line = grid[r + below];
        if (line) line[column] = cell;
      }
    }
  });
  return grid;
}
