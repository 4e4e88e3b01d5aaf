import type { CallOptions } from '#catalog/arguments/options.ts';
import type { TableDescription } from '#catalog/catalog.ts';
import type { Wire } from '#catalog/transport/request.ts';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { NamespacePath } from '#shared/names.ts';
import { noteDescribed } from './describe.ts';
import { missingNamespace } from './exists.ts';
import { openDescribed, type OpenOptions } from './openTarget.ts';
import { Reply } from './reply.ts';
import { RestTable } from './restTable.ts';

/** Reads columns, row count and version of a table, all of the same version despite concurrent writes. */
export async function describeTable(
  wire: Wire,
  path: NamespacePath,
  name: string,
  options: OpenOptions,
): Promise<TableDescription> {
  const { signal } = options;
  const { target, found } = await openDescribed(wire, path, name, options, true);
  const version = target.version ?? found.version ?? (await new RestTable(target).version({ signal }));
  const table = new RestTable({ ...target, version });
  const [schema, numRows] = await Promise.all([
    found.schema ?? table.schema({ signal }),
    found.numRows ?? table.countRows(undefined, { signal }),
  ]);
  if (target.branch === undefined) noteDescribed(wire, target.id, version);
  const { location } = found;
  const columns = columnsOf(schema);
  return { name, namespacePath: path, version, columns, numRows, ...(location !== undefined && { location }) };
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
