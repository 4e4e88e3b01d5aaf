import { type Data, DataType, type RecordBatch } from '#arrow';
import type { Ordering } from '#catalog/query/querySpec.ts';
import type { Query } from '#catalog/query/query.ts';
import type { Table } from '#catalog/table/table.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { countText } from '#shared/format/numbers.ts';
import { bothConditions } from './valueCondition.ts';
import { indexQuery, type RowSearch, textCondition } from './searchRows.ts';
import { keyOrder, keyReader, type KeyValue, markChanges } from './keyOrder.ts';
import type { NearestSpec } from './nearestSpec.ts';
import type { RowIdList } from './rowIdList.ts';

/** Which rows of a table a view has, and their order. */
export type ViewSpec = {
  /** Only rows for which this SQL expression is true. */
  readonly where?: string | undefined;
  /** Only rows that this search finds. They are in the order of the table, not by their score. */
  readonly search?: RowSearch | undefined;
  /** Columns to sort by, the first one first. Rows with equal values are in the order of their row ids. */
  readonly orderBy?: readonly Ordering[] | undefined;
  /** Only the rows nearest to a vector, in the order of their distance unless `orderBy` is set. */
  readonly nearest?: NearestSpec | undefined;
};

export type ListOptions = {
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with the number of listed rows, and with how many of the first ones no longer change their order and can be
   * read already.
   */
  readonly onProgress?: ((rows: number, settled: number) => void) | undefined;
};

/** Rows that are sorted in this process if a server can't sort them. They need about 50 bytes each. */
const maxLocalRows = 5_000_000;

/** Returns the query of the rows of a view: in table order, or in any order if an index finds them. */
export function filteredQuery(table: Table, { where, search }: ViewSpec): Query {
  const query = table.query();
  if (search?.isIndex === true) {
    const found = query.fullTextSearch(indexQuery(search)).limit(maxLocalRows + 1);
    return where === undefined ? found : found.where(where);
  }
  const filter = search ? bothConditions(where, textCondition(search)) : where;
  return filter === undefined ? query : query.where(filter);
}

/** Whether the rows of a view are found in an order that is not that of the view, so that all are listed at first. */
export const isListedFirst = ({ search }: ViewSpec): boolean => search?.isIndex === true;

/**
 * Adds the row ids of all rows of a view to an empty list. The table sorts the rows; if a server can't, they are sorted
 * here.
 * @throws CatalogError InvalidInput (13) or ColumnNotFound (12) for a wrong filter or column, Unsupported (0) for a
 * column that has no order, or for more rows than can be sorted here
 */
export async function listRows(table: Table, spec: ViewSpec, list: RowIdList, options: ListOptions): Promise<void> {
  const orderBy = spec.orderBy ?? [];
  const query = filteredQuery(table, spec);
  const columns = keyColumns(orderBy);
  if (isListedFirst(spec)) {
    const what = `The search finds more than ${countText(maxLocalRows)} rows.`;
    const cause = new CatalogError('Unsupported', what, 'Search for more words.');
    const found = orderBy.length === 0 ? query.select(['_rowid']) : query.select(columns).withRowId();
    return listSortedHere(found, { orderBy, cause }, list, options);
  }
  if (orderBy.length === 0) return listInOrder(query.select(['_rowid']), list, options);
  try {
    await listSorted(query.select(columns).orderBy(orderBy).withRowId(), orderBy, list, options);
  } catch (error) {
    if (!isCatalogError(error, 'Unsupported') || list.length > 0) throw error;
    await listSortedHere(query.select(columns).withRowId(), { orderBy, cause: error }, list, options);
  }
}

/** The names of the columns to sort by, each once. */
export const keyColumns = (orderBy: readonly Ordering[]): string[] => [...new Set(orderBy.map(({ column }) => column))];

async function listInOrder(query: Query, list: RowIdList, { signal, onProgress }: ListOptions): Promise<void> {
  for await (const batch of (await query.execute({ signal })).batches) {
    list.push(rowIdsOf(batch));
    await list.settle();
    onProgress?.(list.length, list.length);
  }
}

/** Lists sorted rows. Rows with equal keys arrive in any order, so each group of them is sorted by row id. */
async function listSorted(
  query: Query,
  orderBy: readonly Ordering[],
  list: RowIdList,
  { signal, onProgress }: ListOptions,
): Promise<void> {
  // Where the group of the last row starts, and its keys.
  let start = 0;
  let last: readonly KeyValue[] | undefined;
  for await (const batch of (await query.execute({ signal })).batches) {
    if (batch.numRows === 0) continue;
    const first = list.length;
    list.push(rowIdsOf(batch));
    const readKeys = keysReader(batch, orderBy);
    const marks = new Uint8Array(batch.numRows);
    for (const [index, column] of keyColumns(orderBy).entries()) markChanges(batch.data.children[index], column, marks);
    if (last && !isSame(readKeys(0), last)) marks[0] = 1;
    for (let row = marks.indexOf(1); row >= 0; row = marks.indexOf(1, row + 1)) {
      list.sort(start, first + row);
      start = first + row;
    }
    last = readKeys(batch.numRows - 1);
    await list.settle(start);
    onProgress?.(list.length, start);
  }
  list.sort(start, list.length);
  await list.settle();
}

/** Lists rows that arrive in any order, and sorts them in this process. */
async function listSortedHere(
  query: Query,
  { orderBy, cause }: { orderBy: readonly Ordering[]; cause: CatalogError },
  list: RowIdList,
  { signal, onProgress }: ListOptions,
): Promise<void> {
  const keys: KeyValue[][] = orderBy.map(() => []);
  const ids: bigint[] = [];
  for await (const batch of (await query.execute({ signal })).batches) {
    const rows = ids.length + batch.numRows;
    if (rows > maxLocalRows && orderBy.length === 0) throw cause;
    if (rows > maxLocalRows) {
      const what = `The server can't sort rows, and there are more than ${countText(maxLocalRows)}, which can be sorted without it.`;
      throw new CatalogError('Unsupported', what, 'Filter the rows before you sort them.', { cause });
    }
    for (const id of rowIdsOf(batch)) ids.push(id);
    for (const [index, read] of keyReaders(batch, orderBy).entries())
      for (let row = 0; row < batch.numRows; row++) keys[index]!.push(read(row));
    onProgress?.(ids.length, 0);
  }
  const orders = orderBy.map((ordering) => keyOrder(ordering));
  const compare = (a: number, b: number): number => {
    for (const [index, order] of orders.entries()) {
      const result = order(keys[index]![a]!, keys[index]![b]!);
      if (result !== 0) return result;
    }
    return ids[a]! < ids[b]! ? -1 : 1;
  };
  list.push(BigUint64Array.from(Uint32Array.from(ids.keys()).toSorted(compare), (row) => ids[row]!));
  await list.settle();
}

const keyReaders = (batch: RecordBatch, orderBy: readonly Ordering[]): ((row: number) => KeyValue)[] =>
  orderBy.map(({ column }) => {
    const index = keyColumns(orderBy).indexOf(column);
    return keyReader(batch.data.children[index], column);
  });

/** Returns a function from a row to its keys. The columns of the batch are those of `keyColumns`, and then the row id. */
export function keysReader(batch: RecordBatch, orderBy: readonly Ordering[]): (row: number) => readonly KeyValue[] {
  const readers = keyReaders(batch, orderBy);
  return (row) => readers.map((read) => read(row));
}

/** Whether two rows have the same keys. The two zeros differ, as in the order, and NaN is the same as NaN. */
export const isSame = (a: readonly KeyValue[], b: readonly KeyValue[]): boolean =>
  a.every((key, index) => Object.is(key, b[index]));

function rowIdData({ schema, data }: RecordBatch): Data | undefined {
  const index = schema.fields.findIndex(({ name }) => name === '_rowid');
  const ids = data.children[index] as Data | undefined;
  return ids && DataType.isInt(ids.type) && ids.type.bitWidth === 64 ? ids : undefined;
}

export const hasRowIds = (batch: RecordBatch): boolean => rowIdData(batch) !== undefined;

/** Returns the row ids of a batch. @throws CatalogError Unsupported (0) if the server returned none */
export function rowIdsOf(batch: RecordBatch): BigUint64Array {
  const data = rowIdData(batch);
  if (!data)
    throw new CatalogError(
      'Unsupported',
      'The server returned rows without their row ids, which sorting needs.',
      'Filter the rows, or use SQL instead.',
    );
  const values = data.values as BigInt64Array | BigUint64Array;
  return new BigUint64Array(values.buffer as ArrayBuffer, values.byteOffset, batch.numRows);
}
