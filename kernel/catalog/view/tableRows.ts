import { type RecordBatch, RecordBatch as Batch, type Schema } from '#arrow';
import type { BatchStream } from '#catalog/query/querySpec.ts';
import type { Table } from '#catalog/table/table.ts';
import { filteredQuery, type ListOptions, type ViewSpec } from './listRows.ts';
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

/** Bytes of Arrow data that are read at once from sorted rows. */
const takenBytes = 4 * 2 ** 20;
const maxTaken = 4_000;
const firstTaken = 100;

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
  if (!spec.orderBy || spec.orderBy.length === 0)
    return (limit === undefined ? selected : selected.limit(limit)).execute({ signal });
  const schema = await selected.outputSchema({ signal });
  return { schema, batches: sortedBatches(table, { columns, limit, ...spec }, schema, options) };
}

async function* sortedBatches(
  table: Table,
  { columns, limit = Infinity, ...spec }: RowsSpec,
  schema: Schema,
  options: ListOptions,
): AsyncGenerator<RecordBatch, void, undefined> {
  const { signal } = options;
  const view = new TableView(table, spec);
  try {
    const length = Math.min(limit, (await view.list(options)).length);
    let count = firstTaken;
    const take = (start: number) => view.rows(start, Math.min(start + count, length), { columns, signal });
    let next = length > 0 ? take(0) : undefined;
    for (let start = 0; next;) {
      const rows = await next;
      start += rows.numRows;
      const bytes = rows.batches.reduce((total, { data }) => total + data.byteLength, 0);
      count = Math.max(1, Math.min(maxTaken, Math.floor((takenBytes * rows.numRows) / Math.max(bytes, 1))));
      // Read the next rows while these are written.
      next = start < length ? take(start) : undefined;
      next?.catch(() => {});
      for (const { data } of rows.batches) yield new Batch(schema, data);
    }
  } finally {
    await view.close();
  }
}
