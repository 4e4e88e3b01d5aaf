import type { Data } from '#arrow';
import { adoptTable } from '#shared/arrow/adoptTable.ts';
import { isRecord } from '#shared/records.ts';
import type { ReadValue } from './objectMaker.ts';
import { columnReader } from './rowValues.ts';

// Values that any copy of apache-arrow itself returns: `vector.get(row)` and `table.toArray()` return vectors for lists
// and views of the columns for structs and maps. This file reads such values from their columns, because the views
// round times and lose the scale of decimals.

// apache-arrow registers these symbols, so they are the same in every copy.
const parent = Symbol.for('parent');
const rowIndex = Symbol.for('rowIndex');
const mapKeys = Symbol.for('keys');
const mapValues = Symbol.for('vals');

/** Returns the values of an Arrow vector; `undefined` for other values. */
export function vectorItems(value: unknown): unknown[] | undefined {
  if (!isRecord(value) || typeof value['get'] !== 'function' || !isType(value['type'])) return undefined;
  const { data } = value;
  return Array.isArray(data) ? data.flatMap((chunk) => chunkItems(chunk)) : undefined;
}

/** Returns the members of a struct, or of a row of an Arrow table; `undefined` for other values. */
export function structRowMembers(value: object): Record<string, unknown> | undefined {
  const data: unknown = Reflect.get(value, parent);
  const index: unknown = Reflect.get(value, rowIndex);
  if (typeof index !== 'number') return undefined;
  return readerFor(data)?.(index) as Record<string, unknown> | undefined;
}

/** Returns the entries of a map; `undefined` for other values. */
export function mapRowEntries(value: object): [unknown, unknown][] | undefined {
  const keys = vectorItems(Reflect.get(value, mapKeys));
  const values = keys && chunkItems(Reflect.get(value, mapValues));
  return values && keys.map((key, index) => [key, values[index]]);
}

const isType = (value: unknown): boolean => isRecord(value) && typeof value['typeId'] === 'number';

function chunkItems(data: unknown): unknown[] {
  const read = readerFor(data);
  return read ? Array.from({ length: (data as Data).length }, (_, index) => read(index)) : [];
}

const readers = new WeakMap<object, ReadValue>();

/** Returns the reader of one chunk of a column. */
function readerFor(data: unknown): ReadValue | undefined {
  if (!isRecord(data) || !isType(data['type'])) return undefined;
  const known = readers.get(data);
  if (known) return known;
  const schema = { fields: [{ name: 'value', type: data['type'], nullable: true }] };
  const { length } = data;
  const batch = { type: { typeId: 13 }, length, offset: 0, nullCount: 0, children: [data] };
  const column = adoptTable({ schema, data: batch })?.batches[0]?.data.children[0];
  if (!column) return undefined;
  const read = columnReader(column);
  readers.set(data, read);
  return read;
}
