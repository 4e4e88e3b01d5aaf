import { type CallOptions, checkOneVersion } from '#catalog/arguments/options.ts';
import type { OpenTableOptions, TableDescription } from '#catalog/catalog.ts';
import { checkTagBranch } from '#catalog/tagsBranches.ts';
import type { Wire } from '#catalog/transport/request.ts';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import { missingNamespace } from './exists.ts';
import { RestQueryRunner } from './query.ts';
import { Reply } from './reply.ts';
import { RestTable } from './restTable.ts';
import type { RestTarget } from './target.ts';
import { tagVersion } from './versions.ts';

/**
 * Checks that the server reads branches. Some silently ignore the branch in a request and use the main one. Such a
 * server also returns rows for a branch that can't exist. So this function first reads a branch that can't exist: if
 * rows arrive, it throws, before the main branch is read or changed by mistake.
 * @throws CatalogError Unsupported (0) for a target on a branch if the server ignores branches
 */
async function checkBranch(target: RestTarget, signal?: AbortSignal): Promise<void> {
  if (target.branch === undefined) return;
  const absent = `${target.branch}-that-is-not-there`;
  const runner = new RestQueryRunner({ ...target, branch: absent }, () => Promise.resolve(undefined));
  try {
    await runner.run({ limit: 0 }, signal);
  } catch (error) {
    if (isCatalogError(error) && isAboutBranch(error)) return;
    throw error;
  }
  throw new CatalogError(
    'Unsupported',
    `${target.wire.name} ignores branches: it would read and change the main branch of "${displayPath(target.id)}".`,
    'Open the table without a branch.',
    { operation: 'QueryTable', identifier: displayPath(target.id) },
  );
}

/** Whether the error is about the branch. Any other error does not show whether the server reads branches. */
const isAboutBranch = ({ kind }: CatalogError): boolean =>
  kind !== 'ServiceUnavailable' && kind !== 'Throttling' && kind !== 'Unauthenticated' && kind !== 'PermissionDenied';

type OpenOptions = Omit<OpenTableOptions, 'namespacePath'>;

/**
 * Opens a table at a version or tag, on a branch. Sends a request now, so that a missing table or version is reported
 * here and not at the first row.
 * @throws CatalogError TableNotFound (4), VersionNotFound (11), TagNotFound (8)
 */
export async function openTarget(
  wire: Wire,
  path: NamespacePath,
  name: string,
  options: OpenOptions,
): Promise<RestTarget> {
  const { branch, signal, tag } = options;
  checkOneVersion('openTable', options);
  const newest: RestTarget = { wire, id: [...path, name], branch, version: options.version };
  const tagged = tag === undefined ? undefined : await tagVersion(newest, tag, { signal });
  if (tag !== undefined) checkTagBranch(tag, tagged?.branch, branch);
  const target = { ...newest, version: tagged?.version ?? newest.version, branch: tagged?.branch ?? branch };
  await describe(target, { signal }, target.version !== undefined);
  await checkBranch(target, signal);
  return target;
}

/** "DescribeTable". Only a response with `detailed` has the version, and the server has to read the table for it. */
async function describe(
  { wire, id, version, branch }: RestTarget,
  { signal }: CallOptions,
  detailed: boolean,
): Promise<{ version?: number; location?: string }> {
  const body = await wire.json({
    operation: 'DescribeTable',
    id,
    query: detailed ? { load_detailed_metadata: true } : {},
    json: { ...(version !== undefined && { version }), ...(branch !== undefined && { branch }) },
    signal,
  });
  const reply = new Reply(wire, body);
  const found = reply.maybeCount('version');
  if (version !== undefined && found !== undefined && found !== version) {
    const what = `Table "${displayPath(id)}" has no version ${version}.`;
    throw new CatalogError('VersionNotFound', what, 'List the versions with listVersions().');
  }
  const location = reply.maybeText('location') ?? reply.maybeText('table_uri');
  return { ...(found !== undefined && { version: found }), ...(location !== undefined && { location }) };
}

/** Reads columns, row count and version of a table, all of the same version despite concurrent writes. */
export async function describeTable(
  wire: Wire,
  path: NamespacePath,
  name: string,
  options: OpenOptions,
): Promise<TableDescription> {
  const { signal } = options;
  const target = await openTarget(wire, path, name, options);
  const found = await describe(target, { signal }, true);
  const version = target.version ?? found.version ?? (await new RestTable(target).version({ signal }));
  const table = new RestTable({ ...target, version });
  const { location } = found;
  const [schema, numRows] = await Promise.all([table.schema({ signal }), table.countRows(undefined, { signal })]);
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
 * Runs a call about a table. If the table is missing because its namespace is, the error is about the namespace.
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
