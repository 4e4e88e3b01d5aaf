import type { RecordBatch } from '#arrow';
import { columnHasher, type ColumnHasher, hasSameHash } from '#catalog/arrow/rowHash.ts';

/** A row of a batch. */
export type RowAt = { readonly batch: RecordBatch; readonly row: number };

/** A difference between two tables. `columns` are those with other values; `rowId` is set without a key. */
export type RowChange = { readonly rowId?: number } & (
  | { readonly kind: 'added'; readonly after: RowAt }
  | { readonly kind: 'removed'; readonly before: RowAt }
  | { readonly kind: 'changed'; readonly before: RowAt; readonly after: RowAt; readonly columns: readonly string[] }
);

/** The number of rows that were read so far. */
export type RowsRead = { before: number; after: number };

type BatchHashers = ReadonlyMap<string, ColumnHasher>;
const hashersOfBatches = new WeakMap<RecordBatch, BatchHashers>();

function hashersFor(batch: RecordBatch): BatchHashers {
  const known = hashersOfBatches.get(batch);
  if (known) return known;
  const { fields } = batch.schema;
  const hashers = new Map(fields.map(({ name }, index) => [name, columnHasher(batch.data.children[index]!, name)]));
  hashersOfBatches.set(batch, hashers);
  return hashers;
}

/** Whether two rows have the same value in a column, by the hashes of its bits. */
export const isSameCell = (before: RowAt, after: RowAt, column: string): boolean =>
  hasSameHash(hashersFor(before.batch).get(column)!, before.row, hashersFor(after.batch).get(column)!, after.row);
