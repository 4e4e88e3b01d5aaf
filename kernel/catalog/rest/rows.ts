import type { Schema } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { QuerySpec } from '#catalog/query/querySpec.ts';
import { rowsAreElsewhere } from '#catalog/tableLocation.ts';
import { isServerError } from '#catalog/transport/errors.ts';
import type { Wire } from '#catalog/transport/request.ts';
import { type CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { describe, describedSchema, schemaWithoutRows } from './describe.ts';
import { RestQueryRunner } from './query.ts';
import type { RestTarget } from './target.ts';

// Some catalog servers only describe tables, for example Apache Gravitino: clients read the rows from the storage.

/** Servers that have no queries. */
const withoutQueries = new WeakSet<Wire>();

/** Whether the server is known to have no queries, so that a query to read only the schema would be wasted. */
export const hasNoQueries = (wire: Wire): boolean => withoutQueries.has(wire);

/**
 * Reads the schema from a description in Arrow's own form, else with a query, because the JSON form has no time units
 * and zones.
 * @throws CatalogError Unsupported (0) if the server has no queries
 */
export async function readSchema(target: RestTarget, { signal }: CallOptions): Promise<Schema> {
  const described = await describedSchema(target, { signal });
  if (described) return described;
  try {
    const runner = new RestQueryRunner(target, () => Promise.resolve(undefined));
    return (await runner.run({ limit: 0 }, signal)).schema;
  } catch (error) {
    if (isCatalogError(error, 'Unsupported') && isNoOperation(error)) withoutQueries.add(target.wire);
    throw error;
  }
}

/** Reads the schema as `readSchema` does, else from the JSON form of a server that has no queries. */
export async function schemaOfTable(target: RestTarget, options: CallOptions): Promise<Schema> {
  try {
    return await readSchema(target, options);
  } catch (error) {
    if (!isCatalogError(error, 'Unsupported')) throw error;
    return schemaWithoutRows(target, options, error);
  }
}

/** Whether an error shows that the server has no part of an operation. */
const isNoOperation = ({ status }: CatalogError): boolean => status === 404 || status === 405;

/**
 * Runs a call about the rows of a table. If the server has no such operation and reports where the files of the table
 * are, the error says so.
 * @param spec the query of the call, if it is one
 * @throws CatalogError Unsupported (0)
 */
export async function withRows<T>(
  target: RestTarget,
  { signal }: CallOptions,
  call: () => Promise<T>,
  spec?: QuerySpec,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isCatalogError(error, 'Unsupported') || !isMissing(error, target, spec)) throw error;
    const { wire, id } = target;
    // If the description fails too, the first error is thrown.
    const found = await describe({ wire, id }, 'existence', { signal }).catch(() => undefined);
    if (found?.location === undefined) throw error;
    const { operation, identifier } = error;
    throw rowsAreElsewhere(wire.name, displayPath(id), found.location, error).about({ operation, identifier });
  }
}

/**
 * Whether an error shows that the server lacks an operation. A server may also answer with status 406 because it lacks
 * only an optional part of the operation. So status 406 counts only for a query without optional parts.
 */
function isMissing(error: CatalogError, { branch }: RestTarget, spec: QuerySpec | undefined): boolean {
  if (isNoOperation(error)) return true;
  if (error.status !== 406 || !isServerError(error) || !spec || branch !== undefined) return false;
  const { vector, fullText, orderBy, filter, columnAliases, withRowId, fastSearch } = spec;
  return [vector, fullText, orderBy, filter, columnAliases, withRowId, fastSearch].every((part) => part === undefined);
}
