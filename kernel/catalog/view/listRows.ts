import type { Ordering } from '#catalog/query/querySpec.ts';
import type { Query } from '#catalog/query/query.ts';
import type { Table } from '#catalog/table/table.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { countText } from '#shared/format/numbers.ts';
import { bothConditions } from './valueCondition.ts';
import { indexQuery, type RowSearch, textCondition } from './searchRows.ts';
import { keyOrder, type KeyValue } from './keyOrder.ts';
import type { NearestSpec } from './nearestSpec.ts';
import type { ListOptions, RowIdList } from './rowIdList.ts';
import { keyColumns, keyReaders, rowIdsOf } from './rowKeys.ts';
import { SortedParts, type SortSource } from './sortedParts.ts';

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

/** Rows that are sorted in this process if a server can't sort them. They need about 50 bytes each. */
const maxLocalRows = 5_000_000;

/** Returns the query of the rows of a view: in table order, or in any order if an index finds them. */
export function filteredQuery(table: Table, { where, search }: ViewSpec): Query {
  const query = table.query();
  if (search?.isIndex === true) {
    const found = query.fullTextSearch(indexQuery(search)).limit(maxLocalRows + 1);
    return where === undefined ? found : found.where(where);
  }
  const filter = conditionOf({ where, search });
  return filter === undefined ? query : query.where(filter);
}

/** Returns the condition of the rows of a view that no index finds. */
const conditionOf = ({ where, search }: ViewSpec): string | undefined =>
  search ? bothConditions(where, textCondition(search)) : where;

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
    await new SortedParts(sourceOf(table, spec, options), orderBy, list, options).listAll();
  } catch (error) {
    if (!isCatalogError(error, 'Unsupported') || list.length > 0) throw error;
    await listSortedHere(query.select(columns).withRowId(), { orderBy, cause: error }, list, options);
  }
}

const sourceOf = (table: Table, spec: ViewSpec, { signal }: ListOptions): SortSource => ({
  queryRows: (condition) =>
    filteredQuery(table, condition === undefined ? spec : { ...spec, where: bothConditions(spec.where, condition) }),
  queryTable: () => table.query(),
  countTable: () => table.countRows(undefined, { signal }),
  countRows: () => table.countRows(conditionOf(spec), { signal }),
});

async function listInOrder(query: Query, list: RowIdList, { signal, onProgress }: ListOptions): Promise<void> {
  for await (const batch of (await query.execute({ signal })).batches) {
    list.push(rowIdsOf(batch));
    await list.settle();
    onProgress?.(list.length, list.length);
  }
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
