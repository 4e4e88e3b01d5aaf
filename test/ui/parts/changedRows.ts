import { type RecordBatch, tableFromArrays, Utf8, vectorFromArray } from '#arrow';
import { changeColumns, ChangeRows } from '#catalog/view/changeRows.ts';
import type { RowAt } from '#catalog/view/rowChange.ts';

const rowsOf = (ids: number[], names: (string | null)[], prices: (number | null)[]): RecordBatch =>
  tableFromArrays({
    id: Int32Array.from(ids),
    name: vectorFromArray(names, new Utf8()) as never,
    price: vectorFromArray(prices) as never,
  }).batches[0]!;

/** Returns the differences of two small tables, as the views process writes them. */
export function buildRows(): RecordBatch {
  const before = rowsOf([3, 5, 7], ['chair', 'book', 'lamp'], [7.5, 2, null]);
  const after = rowsOf([5, 7, 9], ['long book', 'lamp', null], [2, 4, 1]);
  const was = (row: number): RowAt => ({ batch: before, row });
  const is = (row: number): RowAt => ({ batch: after, row });
  const rows = new ChangeRows(changeColumns({ schema: after.schema, key: ['id'] }));
  rows.add({ kind: 'removed', before: was(0) });
  rows.add({ kind: 'changed', before: was(1), after: is(0), columns: ['name'] });
  rows.add({ kind: 'changed', before: was(2), after: is(1), columns: ['price'] });
  rows.add({ kind: 'added', after: is(2) });
  return rows.take()!;
}
