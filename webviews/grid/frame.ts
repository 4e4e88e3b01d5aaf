import type { Field, Table } from '#arrow';
import { columnsOf, typeText } from '#shared/arrow/arrowTypes.ts';
import { blobEncoding, hasBlobHeads, maxBlobRange } from '#shared/arrow/blobs.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { sizeText } from '#shared/format/numbers.ts';
import { pageRows } from '#shared/mime.ts';
import type { ColumnPosition, PanelTable } from '#shared/protocol/webviewMessages.ts';
import { type Block, blockOf, cellText, type GridCell, type OmittedCell } from './block.ts';
import type { CellValue } from './cellValue.ts';
import type { ChangeMark } from './changeMarks.ts';
import { type ColumnGroup, columnGroups, treeGroups, wholeGroup } from './columnGroups.ts';
import { type GridColumn, gridColumns, positionOf } from './columnTree.ts';
import { GroupPages } from './groupPages.ts';
import { type LoadBlob, maxBytes as maxBlobBytes } from './mediaView.ts';
import { PageBudget } from './pageBudget.ts';

/** The content of the grid. */
export type GridFrame = {
  readonly numRows: number;
  /** All columns in their order, then the fields nested in them; the grid may hide some. */
  readonly columns: readonly GridColumn[];
  /** Returns a cell by row and index in `columns`; `undefined` if it isn't loaded. The same cell is the same object. */
  cell(row: number, column: number): GridCell | undefined;
  /**
   * Loads rows [start, end) of columns, those in the view. Resolves when they were loaded or failed; never rejects.
   */
  show(start: number, end: number, columns: readonly number[]): Promise<void>;
  /** Tells which structs are shown by their fields, so that a table that is read in pages doesn't read them as a whole. */
  expand(structs: readonly number[]): void;
  /** Calls a function after rows were loaded. Only one function is called. */
  watch(onChange: () => void): void;
  /** Returns how a cell differs from another table, by row and index in `columns`. Set for the rows of a comparison. */
  readonly mark?: (row: number, column: number) => ChangeMark | undefined;
  /** Returns the full text of a cell by row and index in `columns`; `undefined` if it isn't loaded. */
  exactText(row: number, column: number): string | undefined;
  /** Loads all bytes of a blob by row and index in `columns`. Set if blobs can be read. */
  readonly loadBlob?: (row: number, column: number, size: number) => LoadBlob;
  /**
   * Returns the whole value of a cell, also of a row that is not loaded.
   * @throws Error if the row can't be read
   */
  read(row: number, column: number, signal: AbortSignal): Promise<CellValue>;
  /**
   * Returns the whole value before a change; `undefined` if the cell has not changed. Set for the rows of a comparison.
   * @throws Error if the row can't be read
   */
  readonly readBefore?: (row: number, column: number, signal: AbortSignal) => Promise<CellValue | undefined>;
  /**
   * Reads rows from `start` on without keeping them: up to `end`, or fewer.
   * @throws Error if the rows can't be read
   */
  readRows(start: number, end: number, columns: readonly number[], signal: AbortSignal): Promise<ReadRows>;
  /** Returns why visible rows are missing, or `undefined`. */
  problem(): { rows: string; message: string } | undefined;
  retry(): void;
  /** Sets the number of rows after rows were added. */
  grow(numRows: number): void;
  /** Forgets the loaded rows, and loads those in the view again. */
  reload(): void;
  close(): void;
};

/** Rows that were read without being kept. Rows and columns count as in the frame. */
export type ReadRows = Pick<GridFrame, 'cell' | 'exactText'> & {
  /** The row after the last one. */
  readonly end: number;
  /** Size as a stream. */
  readonly bytes: number;
};

/** Creates the frame of a table that is completely in memory, except for cells that an output has left out. */
export function tableFrame(table: Table, omitted?: OmittedCell): GridFrame {
  const columns = gridColumns(columnsOf(table.schema));
  const block = blockOf(table, { omitted, paths: columns.map(({ path }) => path) });
  const exactText = (row: number, column: number): string | undefined =>
    cellText(block.cell(row, column), () => block.exactText(row, column));
  return {
    numRows: table.numRows,
    columns,
    cell: (row, column) => block.cell(row, column),
    show: () => Promise.resolve(),
    expand: () => {},
    watch: () => {},
    exactText,
    read: (row, column) => block.value(row, column),
    readRows: (_, end) => Promise.resolve({ cell: (row, column) => block.cell(row, column), exactText, end, bytes: 0 }),
    problem: () => undefined,
    retry: () => {},
    grow: () => {},
    reload: () => {},
    close: () => {},
  };
}

/**
 * Loads rows [start, end) of the table as an Arrow stream, all columns or those at some positions. A nested field is a
 * column of the stream.
 */
export type LoadRows = (
  start: number,
  end: number,
  columns: readonly ColumnPosition[] | undefined,
  signal: AbortSignal,
) => Promise<Uint8Array>;

/** Loads bytes [start, end) of a blob. */
export type LoadBlobRange = (
  row: number,
  column: ColumnPosition,
  range: { start: number; end: number },
  signal: AbortSignal,
) => Promise<Uint8Array>;

/** Loads a blob in several ranges. @throws Error if it is shorter than `size` */
const loadRanges =
  (load: LoadBlobRange, row: number, column: ColumnPosition, size: number): LoadBlob =>
  async (signal, onProgress) => {
    const whole = new Uint8Array(size);
    for (let start = 0; start < size; start += maxBlobRange) {
      const end = Math.min(size, start + maxBlobRange);
      const bytes = await load(row, column, { start, end }, signal);
      if (bytes.length !== end - start) throw new Error('It is shorter than its size. Open the table again.');
      whole.set(bytes, start);
      onProgress(end);
    }
    return whole;
  };

const doNothing = (): void => {};

/** Maximum memory of the loaded rows of a table with their formatted values, in bytes. */
const maxBytes = 64 * 2 ** 20;

/**
 * Creates the frame of a table of any size, which is read in pages of Arrow. Only columns in the view are read, and
 * images and other heavy columns apart from the others, so that they don't delay them. Call `close()` when the grid is
 * removed.
 */
export function pagedFrame(table: PanelTable, load: LoadRows, loadBlob?: LoadBlobRange): GridFrame {
  const columns = gridColumns(table.columns);
  const budget = new PageBudget(maxBytes);
  let onChange = doNothing;
  let parts = new Map<string, GroupPages>();
  let partOf = new Map<number, GroupPages>();
  const wantedOf = (some: readonly number[]): ColumnPosition[] => some.map((column) => positionOf(columns[column]!));
  const blockIn = (bytes: Uint8Array, some: readonly number[], rows: number): Block => {
    if (table.selectsColumns)
      return blockOf(
        checkPage(
          bytes,
          some.map((column) => columns[column]!),
          rows,
        ),
      );
    // Nested fields are taken from their structs here.
    const whole = checkPage(bytes, columns.slice(0, table.columns.length), rows);
    return blockOf(whole, { paths: columns.map(({ path }) => path) });
  };
  const newPart = (group: ColumnGroup): GroupPages =>
    new GroupPages({
      group,
      numRows,
      budget,
      onChange: () => onChange(),
      load: async (start, end, signal) => {
        const bytes = await load(start, end, table.selectsColumns ? wantedOf(group.columns) : undefined, signal);
        return { value: blockIn(bytes, group.columns, end - start), bytes: bytes.byteLength };
      },
    });
  /** Reads columns in these groups from now on. A group that stays keeps its rows. */
  const arrange = (groups: readonly ColumnGroup[]): void => {
    const next = new Map<string, GroupPages>();
    partOf = new Map();
    for (const group of groups) {
      const id = group.columns.join();
      const part = parts.get(id) ?? newPart(group);
      next.set(id, part);
      for (const column of group.columns) partOf.set(column, part);
    }
    for (const [id, part] of parts) if (!next.has(id)) part.close();
    parts = next;
  };
  let { numRows } = table;
  arrange(table.selectsColumns ? treeGroups(columns, []) : [wholeGroup(columns)]);
  /** The number of views so far. */
  let views = 0;

  /** Reads rows apart from the pages. Without a choice of columns, a table may have to be read in whole pages. */
  const readBlock = async (start: number, end: number, wanted: readonly number[], signal: AbortSignal) => {
    const all = table.selectsColumns ? wanted : [...columns.keys()];
    const first = table.selectsColumns ? start : start - (start % pageRows);
    const last = table.selectsColumns ? end : Math.min(numRows, first + pageRows);
    const bytes = await load(first, last, table.selectsColumns ? wantedOf(wanted) : undefined, signal);
    const block = blockIn(bytes, all, last - first);
    return { block, first, end: Math.min(last, end), bytes: bytes.byteLength, positions: positionsOf(all) };
  };

  /** Reads all bytes of a blob; `undefined` for other cells. */
  const blobValue = (
    cell: GridCell | undefined,
    column: number,
    row: number,
    signal: AbortSignal,
  ): Promise<CellValue> | undefined => {
    if (cell?.kind !== 'blob') return undefined;
    const { text, size, mime, reason } = cell;
    if (reason !== undefined || !loadBlob) return Promise.resolve({ kind: 'omitted', text, reason: reason ?? '' });
    if (size > maxBlobBytes) {
      const limit = `Blobs of up to ${sizeText(maxBlobBytes)} are shown here.`;
      return Promise.resolve({ kind: 'omitted', text, reason: limit });
    }
    return loadRanges(
      loadBlob,
      row,
      positionOf(columns[column]!),
      size,
    )(signal, doNothing).then((bytes) =>
      mime?.startsWith('text/') === true
        ? { kind: 'text', bytes }
        : { kind: 'binary', bytes, mime: mime?.startsWith('image/') === true ? mime : undefined },
    );
  };

  return {
    get numRows() {
      return numRows;
    },
    columns,
    cell: (row, column) => partOf.get(column)?.cell(row, column),
    async show(start, end, shown) {
      // The gallery may show a field of a struct that is not expanded.
      for (const column of shown.filter((one) => !partOf.has(one)))
        for (const group of columnGroups(columns, [column])) {
          const part = newPart(group);
          parts.set(group.columns.join(), part);
          partOf.set(column, part);
        }
      const all = [...parts.values()];
      const inView = new Set(shown.map((column) => partOf.get(column)));
      for (const part of all) if (!inView.has(part)) part.hide();
      const [light, heavy] = [false, true].map((isHeavy) =>
        all.filter((part) => inView.has(part) && part.isHeavy === isHeavy),
      );
      const view = ++views;
      await Promise.all(light!.map((part) => part.show(start, end)));
      // The view has moved on. Its own call reads its images.
      if (view !== views) return;
      await Promise.all(heavy!.map((part) => part.show(start, end)));
    },
    expand: (structs) => {
      if (table.selectsColumns) arrange(treeGroups(columns, structs));
    },
    watch: (listener) => (onChange = listener),
    exactText: (row, column) => partOf.get(column)?.exactText(row, column),
    ...(loadBlob && { loadBlob: (row, column, size) => loadRanges(loadBlob, row, positionOf(columns[column]!), size) }),
    read: async (row, column, signal) => {
      const part = partOf.get(column);
      const loaded = part?.value(row, column);
      if (loaded) return blobValue(part?.cell(row, column), column, row, signal) ?? loaded;
      const { block, first, positions } = await readBlock(row, row + 1, [column], signal);
      const [at, position] = [row - first, positions.get(column)!];
      return blobValue(block.cell(at, position), column, row, signal) ?? block.value(at, position);
    },
    readRows: async (start, wantedEnd, some, signal) => {
      const { block, first, end, bytes, positions } = await readBlock(start, wantedEnd, some, signal);
      const cell = (row: number, column: number): GridCell => block.cell(row - first, positions.get(column)!);
      return {
        cell,
        exactText: (row, column) =>
          cellText(cell(row, column), () => block.exactText(row - first, positions.get(column)!)),
        end,
        bytes,
      };
    },
    problem: () => {
      const failed = [...parts.values()].flatMap((part) => part.failures)[0];
      return failed && { rows: rangeText(failed.start, failed.end), message: failed.error.message };
    },
    retry: () => {
      for (const part of parts.values()) part.retry();
    },
    grow: (next) => {
      numRows = next;
      for (const part of parts.values()) part.grow(next);
    },
    reload: () => {
      for (const part of parts.values()) part.reload();
    },
    close: () => {
      for (const part of parts.values()) part.close();
    },
  };
}

const positionsOf = (columns: readonly number[]): Map<number, number> =>
  new Map(columns.map((column, position) => [column, position]));

const rangeText = (start: number, end: number): string =>
  `${(start + 1).toLocaleString('en-US')}–${end.toLocaleString('en-US')}`;

/** Whether a field of a stream is of a column. The name of a nested field is up to the server. */
function isOf(field: Field | undefined, { name, type, blob, parent }: GridColumn): boolean {
  if (!field || parent === undefined) return name === field?.name;
  return blob === undefined ? type === typeText(field.type) : hasBlobHeads(field) || blobEncoding(field) === blob;
}

/** @throws Error if the bytes are not a valid Arrow stream, or the rows are from another table */
function checkPage(bytes: unknown, columns: readonly GridColumn[], numRows: number): Table {
  if (!(bytes instanceof Uint8Array)) throw new Error('Expected the rows as bytes. Open the table again.');
  const table = readArrow(bytes);
  const { fields } = table.schema;
  if (fields.length !== columns.length || !columns.every((column, index) => isOf(fields[index], column)))
    throw new Error('The columns of the table have changed. Open the table again to see them.');
  if (table.numRows !== numRows)
    throw new Error(`Expected ${numRows} rows, got ${table.numRows}. The table may have changed; open it again.`);
  return table;
}
