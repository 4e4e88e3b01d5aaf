import { DataType, type Field, type Table, type Vector } from '#arrow';
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

type BlockOptions = {
  /** Returns what replaces a cell that is not in the rows, by the index of its column in the table. */
  readonly omitted?: OmittedCell | undefined;
  /** The columns of the block as positions in the table, and then in structs. Default: the columns of the table. */
  readonly paths?: readonly (readonly number[])[] | undefined;
};

/** @throws Error if a path leads to no field */
export function blockOf(table: Table, { omitted = () => undefined, paths }: BlockOptions = {}): Block {
  const shown = paths ?? table.schema.fields.map((_, position) => [position]);
  const fields = shown.map((path) => fieldAt(table, path));
  const formatters: ((row: number) => Cell)[] = [];
  const exact: ((row: number) => Cell)[] = [];
  const cells: GridCell[][] = fields.map(() => []);
  const format = (row: number, column: number): Cell => {
    const { vector, field, isNull } = fields[column]!;
    if (isNull(row)) return nullCell;
    return (formatters[column] ??= columnFormatter(vector, { field, timeZone: shownTimeZone() }))(row);
  };
  const read = (row: number, column: number): GridCell => {
    const found = omitted(row, shown[column]![0]!);
    if (!found) return format(row, column);
    const { text, reason, load } = found;
    const thumbnail = load && format(row, column);
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
    exactText: (row, column) => {
      const found = omitted(row, shown[column]![0]!);
      if (found) return found.text;
      const { vector, field, isNull } = fields[column]!;
      if (isNull(row)) return nullCell.text;
      return (exact[column] ??= columnFormatter(vector, { limits: unlimited, field, timeZone: shownTimeZone() }))(row)
        .text;
    },
    value: (row, column) => {
      const found = omitted(row, shown[column]![0]!);
      if (found) return omittedValue(found);
      const { vector, field, isNull } = fields[column]!;
      return Promise.resolve(isNull(row) ? { kind: 'null' } : valueOf(vector, row, field));
    },
  };
}

const nullCell: Cell = { kind: 'null', text: 'null' };

/** The values of a column or of a field in its structs. A field is null where a struct around it is. */
type FieldValues = { readonly vector: Vector; readonly field: Field; readonly isNull: (row: number) => boolean };

/** @throws Error if the path leads to no field */
function fieldAt(table: Table, [position = -1, ...inner]: readonly number[]): FieldValues {
  let vector = table.getChildAt(position);
  let field: Field | undefined = table.schema.fields[position];
  const structs: Vector[] = [];
  for (const index of inner) {
    const [struct, type]: [Vector | null, DataType | undefined] = [vector, field?.type];
    if (!struct || !DataType.isStruct(type)) break;
    structs.push(struct);
    field = type.children[index];
    vector = field ? struct.getChildAt(index) : null;
  }
  if (!vector || !field || structs.length < inner.length)
    throw new Error('The columns of the table have changed. Open the table again to see them.');
  return { vector, field, isNull: (row) => structs.some((struct) => !struct.isValid(row)) };
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
