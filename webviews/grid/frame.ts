import type { Table } from '#arrow';
import type { DataFrame } from 'hightable';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { readArrow } from '#shared/arrow/readArrow.ts';
import { type Cell, columnFormatter, unlimited } from '#shared/format/cellText.ts';
import type { ColumnInfo, PanelTable } from '#shared/protocol/webviewMessages.ts';
import { pageRows } from '#shared/mime.ts';
import { Pages } from './pages.ts';

/** A cell of the grid: a value, or the reason why it is missing. */
export type GridCell = Cell | { kind: 'failed'; text: string; reason: string };

/** The content of the grid: the data frame that the grid component shows, and further data. */
export type GridFrame = {
  readonly data: DataFrame;
  /** All columns in their order; the grid may hide some. */
  readonly columns: readonly GridColumn[];
  /** Returns the full text of a cell by row and index in `columns`; `undefined` if it isn't loaded. */
  exactText(row: number, column: number): string | undefined;
  /** Returns why visible rows are missing, or `undefined`. */
  problem(): { rows: string; message: string } | undefined;
  retry(): void;
  close(): void;
};

/** A column of the grid. `key` is its name in the grid component. Keys are unique, but names of a table may not be. */
export type GridColumn = ColumnInfo & { readonly key: string; readonly numeric: boolean };

const numericType = /^(u?int|halffloat|float|double|decimal)/;

function gridColumns(columns: readonly ColumnInfo[]): GridColumn[] {
  const taken = new Set(columns.map(({ name }) => name));
  const named = new Set<string>();
  return columns.map((column) => {
    const { name } = column;
    let key = name;
    for (let nth = 2; named.has(name) && taken.has(key); nth++) key = `${name} (${nth})`;
    named.add(name);
    taken.add(key);
    return { ...column, key, numeric: numericType.test(column.type) };
  });
}

/** Loaded rows. Each cell is formatted once. */
type Block = { cell(row: number, column: number): Cell; exactText(row: number, column: number): string };

function blockOf(table: Table): Block {
  const { fields } = table.schema;
  const vectors = fields.map((_, i) => table.getChildAt(i)!);
  const formatters = vectors.map((vector, i) => columnFormatter(vector, { field: fields[i] }));
  const cells: Cell[][] = fields.map(() => []);
  return {
    // The grid compares cells by identity to decide what to draw again.
    cell: (row, column) => (cells[column]![row] ??= formatters[column]!(row)),
    exactText: (row, column) => columnFormatter(vectors[column]!, { limits: unlimited })(row).text,
  };
}

const cellText = (cell: Cell | undefined, whole: () => string): string | undefined =>
  cell === undefined ? undefined : cell.kind === 'null' ? '' : whole();

/** Creates the frame of a table that is completely in memory. */
export function tableFrame(table: Table): GridFrame {
  const block = blockOf(table);
  const columns = gridColumns(columnsOf(table.schema));
  const positions = new Map(columns.map(({ key }, i) => [key, i]));
  return {
    columns,
    data: {
      numRows: table.numRows,
      columnDescriptors: columns.map(({ key }) => ({ name: key })),
      getRowNumber: ({ row }) => ({ value: row }),
      getCell: ({ row, column }) => ({ value: block.cell(row, positions.get(column)!) }),
    },
    exactText: (row, column) => cellText(block.cell(row, column), () => block.exactText(row, column)),
    problem: () => undefined,
    retry: () => {},
    close: () => {},
  };
}

/** Boxes a loaded value, because the data frame expects undefined for a cell that is not loaded. */
const boxed = (value: GridCell | undefined) => (value === undefined ? undefined : { value });

/** Loads rows [start, end) of the table as an Arrow stream. */
type LoadRows = (start: number, end: number, signal: AbortSignal) => Promise<Uint8Array>;

/**
 * Creates the frame of a table of any size, which is read in pages of Arrow. Call `close()` when the grid is removed.
 */
export function pagedFrame(table: PanelTable, load: LoadRows): GridFrame {
  const columns = gridColumns(table.columns);
  const positions = new Map(columns.map(({ key }, i) => [key, i]));
  const events = new EventTarget();
  const pages = new Pages<Block>({
    numRows: table.numRows,
    pageRows,
    load: async (start, end, signal) => {
      const bytes = await load(start, end, signal);
      return { value: blockOf(checkPage(bytes, columns, end - start)), bytes: bytes.byteLength };
    },
    onChange: () => events.dispatchEvent(new CustomEvent('resolve')),
  });
  const cellAt = (row: number, column: number): GridCell | undefined => {
    const page = pages.at(row);
    if (page?.state === 'loaded') return page.value.cell(row - page.start, column);
    if (page?.state !== 'failed') return undefined;
    return { kind: 'failed', text: column === 0 ? 'not loaded' : '', reason: page.error.message };
  };
  return {
    columns,
    data: {
      numRows: table.numRows,
      columnDescriptors: columns.map(({ key }) => ({ name: key })),
      getRowNumber: ({ row }) => ({ value: row }),
      getCell: ({ row, column }) => boxed(cellAt(row, positions.get(column)!)),
      // Ignore the grid's signal, because it aborts on every scroll. `Pages` decides which loads to cancel.
      fetch: ({ rowStart, rowEnd }) => pages.show(rowStart, rowEnd),
      eventTarget: events as NonNullable<DataFrame['eventTarget']>,
    },
    exactText: (row, column) => {
      const page = pages.at(row);
      if (page?.state !== 'loaded') return undefined;
      const cell = page.value.cell(row - page.start, column);
      return cellText(cell, () => page.value.exactText(row - page.start, column));
    },
    problem: () => {
      const [page] = pages.failures;
      return page && { rows: rangeText(page.start, page.end), message: page.error.message };
    },
    retry: () => void pages.retry().catch(() => {}),
    close: () => pages.close(),
  };
}

const rangeText = (start: number, end: number): string =>
  `${(start + 1).toLocaleString('en-US')}–${end.toLocaleString('en-US')}`;

/** @throws Error if the bytes are not a valid Arrow stream, or the rows are from another table */
function checkPage(bytes: unknown, columns: readonly GridColumn[], numRows: number): Table {
  if (!(bytes instanceof Uint8Array)) throw new Error('Expected the rows as bytes. Open the table again.');
  const table = readArrow(bytes);
  const names = table.schema.fields.map(({ name }) => name);
  if (names.length !== columns.length || columns.some(({ name }, i) => name !== names[i]))
    throw new Error('The columns of the table have changed. Open the table again to see them.');
  if (table.numRows !== numRows)
    throw new Error(`Expected ${numRows} rows, got ${table.numRows}. The table may have changed; open it again.`);
  return table;
}
