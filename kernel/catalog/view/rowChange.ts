import type { RecordBatch } from '#arrow';
import { columnHasher, finish, reset, state } from '#catalog/arrow/rowHash.ts';

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

type BatchHashers = ReadonlyMap<string, ReturnType<typeof columnHasher>>;
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
export function isSameCell(before: RowAt, after: RowAt, column: string): boolean {
  const [first, second] = hashOf(before, column);
  const [otherFirst, otherSecond] = hashOf(after, column);
  return first === otherFirst && second === otherSecond;
}

function hashOf({ batch, row }: RowAt, column: string): readonly [number, number] {
  reset();
  hashersFor(batch).get(column)!.one(row);
  finish();
  return [state[0]!, state[1]!];
}
