import type { RecordBatch } from '#arrow';
import type { Table } from '#client/table.ts';
import { hashesOf } from './rows.ts';
import { sqlName } from '#client/sqlName.ts';

/** Whether each row has a value of its own in a column; `example` is a value that two rows have. */
export type Uniqueness = { readonly nulls: number; readonly rows: number; readonly example: string | undefined };

/**
 * Looks through a column of a table that stays at a version: exact, in 8 bytes of memory a row. Hashes find what may be
 * there twice, and only those values are compared.
 */
export async function uniquenessOf(table: Table, column: string, signal: AbortSignal): Promise<Uniqueness> {
  const nulls = await table.countRows(`${sqlName(column)} IS NULL`, { signal });
  const total = await table.countRows(undefined, { signal });
  const hashes = new BigUint64Array(total);
  let rows = 0;
  for await (const batch of valuesOf(table, column, signal)) {
    const some = hashesOf(batch, [column]);
    hashes.set(some.subarray(0, total - rows), rows);
    rows += some.length;
  }
  const suspects = repeated(hashes.subarray(0, rows).toSorted());
  return { nulls, rows, example: suspects.size === 0 ? undefined : await firstTwice(table, column, suspects, signal) };
}

function repeated(sorted: BigUint64Array): Set<bigint> {
  const found = new Set<bigint>();
  // A column of few values has millions: some of them prove as much, since two rows of one hash are rarely two values.
  for (let row = 1; row < sorted.length && found.size < 1000; row++) {
    if (sorted[row] === sorted[row - 1]) found.add(sorted[row]!);
  }
  return found;
}

async function firstTwice(
  table: Table,
  column: string,
  suspects: ReadonlySet<bigint>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const seen = new Set<unknown>();
  for await (const batch of valuesOf(table, column, signal)) {
    const hashes = hashesOf(batch, [column]);
    for (let row = 0; row < hashes.length; row++) {
      if (!suspects.has(hashes[row]!)) continue;
      const value: unknown = batch.getChildAt(0)?.get(row);
      if (seen.has(value)) return String(value);
      seen.add(value);
    }
  }
  return undefined;
}

async function* valuesOf(table: Table, column: string, signal: AbortSignal): AsyncGenerator<RecordBatch> {
  const { batches } = await table
    .query()
    .where(`${sqlName(column)} IS NOT NULL`)
    .select([column])
    .execute({ signal });
  yield* batches;
}
