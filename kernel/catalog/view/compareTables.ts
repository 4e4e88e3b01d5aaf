import type { RecordBatch, Schema } from '#arrow';
import { checkTexts } from '#catalog/arguments/tableArguments.ts';
import { columnHasher, finish, reset, state } from '#catalog/arrow/rowHash.ts';
import type { Table } from '#catalog/table/table.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import { namesText } from '#shared/format/markup.ts';
import { keyOrder, keyReader, type KeyValue } from './keyOrder.ts';
import { readTableRows } from './tableRows.ts';

/** A row of a batch. */
export type RowAt = { readonly batch: RecordBatch; readonly row: number };

/** A difference between two tables. `columns` are those with other values. */
export type RowChange =
  | { readonly kind: 'added'; readonly after: RowAt }
  | { readonly kind: 'removed'; readonly before: RowAt }
  | { readonly kind: 'changed'; readonly before: RowAt; readonly after: RowAt; readonly columns: readonly string[] };

export type CompareOptions = {
  /** The columns that identify a row in both tables. */
  readonly key: readonly string[];
  readonly signal?: AbortSignal | undefined;
};

/** The differences between two tables, in the order of their keys, and the columns that only one of them has. */
export type TableComparison = {
  readonly changes: AsyncIterable<RowChange>;
  readonly addedColumns: readonly string[];
  readonly removedColumns: readonly string[];
};

/**
 * Compares the rows of two tables, or of two versions of a table, that have the same values in the columns of the key.
 * Both are read sorted by the key, in step, so that memory does not grow with them. Columns that only one of them has
 * are not compared. Values are compared by 64-bit hashes of their bits, so NaN equals NaN.
 * @throws CatalogError InvalidInput (13) for no key, a key that several rows have, or a column with two types,
 * ColumnNotFound (12) for a missing column of the key, Unsupported (0) for a type that has no order
 */
export async function compareTables(
  before: Table,
  after: Table,
  { key, signal }: CompareOptions,
): Promise<TableComparison> {
  checkTexts('compareTables', 'key column', key);
  const [old, young] = await Promise.all([before.schema({ signal }), after.schema({ signal })]);
  for (const schema of [old, young]) checkKey(schema, key);
  const types = new Map(young.fields.map(({ name, type }) => [name, typeText(type)]));
  const common = old.fields.filter(({ name }) => types.has(name));
  const other = common.find(({ name, type }) => types.get(name) !== typeText(type));
  if (other) {
    const what = `The column "${other.name}" is ${typeText(other.type)} before and ${types.get(other.name)} after.`;
    throw new CatalogError('InvalidInput', what, 'Compare tables whose columns have the same types.');
  }
  // The columns of the key are first, and both tables have the others in the same order.
  const columns = [...key, ...common.map(({ name }) => name).filter((name) => !key.includes(name))];
  const read = (table: Table): AsyncGenerator<KeyedRow, void, undefined> => keyedRows(table, { columns, key, signal });
  return {
    changes: mergedChanges(read(before), read(after), columns, key),
    addedColumns: young.fields.map(({ name }) => name).filter((name) => !columns.includes(name)),
    removedColumns: old.fields.map(({ name }) => name).filter((name) => !columns.includes(name)),
  };
}

function checkKey({ fields }: Schema, key: readonly string[]): void {
  const missing = key.find((name) => !fields.some((field) => field.name === name));
  if (missing === undefined) return;
  const known = namesText(fields.map(({ name }) => name));
  throw new CatalogError('ColumnNotFound', `There is no column "${missing}".`, `The columns are ${known}.`);
}

/** A row with its key. The hashers have one entry for each column. */
type KeyedRow = RowAt & { readonly keys: readonly KeyValue[]; readonly hashers: readonly Hash[] };
type Hash = ReturnType<typeof columnHasher>;

async function* keyedRows(
  table: Table,
  { columns, key, signal }: CompareOptions & { columns: readonly string[] },
): AsyncGenerator<KeyedRow, void, undefined> {
  const orderBy = key.map((column) => ({ column }));
  const { batches } = await readTableRows(table, { columns, orderBy }, { signal });
  let last: readonly KeyValue[] | undefined;
  for await (const batch of batches) {
    const { children } = batch.data;
    const readKeys = key.map((name, index) => keyReader(children[index], name));
    const hashers = columns.map((name, index) => columnHasher(children[index]!, name));
    for (let row = 0; row < batch.numRows; row++) {
      const keys = readKeys.map((read) => read(row));
      if (last && compareKeys(last, keys) === 0) throw sameKey(table, key, keys);
      last = keys;
      yield { batch, row, keys, hashers };
    }
  }
}

function sameKey({ name }: Table, key: readonly string[], keys: readonly KeyValue[]): CatalogError {
  const values = keys.map((value) => String(value)).join(', ');
  const what = `Several rows of "${name}" have the value ${values} in ${namesText(key)}.`;
  return new CatalogError('InvalidInput', what, 'Use columns as the key that identify each row.');
}

const order = keyOrder({ column: '' });

function compareKeys(a: readonly KeyValue[], b: readonly KeyValue[]): number {
  for (const [index, value] of a.entries()) {
    const result = order(value, b[index]!);
    if (result !== 0) return result;
  }
  return 0;
}

async function* mergedChanges(
  before: AsyncGenerator<KeyedRow, void, undefined>,
  after: AsyncGenerator<KeyedRow, void, undefined>,
  columns: readonly string[],
  key: readonly string[],
): AsyncGenerator<RowChange, void, undefined> {
  try {
    let [old, young] = await Promise.all([before.next(), after.next()]);
    while (!old.done || !young.done) {
      const sign = old.done ? 1 : young.done ? -1 : compareKeys(old.value.keys, young.value.keys);
      if (sign < 0) {
        yield { kind: 'removed', before: old.value as KeyedRow };
        old = await before.next();
      } else if (sign > 0) {
        yield { kind: 'added', after: young.value as KeyedRow };
        young = await after.next();
      } else {
        const pair = { before: old.value as KeyedRow, after: young.value as KeyedRow };
        const changed = columns.filter((_, at) => at >= key.length && !isSameValue(pair.before, pair.after, at));
        if (changed.length > 0) yield { kind: 'changed', ...pair, columns: changed };
        [old, young] = await Promise.all([before.next(), after.next()]);
      }
    }
  } finally {
    // Both are read to their end, unless one fails or the caller stops early.
    await Promise.allSettled([before.return(), after.return()]);
  }
}

function isSameValue(before: KeyedRow, after: KeyedRow, column: number): boolean {
  const [first, second] = hashOf(before, column);
  const [otherFirst, otherSecond] = hashOf(after, column);
  return first === otherFirst && second === otherSecond;
}

function hashOf({ hashers, row }: KeyedRow, column: number): readonly [number, number] {
  reset();
  hashers[column]!.one(row);
  finish();
  return [state[0]!, state[1]!];
}
