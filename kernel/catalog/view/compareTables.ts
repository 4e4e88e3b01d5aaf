import type { Schema } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { checkTexts } from '#catalog/arguments/tableArguments.ts';
import { columnHasher, type ColumnHasher, hasSameHash } from '#catalog/arrow/rowHash.ts';
import type { Ordering } from '#catalog/query/querySpec.ts';
import type { Table } from '#catalog/table/table.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import { namesText } from '#shared/format/markup.ts';
import { displayPath } from '#shared/names.ts';
import { nextSteps } from '#shared/nextSteps.ts';
import type { ChangedColumn } from '#shared/protocol/changes.ts';
import { changesByRowId, hasCommonRowIds } from './compareByRowId.ts';
import { keyReader, type KeyValue, rowOrder } from './keyOrder.ts';
import type { RowAt, RowChange, RowsRead } from './rowChange.ts';
import { readTableRows } from './tableRows.ts';

export type CompareOptions = {
  /**
   * The columns that identify a row in both tables. Without them, rows are compared by their row ids, which needs two
   * versions of one table with stable row ids.
   */
  readonly key?: readonly string[] | undefined;
  /** The columns that are compared, in addition to the key. Default: all that both tables have. */
  readonly columns?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
};

/** The differences between two tables, the rows in the order of their keys or row ids. */
export type TableComparison = {
  readonly changes: AsyncIterable<RowChange>;
  /** The columns that only one table has, or that have two types. Their values are not compared. */
  readonly columnChanges: readonly ChangedColumn[];
  /** The columns that are compared; those of the key are first. */
  readonly columns: readonly string[];
  /** The compared columns, as the second table has them. */
  readonly schema: Schema;
  /** The columns that identify a row; undefined if row ids do. */
  readonly key: readonly string[] | undefined;
  readonly rowsRead: Readonly<RowsRead>;
};

/**
 * Compares the rows of two tables, or of two versions of a table, that have the same values in the columns of the key.
 * Both are read sorted by the key, in step, so that memory does not grow with them. Without a key, rows with the same
 * row id are compared. Columns that only one of them has, and those with two types, are not compared. Values are compared
 * by 64-bit hashes of their bits, so NaN equals NaN.
 * @throws CatalogError InvalidInput (13) for an empty key, a key that several rows have or that has two types, and for
 * two tables without a key; ColumnNotFound (12) for a missing column; Unsupported (0) for a type that has no order, and
 * for a table without stable row ids and without a key
 */
export async function compareTables(
  before: Table,
  after: Table,
  { key, columns: only, signal }: CompareOptions,
): Promise<TableComparison> {
  if (key) checkTexts('compareTables', 'key column', key);
  if (only) checkTexts('compareTables', 'column', only);
  const keys = key ?? [];
  const [old, young] = await Promise.all([before.schema({ signal }), after.schema({ signal })]);
  for (const schema of [old, young]) checkColumns(schema.fields, keys);
  if (only) checkColumns([...old.fields, ...young.fields], only);
  const columnChanges = compareSchemas(old, young).filter(({ name }) => !only || [...keys, ...only].includes(name));
  const other = columnChanges.find(({ name }) => keys.includes(name));
  if (other) {
    const what = `The column "${other.name}" is ${other.before} before and ${other.after} after.`;
    throw new CatalogError('InvalidInput', what, 'Use columns as the key that have the same types in both tables.');
  }
  if (!key) await checkRowIds(before, after, { signal });
  const isCompared = (name: string): boolean =>
    !keys.includes(name) && (!only || only.includes(name)) && !columnChanges.some((change) => change.name === name);
  // The columns of the key are first, and both tables have the others in the same order.
  const columns = [...keys, ...old.fields.map(({ name }) => name).filter(isCompared)];
  const rowsRead = { before: 0, after: 0 };
  const read = (table: Table, side: keyof RowsRead): AsyncGenerator<KeyedRow, void, undefined> =>
    keyedRows(table, { columns, key: keys, signal, onRow: () => rowsRead[side]++ });
  const changes = key
    ? mergedChanges(read(before, 'before'), read(after, 'after'), columns, key)
    : changesByRowId(before, after, { columns, rowsRead, signal });
  return { changes, columnChanges, columns, schema: young.select(columns), key, rowsRead };
}

/** @throws CatalogError InvalidInput (13) for two tables, Unsupported (0) if the table has no stable row ids */
async function checkRowIds(before: Table, after: Table, options: CallOptions): Promise<void> {
  if (await hasCommonRowIds(before, after, options)) return;
  const hint = nextSteps.passKey;
  const [path, other] = [before, after].map(({ namespacePath, name }) => displayPath([...namespacePath, name]));
  if (path !== other)
    throw new CatalogError('InvalidInput', `"${path}" and "${other}" need a key to be compared.`, hint);
  const what = `Table "${path}" has no stable row ids, which two versions can be compared by.`;
  throw new CatalogError('Unsupported', what, hint);
}

function compareSchemas(old: Schema, young: Schema): ChangedColumn[] {
  const [before, after] = [old, young].map(
    ({ fields }) => new Map(fields.map(({ name, type }) => [name, typeText(type)])),
  );
  const names = new Set([...before!.keys(), ...after!.keys()]);
  return [...names].flatMap((name) => {
    const [was, is] = [before!.get(name), after!.get(name)];
    if (was === is) return [];
    return [{ name, ...(was !== undefined && { before: was }), ...(is !== undefined && { after: is }) }];
  });
}

function checkColumns(fields: Schema['fields'], names: readonly string[]): void {
  const missing = names.find((name) => !fields.some((field) => field.name === name));
  if (missing === undefined) return;
  const known = namesText([...new Set(fields.map(({ name }) => name))]);
  throw new CatalogError('ColumnNotFound', `There is no column "${missing}".`, `The columns are ${known}.`);
}

/** A row with its key. The hashers have one entry for each column. */
type KeyedRow = RowAt & { readonly keys: readonly KeyValue[]; readonly hashers: readonly ColumnHasher[] };

async function* keyedRows(
  table: Table,
  {
    columns,
    key,
    signal,
    onRow,
  }: { columns: readonly string[]; key: readonly string[]; onRow: () => void } & CallOptions,
): AsyncGenerator<KeyedRow, void, undefined> {
  const orderBy = orderingsOf(key);
  const compareKeys = rowOrder(orderBy);
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
      onRow();
      yield { batch, row, keys, hashers };
    }
  }
}

function sameKey({ name }: Table, key: readonly string[], keys: readonly KeyValue[]): CatalogError {
  const values = keys.map((value) => String(value)).join(', ');
  const what = `Several rows of "${name}" have the value ${values} in ${namesText(key)}.`;
  return new CatalogError('InvalidInput', what, 'Use columns as the key that identify each row.');
}

const orderingsOf = (key: readonly string[]): Ordering[] => key.map((column) => ({ column }));

async function* mergedChanges(
  before: AsyncGenerator<KeyedRow, void, undefined>,
  after: AsyncGenerator<KeyedRow, void, undefined>,
  columns: readonly string[],
  key: readonly string[],
): AsyncGenerator<RowChange, void, undefined> {
  const compareKeys = rowOrder(orderingsOf(key));
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

const isSameValue = (before: KeyedRow, after: KeyedRow, column: number): boolean =>
  hasSameHash(before.hashers[column]!, before.row, after.hashers[column]!, after.row);
