import type { CallOptions } from '#catalog/arguments/options.ts';
import { columnsOfJson } from '#catalog/arrow/jsonArrowTypes.ts';
import type { TableDescription } from '#catalog/catalog.ts';
import type { Wire } from '#catalog/transport/request.ts';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { type CatalogError, isCatalogError } from '#shared/errors.ts';
import type { NamespacePath } from '#shared/names.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import { definedEntries } from '#shared/records.ts';
import { type Described, noteDescribed } from './describe.ts';
import { missingNamespace } from './exists.ts';
import { openDescribed, type OpenOptions } from './openTarget.ts';
import { Reply } from './reply.ts';
import { hasNoQueries, readSchema } from './rows.ts';
import { countRows, type RestTarget } from './target.ts';
import { currentVersion } from './versions.ts';

/**
 * Reads columns, row count and version of a table, all of the same version despite concurrent writes. A server that
 * only describes tables may report neither a version nor a number of rows.
 */
export async function describeTable(
  wire: Wire,
  path: NamespacePath,
  name: string,
  options: OpenOptions,
): Promise<TableDescription> {
  const { signal } = options;
  const { target, found } = await openDescribed(wire, path, name, options, true);
  const version = target.version ?? found.version ?? (await ifSupported(currentVersion(target, { signal })));
  const pinned = { ...target, version };
  const [columns, numRows] = await Promise.all([
    columnsOfTable(pinned, found, signal),
    found.numRows ?? ifSupported(countRows(pinned, undefined, { signal })),
  ]);
  if (target.branch === undefined && version !== undefined) noteDescribed(wire, target.id, version);
  const { location } = found;
  return { name, namespacePath: path, columns, ...definedEntries({ version, numRows, location }) };
}

async function columnsOfTable(
  target: RestTarget,
  { schema, jsonSchema }: Described,
  signal: AbortSignal | undefined,
): Promise<ColumnInfo[]> {
  if (schema) return columnsOf(schema);
  if (jsonSchema !== undefined && hasNoQueries(target.wire)) return columnsOfJson(jsonSchema);
  try {
    return columnsOf(await readSchema(target, { signal }));
  } catch (error) {
    if (jsonSchema === undefined || !isUnsupported(error)) throw error;
    return columnsOfJson(jsonSchema);
  }
}

const isUnsupported = (error: unknown): error is CatalogError => isCatalogError(error, 'Unsupported');

async function ifSupported<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (!isUnsupported(error)) throw error;
    return undefined;
  }
}

/**
 * Whether the table is declared but has no data yet, as the server reports ("DescribeTable" with `check_declared`).
 */
export async function isOnlyDeclared(wire: Wire, id: readonly string[], { signal }: CallOptions): Promise<boolean> {
  const query = { check_declared: true };
  const body = await wire.json({ operation: 'DescribeTable', id, query, json: {}, signal });
  return new Reply(wire, body).maybeBoolean('is_only_declared') ?? false;
}

/**
 * Runs a call about a table. If the table is missing because its namespace is missing, the error is about the
 * namespace.
 * @throws CatalogError NamespaceNotFound (1)
 */
export async function inNamespace<T>(
  path: NamespacePath,
  exists: () => Promise<boolean>,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (path.length === 0 || !isCatalogError(error, 'TableNotFound')) throw error;
    // If `exists` fails too, the first error is thrown.
    if (await exists().catch(() => true)) throw error;
    throw missingNamespace(path, error);
  }
}
