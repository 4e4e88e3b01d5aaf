import { type RecordBatch, RecordBatch as Batch, type Schema } from '#arrow';
import type { BatchStream } from '#catalog/query/querySpec.ts';
import type { Table } from '#catalog/table/table.ts';
import { filteredQuery, isListedFirst, type ViewSpec } from './listRows.ts';
import type { ListOptions } from './rowIdList.ts';
import { TableView } from './tableView.ts';

export type RowsSpec = ViewSpec & {
  /** Columns of the result. Default: all. */
  readonly columns?: readonly string[] | undefined;
  /** Maximum number of rows. */
  readonly limit?: number | undefined;
};

/** The rows that a view shows: a table, and what the user chose of it. */
export type ViewOfTable = RowsSpec & {
  readonly namespacePath: readonly string[];
  readonly name: string;
  /** Default: the newest. */
  readonly version?: number | undefined;
  /** The names of all columns. If they are given, SQL quotes those in the condition that are keywords. */
  readonly allColumns?: readonly string[] | undefined;
};

/** Bytes of Arrow data that are read at once by row ids. */
const takenBytes = 4 * 2 ** 20;
const maxTaken = 4_000;
export const firstTaken = 100;

/** Returns how many rows to read next, at most `maxRows`, by the size of the rows that were read before. */
export function nextCount(rows: number, batches: readonly RecordBatch[], maxRows: number): number {
  const bytes = batches.reduce((total, { data }) => total + data.byteLength, 0);
  return Math.max(1, Math.min(maxRows, Math.floor((takenBytes * rows) / Math.max(bytes, 1))));
}

/**
 * Reads all rows of a view. Rows without an order are one scan. Sorted rows are read in parts from the list of their row
 * ids, so that memory does not grow with the table, and they have the order of the pages of a `TableView`.
 * @param table opened at a version
 * @throws CatalogError as `TableView.list`
 */
export async function readTableRows(
  table: Table,
  { columns, limit, ...spec }: RowsSpec,
  options: ListOptions = {},
): Promise<BatchStream> {
  const query = filteredQuery(table, spec);
  const selected = columns ? query.select(columns) : query;
  const { signal } = options;
  if (spec.nearest) return nearestRows(table, { columns, limit, ...spec }, options);
  if (!isListedFirst(spec) && (!spec.orderBy || spec.orderBy.length === 0))
    return (limit === undefined ? selected : selected.limit(limit)).execute({ signal });
  // A search would add its score to the columns.
  const all = table.query();
  const schema = await (columns ? all.select(columns) : all).outputSchema({ signal });
  return { schema, batches: batchesOf(new TableView(table, spec), { columns, limit }, schema, options) };
}

/** Reads the rows nearest to a vector. The search is done when the result is returned, because its columns are known then. */
async function nearestRows(
  table: Table,
  { columns, limit, ...spec }: RowsSpec,
  options: ListOptions,
): Promise<BatchStream> {
  const view = new TableView(table, spec);
  try {
    const { schema } = await view.rows(0, 0, { columns, signal: options.signal });
    return { schema, batches: batchesOf(view, { columns, limit }, schema, options) };
  } catch (error) {
    await view.close();
    throw error;
  }
}

/** Reads all rows of a view in parts, and closes it. */
async function* batchesOf(
  view: TableView,
  { columns, limit = Infinity }: Pick<RowsSpec, 'columns' | 'limit'>,
  schema: Schema,
  options: ListOptions,
): AsyncGenerator<RecordBatch, void, undefined> {
  const { signal } = options;
  try {
    const end = Math.min(limit, (await view.list(options)).length);
    yield* viewBatches(view, { start: 0, end, columns }, schema, signal);
  } finally {
    await view.close();
  }
}

/** Rows [start, end) of a view or a table, and which of their columns. Default: all. */
export type RowsRange = {
  readonly start: number;
  readonly end: number;
  readonly columns?: readonly string[] | undefined;
};

/**
 * Reads rows of an open view in parts, so that memory does not grow with their number.
 * @throws CatalogError as `TableView.rows`
 */
export async function readViewRows(
  view: TableView,
  range: RowsRange,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<BatchStream> {
  // A search by vector adds a column, so only its rows have the right schema.
  const { schema } = await view.rows(range.start, range.start, { columns: range.columns, signal });
  return { schema, batches: viewBatches(view, range, schema, signal) };
}

async function* viewBatches(
  view: TableView,
  { start: first, end, columns }: RowsRange,
  schema: Schema,
  signal: AbortSignal | undefined,
): AsyncGenerator<RecordBatch, void, undefined> {
  let count = firstTaken;
  const take = (start: number) => view.rows(start, Math.min(start + count, end), { columns, signal });
  let next = first < end ? take(first) : undefined;
  for (let start = first; next;) {
    const rows = await next;
    // The view has fewer rows.
    if (rows.numRows === 0) return;
    start += rows.numRows;
    count = nextCount(rows.numRows, rows.batches, maxTaken);
    // Read the next rows while these are written.
    next = start < end ? take(start) : undefined;
    next?.catch(() => {});
    for (const { data } of rows.batches) yield new Batch(schema, data);
  }
}
