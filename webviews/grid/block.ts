import type { Table } from '#arrow';
import { type Cell, columnFormatter, unlimited } from '#shared/format/cellText.ts';
import { type CellValue, omittedValue, valueOf } from './cellValue.ts';
import { shownTimeZone } from './timeZone.ts';

/** Loads the whole image of a thumbnail; undefined if it is no longer available. */
export type LoadImage = () => Promise<Uint8Array | undefined>;

/** A cell of the grid: its value, or the reason why the value could not be read or was left out of the output. */
export type GridCell =
  | Cell
  | (Extract<Cell, { kind: 'image' }> & { load: LoadImage })
  | { kind: 'failed' | 'omitted'; text: string; reason: string };

/**
 * Returns what replaces a cell that an output has left out, by row and index of the column. With `load`, the output has
 * a thumbnail of the cell if it fits.
 */
export type OmittedCell = (
  row: number,
  column: number,
) => { text: string; reason: string; load?: LoadImage } | undefined;

/** Loaded rows. Each cell is formatted once. Columns are positions in the loaded rows. */
export type Block = {
  cell(row: number, column: number): GridCell;
  exactText(row: number, column: number): string;
  /** Returns the whole value of a cell. Never rejects. */
  value(row: number, column: number): Promise<CellValue>;
  /** Calls a function with the bytes that each formatted text takes. */
  count(grow: (bytes: number) => void): void;
};

const doNothing = (): void => {};

/** Bytes of a formatted cell without its text. */
const cellBytes = 64;

/** @param omitted returns what replaces a cell that is not in the rows */
export function blockOf(table: Table, omitted: OmittedCell = () => undefined): Block {
  const { fields } = table.schema;
  const vectors = fields.map((_, i) => table.getChildAt(i)!);
  const formatters = vectors.map((vector, i) =>
    columnFormatter(vector, { field: fields[i], timeZone: shownTimeZone() }),
  );
  const exact: ((row: number) => Cell)[] = [];
  const cells: GridCell[][] = fields.map(() => []);
  const read = (row: number, column: number): GridCell => {
    const found = omitted(row, column);
    if (!found) return formatters[column]!(row);
    const { text, reason, load } = found;
    const thumbnail = load && formatters[column]!(row);
    return load && thumbnail?.kind === 'image' ? { ...thumbnail, text, load } : { kind: 'omitted', text, reason };
  };
  let grow: (bytes: number) => void = doNothing;
  return {
    // The grid compares cells by identity to decide what to draw again.
    cell: (row, column) => {
      const known = cells[column]![row];
      if (known) return known;
      const cell = read(row, column);
      cells[column]![row] = cell;
      grow(cellBytes + 2 * cell.text.length);
      return cell;
    },
    count: (next) => (grow = next),
    exactText: (row, column) =>
      omitted(row, column)?.text ??
      (exact[column] ??= columnFormatter(vectors[column]!, {
        limits: unlimited,
        field: fields[column],
        timeZone: shownTimeZone(),
      }))(row).text,
    value: (row, column) => {
      const found = omitted(row, column);
      return found ? omittedValue(found) : Promise.resolve(valueOf(vectors[column]!, row, fields[column]));
    },
  };
}

/** The text that the clipboard gets: nothing for a null. */
export const cellText = (cell: GridCell | undefined, whole: () => string): string | undefined =>
  cell === undefined ? undefined : cell.kind === 'null' ? '' : whole();

export const emptyFailedCell: GridCell = { kind: 'failed', text: '', reason: '' };
const failedCells = new WeakMap<Error, GridCell>();

/** Says in the first column why a row is missing. The same failure is the same cell, so that it is drawn once. */
export function failedCell(error: Error): GridCell {
  const known = failedCells.get(error);
  if (known) return known;
  const cell: GridCell = { kind: 'failed', text: 'not loaded', reason: error.message };
  failedCells.set(error, cell);
  return cell;
}
