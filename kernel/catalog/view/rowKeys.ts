import { type Data, DataType, type RecordBatch } from '#arrow';
import type { Ordering } from '#catalog/query/querySpec.ts';
import { CatalogError } from '#shared/errors.ts';
import { keyReader, type KeyValue } from './keyOrder.ts';

/** The names of the columns to sort by, each once. */
export const keyColumns = (orderBy: readonly Ordering[]): string[] => [...new Set(orderBy.map(({ column }) => column))];

/** Returns a function from a row to its key, for each column to sort by. The columns of the batch are as for `keysReader`. */
export const keyReaders = (batch: RecordBatch, orderBy: readonly Ordering[]): ((row: number) => KeyValue)[] =>
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
