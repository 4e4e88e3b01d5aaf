import {
  type Binary,
  type Data,
  DataType,
  Field,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table as ArrowTable,
  tableToIPC,
  type Vector,
} from '#arrow';
import { imageMime } from '#shared/format/images.ts';
import type { OmittedCells } from '#shared/mime.ts';
import { withSmallDictionaries } from './smallDictionaries.ts';
import type { ThumbnailMaker } from './thumbnails.ts';

// Fits a table into an output. If it is too large because of its images, thumbnails replace the images, because rows
// without their images tell more than no rows.

/** Cells of more bytes may be left out of an output while their row stays. */
const largeCell = 4096;
/** The part of an output that is kept free for large cells if not all rows fit even without these. */
const largeCellShare = 1 / 4;

export type FittingTable = {
  bytes: Uint8Array;
  rows: number;
  /** The replaced and left-out cells by the names of their columns; undefined if the rows have all of their cells. */
  omitted?: Record<string, OmittedCells>;
  /** Whether there are cells that are left out, and not replaced by a thumbnail. */
  isCut?: boolean;
  /** The thumbnails by the index of their column and by row. */
  thumbnails?: ReadonlyMap<number, readonly (Uint8Array | undefined)[]>;
};

type FitOptions = {
  maxRows: number;
  maxBytes: number;
  /** Whether each row must have all of its cells. Default: false. */
  isWhole?: boolean | undefined;
  /** Without it, the first rows keep their images, and the others have none. */
  thumbnails?: ThumbnailMaker | undefined;
};

/** Returns the first rows that fit into an output, as an Arrow stream. */
export function fitTable(
  table: ArrowTable,
  { maxRows, maxBytes, isWhole = false, thumbnails }: FitOptions,
): FittingTable {
  const part = firstRows(table, maxRows);
  const columns = largeColumns(part);
  if (isWhole || columns.length === 0) return fitRows(part, maxBytes);
  const large = columns.reduce((sum, { sizes }) => sum + sizes.reduce((all, size) => all + size, 0), 0);
  // Most tables fit as they are. If the large cells alone don't fit, the whole table is not even written.
  const whole = large < maxBytes ? streamOf(part) : undefined;
  if (whole && whole.length <= maxBytes) return { bytes: whole, rows: part.numRows };
  const bare = withoutLargeCells(part, columns, 0);
  const all = fitRows(bare, maxBytes);
  const fit = all.rows === part.numRows ? all : fitRows(bare, maxBytes * (1 - largeCellShare));
  const shown = firstRows(part, fit.rows);
  let left = maxBytes - fit.bytes.length;
  if (thumbnails) addThumbnails(shown, columns, left, thumbnails);
  let first = 0;
  for (; first < shown.numRows; first++) {
    left -= columns.reduce((sum, column) => sum + sizeInOutput(column, first), 0);
    if (left < 0) break;
  }
  // Alignment adds a few bytes, so the last row may not fit.
  for (; first > 0; first--) {
    const bytes = streamOf(withoutLargeCells(shown, columns, first));
    if (bytes.length <= maxBytes) return { bytes, rows: fit.rows, ...omittedFrom(first, columns, fit.rows) };
  }
  return { bytes: fit.bytes, rows: fit.rows, ...omittedFrom(0, columns, fit.rows) };
}

/** Adds thumbnails to the columns of images, as many and as large as the free bytes allow. */
function addThumbnails(table: ArrowTable, columns: LargeColumn[], maxBytes: number, maker: ThumbnailMaker): void {
  const images = columns.flatMap((column) => {
    if (column.mime === undefined) return [];
    const made: (Uint8Array | undefined)[] = [];
    return [{ column, cells: table.getChildAt(column.index) as Vector<Binary>, made }];
  });
  const count = images.reduce(
    (sum, { column }) => sum + column.sizes.slice(0, table.numRows).filter((size) => size > 0).length,
    0,
  );
  let left = maxBytes;
  for (let row = 0; row < table.numRows; row++) {
    for (const { column, cells, made } of images) {
      const isLarge = (column.sizes[row] ?? 0) > 0;
      const thumbnail = isLarge && left > 0 ? maker.make(cells.get(row)!, maxBytes / count) : undefined;
      left -= thumbnail?.length ?? 0;
      made.push(thumbnail);
    }
  }
  for (const { column, made } of images) {
    // Images that the library can't read may still be images for a browser.
    if (!made.some((thumbnail) => thumbnail !== undefined)) continue;
    column.thumbnails = made;
    column.isLate = maker.isLate;
  }
}

/** Returns the bytes that a large cell takes in an output. */
const sizeInOutput = ({ sizes, thumbnails }: LargeColumn, row: number): number =>
  thumbnails ? (thumbnails[row]?.length ?? 0) : (sizes[row] ?? 0);

// A table without batches, such as an empty result, must not be sliced, because `slice` would fail.
const firstRows = (table: ArrowTable, rows: number): ArrowTable =>
  rows < table.numRows ? table.slice(0, rows) : table;

const streamOf = (table: ArrowTable): Uint8Array => tableToIPC(withSmallDictionaries(table), 'stream');

/**
 * Returns about as many rows as fit: halves their number until they fit, then tries to add ever fewer rows, down to an
 * eighth.
 */
function fitRows(table: ArrowTable, maxBytes: number): FittingTable {
  const write = (rows: number): FittingTable => ({ bytes: streamOf(firstRows(table, rows)), rows });
  let fit = write(table.numRows);
  while (fit.bytes.length > maxBytes && fit.rows > 0) fit = write(Math.floor(fit.rows / 2));
  if (fit.rows === table.numRows) return fit;
  for (let step = Math.ceil(fit.rows / 2); step >= 1; step = step <= fit.rows / 8 ? 0 : Math.floor(step / 2)) {
    const more = write(Math.min(table.numRows, fit.rows + step));
    if (more.bytes.length <= maxBytes) fit = more;
  }
  return fit;
}

type LargeColumn = {
  index: number;
  name: string;
  /** Bytes of the large cells by row; 0 for other cells. */
  sizes: number[];
  mime: string | undefined;
  /** The thumbnails by row, if thumbnails replace the cells. */
  thumbnails?: (Uint8Array | undefined)[];
  /** Whether there are fewer thumbnails because making them took too long. */
  isLate?: boolean;
};

function largeColumns(table: ArrowTable): LargeColumn[] {
  return table.schema.fields.flatMap(({ name, type }, index): LargeColumn[] => {
    const column = table.getChildAt(index);
    if (!column || !(DataType.isBinary(type) || DataType.isLargeBinary(type))) return [];
    const sizes = column.data.flatMap((data) => Array.from({ length: data.length }, (_, row) => largeSize(data, row)));
    const first = sizes.findIndex((size) => size > 0);
    return first < 0 ? [] : [{ index, name, sizes, mime: imageMime((column as Vector<Binary>).get(first)!) }];
  });
}

const offsetsOf = ({ valueOffsets }: Data): ArrayLike<number | bigint> => valueOffsets as ArrayLike<number | bigint>;

function largeSize(data: Data, row: number): number {
  if (!data.getValid(row)) return 0;
  const offsets = offsetsOf(data);
  const size = Number(offsets[row + 1]) - Number(offsets[row]);
  return size > largeCell ? size : 0;
}

/** Returns the table with thumbnails instead of the large cells, and with nulls from the row `first` on. */
function withoutLargeCells(table: ArrowTable, columns: readonly LargeColumn[], first: number): ArrowTable {
  const large = new Map(columns.map((column) => [column.index, column]));
  const fields = table.schema.fields.map((field, index) =>
    large.has(index) ? new Field(field.name, field.type, true, field.metadata) : field,
  );
  const schema = new Schema(fields, table.schema.metadata);
  let start = 0;
  const batches = table.batches.map(({ data, numRows }) => {
    const before = start;
    start += numRows;
    const children = data.children.map((child, index) => {
      const column = large.get(index);
      if (!column) return child;
      return replaceLargeCells(child, (row, cell) => {
        if (before + row >= first) return undefined;
        return column.thumbnails ? column.thumbnails[before + row] : cell;
      });
    });
    const struct = new Struct(fields);
    return new RecordBatch(schema, makeData({ type: struct, length: numRows, nullCount: 0, children }));
  });
  return new ArrowTable(schema, batches);
}

/** Replaces each large cell with the result of `replace`, or with a null. */
function replaceLargeCells(data: Data, replace: (row: number, cell: Uint8Array) => Uint8Array | undefined): Data {
  const { length, values } = data;
  const offsets = offsetsOf(data);
  const cells: Uint8Array[] = [];
  const nullBitmap = new Uint8Array((length + 7) >> 3);
  const ends = [0];
  let end = 0;
  for (let row = 0; row < length; row++) {
    const own = (values as Uint8Array).subarray(Number(offsets[row]), Number(offsets[row + 1]));
    const isLarge = largeSize(data, row) > 0;
    const cell = isLarge ? replace(row, own) : data.getValid(row) ? own : undefined;
    if (cell) {
      nullBitmap[row >> 3]! |= 1 << (row & 7);
      cells.push(cell);
      end += cell.length;
    }
    ends.push(end);
  }
  const nullCount = length - cells.length;
  const common = { length, nullCount, nullBitmap, data: Buffer.concat(cells) };
  const { type } = data;
  if (DataType.isLargeBinary(type))
    return makeData({ ...common, type, valueOffsets: BigInt64Array.from(ends, (at) => BigInt(at)) });
  if (DataType.isBinary(type)) return makeData({ ...common, type, valueOffsets: Int32Array.from(ends) });
  return data;
}

type Replaced = Pick<FittingTable, 'omitted' | 'isCut' | 'thumbnails'>;

/** Describes the cells that are replaced by thumbnails, and the cells that are left out from the row `first` on. */
function omittedFrom(first: number, columns: readonly LargeColumn[], rows: number): Replaced {
  const omitted: [string, OmittedCells][] = [];
  const thumbnails = new Map<number, readonly (Uint8Array | undefined)[]>();
  let isCut = false;
  for (const { index, name, sizes, mime, thumbnails: made, isLate } of columns) {
    const from = made ? 0 : first;
    const own = sizes.slice(from, rows);
    if (!own.some((size) => size > 0)) continue;
    omitted.push([
      name,
      { from, sizes: own, ...(mime && { mime }), ...(made && { thumbnails: true }), ...(isLate && { late: true }) },
    ]);
    if (made) thumbnails.set(index, made.slice(0, first));
    isCut ||= sizes.slice(0, rows).some((size, row) => size > 0 && (row >= first || (made && !made[row])));
  }
  if (omitted.length === 0) return {};
  return { omitted: Object.fromEntries(omitted), isCut, ...(thumbnails.size > 0 && { thumbnails }) };
}
