import { DataType, type Field, Precision, type RecordBatch, type Schema } from '#arrow';
import { isPrimaryKey } from '#catalog/table/primaryKey.ts';
import { sqlName } from '#catalog/sqlText.ts';
import type { Table } from '#catalog/table/table.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { hashesOf } from './rows.ts';

/** `odd`: rows without a value that can identify them. `example`: a value that occurs twice. */
type Uniqueness = { readonly odd: number; readonly rows: number; readonly example: string | undefined };

/**
 * Checks a column of a pinned table for duplicates. First compares hashes, then the values whose hashes occur twice.
 * Takes 16 bytes of memory per row for the hashes and their sorted copy.
 */
async function uniquenessOf(table: Table, column: string, signal: AbortSignal): Promise<Uniqueness> {
  let odd = await table.countRows(`${sqlName(column)} IS NULL`, { signal });
  const total = await table.countRows(undefined, { signal });
  const hashes = new BigUint64Array(total);
  let rows = 0;
  for await (const batch of valuesOf(table, column, signal)) {
    const some = hashesOf(batch, [column]);
    odd += countOdd(batch);
    hashes.set(some.subarray(0, total - rows), rows);
    rows += some.length;
  }
  const suspects = repeated(hashes.subarray(0, rows).toSorted());
  return { odd, rows, example: suspects.size === 0 ? undefined : await firstTwice(table, column, suspects, signal) };
}

/**
 * Counts floating-point numbers that are not safe integers. Whole numbers of JavaScript are stored as Float64, but NaN,
 * -0 and fractions are equal to other values in some comparisons and not in others.
 */
function countOdd(batch: RecordBatch): number {
  const values: unknown = batch.getChildAt(0)?.toArray();
  if (!(values instanceof Float64Array)) return 0;
  return values.reduce((count, value) => (Number.isSafeInteger(value) && !Object.is(value, -0) ? count : count + 1), 0);
}

function repeated(sorted: BigUint64Array): Set<bigint> {
  const found = new Set<bigint>();
  // The search ends at 1000 repeated hashes. They suffice to find a repeated value, because different values rarely
  // have equal hashes.
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

export type KeyColumn = { readonly name: string; readonly reason: string };

const obvious = /^(id|key|pk|uuid|guid|row_?id|_id|.+_id|.+_uuid|.+_key)$/i;

/**
 * Returns the column that identifies rows. This is the requested column. Without a request, it is a column with unique
 * values that its metadata or its name marks as a key.
 * @param table pinned to the version that is computed
 * @param isNotKey the column that is computed
 * @throws JobError ColumnMissing, KeyMissing, KeyNotUnique
 */
export async function findKey(
  table: Table,
  asked: string | undefined,
  isNotKey: string,
  signal: AbortSignal,
): Promise<KeyColumn> {
  const schema = await table.schema({ signal });
  if (asked !== undefined) return checkedKey(table, schema, asked, signal);
  const fit = schema.fields.filter((field) => field.name !== isNotKey && isKeyType(field));
  const primary = fit.filter(isPrimaryKey);
  const candidates = primary.length > 0 ? primary : fit.filter(({ name }) => obvious.test(name));
  const unique: string[] = [];
  for (const { name } of candidates.slice(0, mostCandidates)) {
    if (isUnique(await uniquenessOf(table, name, signal))) unique.push(name);
  }
  // If several columns are unique, `id` is preferred to, for instance, `order_id`, because `order_id` may identify
  // another kind of row.
  const name = unique.length > 1 ? unique.find((each) => /^_?id$/i.test(each)) : unique[0];
  if (name === undefined) throw noKey(table, unique);
  return { name, reason: `the values of "${name}" are unique` };
}

/** Maximum number of columns to check, because checking a column reads all its values. */
const mostCandidates = 5;

async function checkedKey(table: Table, schema: Schema, name: string, signal: AbortSignal): Promise<KeyColumn> {
  const field = schema.fields.find((each) => each.name === name);
  if (!field) {
    const there = schema.fields.filter(isKeyType).map((each) => `"${each.name}"`);
    throw new JobError(
      'ColumnMissing',
      `Table "${table.name}" has no column "${name}" to use as the key.`,
      there.length > 0 ? `Possible key columns: ${there.join(', ')}.` : hint,
    );
  }
  if (!isKeyType(field)) {
    const what = `The column "${name}" is of type ${typeText(field.type)}, which can't be a key here.`;
    throw new JobError('KeyMissing', what, `Choose a column of numbers or strings. ${hint}`);
  }
  const found = await uniquenessOf(table, name, signal);
  if (!isUnique(found)) throw notUnique(table.name, name, found);
  return { name, reason: 'it was requested, and its values are unique' };
}

const isKeyType = ({ type }: Field): boolean =>
  DataType.isInt(type) ||
  DataType.isUtf8(type) ||
  DataType.isLargeUtf8(type) ||
  (DataType.isFloat(type) && type.precision === Precision.DOUBLE);

const isUnique = ({ odd, example }: Uniqueness): boolean => odd === 0 && example === undefined;

const hint = 'The runner "local-python" needs no key.';

function notUnique(table: string, column: string, { odd, example }: Uniqueness): JobError {
  const why =
    odd > 0
      ? `${odd === 1 ? 'one row has' : `${odd} rows have`} no value that identifies it`
      : `more than one row has ${JSON.stringify(example)}`;
  return new JobError(
    'KeyNotUnique',
    `The column "${column}" of table "${table}" can't be the key: ${why}.`,
    `Set another column with the option "key". ${hint}`,
  );
}

function noKey({ name }: Table, unique: readonly string[]): JobError {
  const what =
    unique.length > 1
      ? `Several columns of table "${name}" can be the key: ${unique.map((each) => `"${each}"`).join(', ')}.`
      : `Table "${name}" has no obvious key column, which the runner "local" needs to write rows back.`;
  return new JobError('KeyMissing', what, `Set a column with unique values with the option "key". ${hint}`);
}
