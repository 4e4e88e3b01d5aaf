import { types } from 'node:util';
import type { Data, RecordBatch, Schema, Table as ArrowTable, Vector } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import type { BatchStream } from '#catalog/query/querySpec.ts';
import type { Table } from '#catalog/table/table.ts';
import { adoptTable } from '#shared/arrow/adoptTable.ts';

// Recognizes values, also of other copies of apache-arrow, without running their code: neither getters nor proxy traps.

/**
 * Reads an own or inherited property. Returns `undefined` if reading the property would run a getter or a proxy trap.
 */
export function dataProperty(value: unknown, key: PropertyKey): unknown {
  let at: unknown = value;
  for (let depth = 0; depth < 100 && isObject(at) && !types.isProxy(at); depth++) {
    const found = Object.getOwnPropertyDescriptor(at, key);
    if (found) return found.value;
    at = Object.getPrototypeOf(at);
  }
  return undefined;
}

export const isObject = (value: unknown): value is object =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/** Returns the method of this name, bound to the value. */
export function methodOf(value: unknown, key: PropertyKey): ((...args: unknown[]) => unknown) | undefined {
  if (!isObject(value)) return undefined;
  const found = dataProperty(value, key);
  return typeof found === 'function' ? (...args) => Reflect.apply(found, value, args) as unknown : undefined;
}

const has = (value: unknown, ...keys: string[]): boolean => keys.every((key) => isObject(dataProperty(value, key)));

/**
 * Converts an Arrow table, record batch, vector or schema of any copy of apache-arrow to a table of our copy. A vector
 * becomes the column `value`, and a schema becomes a table without rows.
 * @throws CatalogError Unsupported (0) on a column type that this version of Arrow doesn't know
 */
export function arrowTable(value: unknown): ArrowTable | undefined {
  if (isArrowSchema(value)) return adoptTable({ schema: value, batches: [] });
  if (isArrowVector(value)) return adoptTable(vectorAsTable(value));
  return has(value, 'schema', 'batches') || has(value, 'schema', 'data') ? adoptTable(value) : undefined;
}

export const isTableLike = (value: unknown): boolean =>
  isArrowSchema(dataProperty(value, 'schema')) && Array.isArray(dataProperty(value, 'batches'));

export const isArrowSchema = (value: unknown): value is Schema => {
  const fields = dataProperty(value, 'fields');
  return (
    Array.isArray(fields) &&
    isObject(dataProperty(value, 'metadata')) &&
    isObject(dataProperty(value, 'dictionaries')) &&
    fields.every((field) => has(field, 'type') && typeof dataProperty(field, 'name') === 'string')
  );
};

export function isArrowVector(value: unknown): value is Vector {
  const data = dataProperty(value, 'data');
  return (
    Array.isArray(data) &&
    isObject(dataProperty(value, 'type')) &&
    typeof dataProperty(value, 'length') === 'number' &&
    typeof dataProperty(value, 'stride') === 'number' &&
    data.every((each) => isObject(dataProperty(each, 'type')) && Array.isArray(dataProperty(each, 'children')))
  );
}

export const isRecordBatch = (value: unknown): value is RecordBatch =>
  has(value, 'schema', 'data') && isArrowSchema(dataProperty(value, 'schema')) && !has(value, 'batches');

// The layout of a one-column table, as far as `adoptTable` reads it.
function vectorAsTable({ type, data }: Vector): unknown {
  const schema = { fields: [{ name: 'value', type, nullable: true, metadata: new Map() }], metadata: new Map() };
  const struct = { typeId: 13, children: schema.fields };
  const batch = (child: Data) => ({
    schema,
    data: { type: struct, length: child.length, offset: 0, nullCount: 0, children: [child] },
  });
  return { schema, batches: data.map(batch) };
}

export function isCatalogTable(value: unknown): value is Table {
  const isThere = ['query', 'countRows', 'listVersions'].every((name) => methodOf(value, name) !== undefined);
  // `namespacePath` is a property in one implementation of `Table` and a getter of the class in the other, so it is
  // read directly.
  return isThere && Array.isArray((value as Table).namespacePath);
}

export const isCatalog = (value: unknown): value is Catalog =>
  ['openTable', 'listNamespaces', 'tableNames'].every((name) => methodOf(value, name) !== undefined) &&
  typeof (value as Catalog).location === 'string';

/** Whether the value is a schema with batches still to be read, as `query.execute()` returns it. */
export const isBatchStream = (value: unknown): value is BatchStream =>
  isArrowSchema(dataProperty(value, 'schema')) && isAsyncIterable(dataProperty(value, 'batches'));

export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  methodOf(value, Symbol.asyncIterator) !== undefined;
