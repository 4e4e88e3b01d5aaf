import { types } from 'node:util';
import type { Data, RecordBatch, Schema, Table as ArrowTable, Vector } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import type { BatchStream } from '#catalog/querySpec.ts';
import type { Table } from '#catalog/table.ts';
import { adoptTable } from '#shared/arrow/adoptTable.ts';

// What a value is, told without running any code of it: neither its getters nor the traps of a proxy.

/**
 * A property of a value, its own or inherited; `undefined` where a getter or a proxy would have to be run for it.
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

/** The function that a value has under this name, to be called on the value. */
export function methodOf(value: unknown, key: PropertyKey): ((...args: unknown[]) => unknown) | undefined {
  if (!isObject(value)) return undefined;
  const found = dataProperty(value, key);
  return typeof found === 'function' ? (...args) => Reflect.apply(found, value, args) as unknown : undefined;
}

const has = (value: unknown, ...keys: string[]): boolean => keys.every((key) => isObject(dataProperty(value, key)));

/**
 * A table of ours over what is an Arrow table, record batch, vector or schema of any copy of apache-arrow; a vector
 * becomes the column `value`, a schema a table without rows.
 * @throws CatalogError Unsupported (0) on a column type that this version of Arrow doesn't know
 */
export function arrowTable(value: unknown): ArrowTable | undefined {
  if (isArrowSchema(value)) return adoptTable({ schema: value, batches: [] });
  if (isArrowVector(value)) return adoptTable(vectorAsTable(value));
  return has(value, 'schema', 'batches') || has(value, 'schema', 'data') ? adoptTable(value) : undefined;
}

/** Whether this looks like a table of any copy of apache-arrow. */
export const isTableLike = (value: unknown): boolean =>
  isArrowSchema(dataProperty(value, 'schema')) && Array.isArray(dataProperty(value, 'batches'));

/** Whether this is a schema of any copy of apache-arrow. */
export const isArrowSchema = (value: unknown): value is Schema => {
  const fields = dataProperty(value, 'fields');
  return (
    Array.isArray(fields) &&
    isObject(dataProperty(value, 'metadata')) &&
    isObject(dataProperty(value, 'dictionaries')) &&
    fields.every((field) => has(field, 'type') && typeof dataProperty(field, 'name') === 'string')
  );
};

/** Whether this is a column of any copy of apache-arrow. */
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

/** Whether this is a record batch of any copy of apache-arrow. */
export const isRecordBatch = (value: unknown): value is RecordBatch =>
  has(value, 'schema', 'data') && isArrowSchema(dataProperty(value, 'schema')) && !has(value, 'batches');

// The layout that a table of one such column has, which is all that adopting one looks at.
function vectorAsTable({ type, data }: Vector): unknown {
  const schema = { fields: [{ name: 'value', type, nullable: true, metadata: new Map() }], metadata: new Map() };
  const struct = { typeId: 13, children: schema.fields };
  const batch = (child: Data) => ({
    schema,
    data: { type: struct, length: child.length, offset: 0, nullCount: 0, children: [child] },
  });
  return { schema, batches: data.map(batch) };
}

/** Whether this is a table of a catalog. */
export function isCatalogTable(value: unknown): value is Table {
  const isThere = ['query', 'countRows', 'listVersions'].every((name) => methodOf(value, name) !== undefined);
  // Either side makes the path its own way, a property or a getter of its class.
  return isThere && Array.isArray((value as Table).namespacePath);
}

/** Whether this is a catalog. */
export const isCatalog = (value: unknown): value is Catalog =>
  ['openTable', 'listNamespaces', 'tableNames'].every((name) => methodOf(value, name) !== undefined) &&
  typeof (value as Catalog).location === 'string';

/** Whether this is a schema with batches that are still to come, which `query.execute()` gives. */
export const isBatchStream = (value: unknown): value is BatchStream =>
  isArrowSchema(dataProperty(value, 'schema')) && isAsyncIterable(dataProperty(value, 'batches'));

/** Whether `for await` can loop over this. */
export const isAsyncIterable = (value: unknown): value is AsyncIterable<unknown> =>
  methodOf(value, Symbol.asyncIterator) !== undefined;
