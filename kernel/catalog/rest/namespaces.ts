import type { CallOptions, CreateMode } from '#catalog/arguments/options.ts';
import { preference } from '#catalog/contract.ts';
import { tableHasName } from '#catalog/nameErrors.ts';
import { allPages, PageCheck } from '#catalog/listPages.ts';
import type { Wire } from '#catalog/transport/request.ts';
import { isServerError } from '#catalog/transport/errors.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath, encodeId, type NamespacePath } from '#shared/names.ts';
import { isThere, mustExist, namespaceExists, unlessSilent } from './exists.ts';
import { Reply } from './reply.ts';

// Namespaces on a server. Some servers ignore optional parts of the specification; this file does those parts itself.

/** The response field that holds the names, by operation. */
const lists = { ListNamespaces: 'namespaces', ListTables: 'tables' } as const;

type ListRequest = CallOptions & {
  limit: number;
  pageToken: string | undefined;
  includeDeclared?: boolean | undefined;
};

/**
 * Requests one page of names. Skips empty pages that are not the last, because some servers hide names of a page after
 * counting them.
 * @throws CatalogError NamespaceNotFound (1) also if the server lists a missing namespace as empty; Internal (18) if a
 * page leads to an earlier one
 */
export async function listPage(
  wire: Wire,
  operation: keyof typeof lists,
  path: readonly string[],
  request: ListRequest,
): Promise<{ names: string[]; pageToken?: string }> {
  const { limit, includeDeclared, signal } = request;
  const check = new PageCheck((problem) => wire.unexpected(problem));
  let isFirst = request.pageToken === undefined;
  let pageToken = request.pageToken;
  if (pageToken !== undefined) check.next([], pageToken);
  for (;;) {
    const query = { limit, page_token: pageToken };
    let body: unknown;
    if (operation === 'ListNamespaces') body = await listNamespaces(wire, path, query, signal);
    else {
      const declared = includeDeclared === false && { include_declared: false };
      try {
        body = await wire.json({ operation, id: path, query: { ...query, ...declared }, signal });
      } catch (error) {
        if (!isFirst || !(await hasNoTables(wire, path, error, signal))) throw error;
        return { names: [] };
      }
    }
    const reply = new Reply(wire, body);
    const listed = reply.texts(lists[operation]);
    const names = operation === 'ListTables' ? withoutPath(wire, path, listed) : listed;
    const next = check.next(names, reply.maybeText('page_token'));
    // If a list has namespaces and tables, the namespaces come first. So after the first table there are no more
    // namespaces.
    const isOver = next === undefined || (operation === 'ListNamespaces' && hasTables(reply));
    if (names.length > 0 && !isOver) return { names, pageToken: next };
    if (isOver) {
      if (names.length === 0 && isFirst) await mustExist(wire, path, { signal });
      return { names };
    }
    pageToken = next;
    isFirst = false;
  }
}

/** Servers that list the root at the path without an identifier. */
const withBareRoot = new WeakSet<Wire>();

/**
 * "ListNamespaces". Apache Gravitino with authorization refuses the identifier of the root, and lists the root at a
 * path without an identifier.
 */
async function listNamespaces(
  wire: Wire,
  path: readonly string[],
  query: { limit: number; page_token?: string | undefined },
  signal: AbortSignal | undefined,
): Promise<unknown> {
  const list = (withoutId: boolean) =>
    wire.json({
      operation: 'ListNamespaces',
      id: path,
      ...(withoutId && { withoutId }),
      query,
      prefer: preference.namespacesOnly,
      signal,
    });
  const isBare = path.length === 0 && withBareRoot.has(wire);
  try {
    return await list(isBare);
  } catch (error) {
    const isAboutId = isCatalogError(error, 'InvalidInput') || isCatalogError(error, 'NamespaceNotFound');
    if (path.length > 0 || isBare || !isAboutId || !isServerError(error)) throw error;
    const body = await list(true).catch(() => undefined);
    signal?.throwIfAborted();
    if (body === undefined) throw error;
    withBareRoot.add(wire);
    return body;
  }
}

/** Servers that have refused a list of tables because of the level of its namespace. */
const withTableLevel = new WeakSet<Wire>();

/**
 * Whether the server refused to list tables because it has tables at only one level of namespaces, as Apache Gravitino
 * does. In that case, the server can still list the namespaces in the same namespace.
 * @throws CatalogError NamespaceNotFound (1)
 */
async function hasNoTables(
  wire: Wire,
  path: readonly string[],
  error: unknown,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (!isCatalogError(error) || !isServerError(error)) return false;
  // A server that checks rights refuses to list the tables of the first level (a catalog of Gravitino) as not
  // permitted.
  const isRefused = error.kind === 'PermissionDenied' && path.length === 1 && withTableLevel.has(wire);
  if (error.kind !== 'InvalidInput' && !isRefused) return false;
  try {
    await listNamespaces(wire, path, { limit: 1 }, signal);
  } catch (other) {
    signal?.throwIfAborted();
    if (isCatalogError(other, 'NamespaceNotFound')) throw other;
    return false;
  }
  if (error.kind === 'InvalidInput') withTableLevel.add(wire);
  return true;
}

/**
 * Returns the names of a list of tables. Some servers list whole identifiers, `sales$eu$orders` for `orders` in
 * `sales/eu`.
 */
function withoutPath({ delimiter }: Wire, path: readonly string[], names: string[]): string[] {
  const start = path.length > 0 ? encodeId([...path, ''], undefined, delimiter).id : '';
  return names.every((name) => name.startsWith(start)) ? names.map((name) => name.slice(start.length)) : names;
}

function hasTables(reply: Reply): boolean {
  const tables = reply.raw('tables');
  return Array.isArray(tables) && tables.length > 0;
}

/** "CreateNamespace". @throws CatalogError NamespaceAlreadyExists (2), NamespaceNotFound (1) for a missing parent */
export async function createNamespace(
  wire: Wire,
  path: NamespacePath,
  mode: CreateMode,
  properties: Record<string, string> | undefined,
  { signal }: CallOptions,
): Promise<void> {
  if (path.length === 0 && mode === 'exist_ok') return;
  const json = { mode, ...(properties && { properties }) };
  try {
    await wire.json({ operation: 'CreateNamespace', id: path, json, signal });
  } catch (error) {
    if (!isCatalogError(error, 'NamespaceAlreadyExists') || mode === 'create') throw error;
    // The mode `exist_ok` keeps an existing namespace. But the server may also mean a table with this name.
    if (mode === 'exist_ok') {
      if (await unlessSilent(namespaceExists(wire, path, { signal }))) return;
      throw tableHasName(path, error);
    }
    // The mode `overwrite` should replace the namespace, but the server does not. The client does not do it either,
    // because dropping the content of a namespace needs an explicit call.
    const what = `${wire.name} does not overwrite namespaces, and "${displayPath(path)}" exists already.`;
    const hint = 'Drop it with behavior: "cascade" and create it again.';
    throw new CatalogError('Unsupported', what, hint, { cause: error });
  }
}

/**
 * "DropNamespace".
 * @throws CatalogError NamespaceNotFound (1), NamespaceNotEmpty (3), InvalidInput (13) for the root
 */
export async function dropNamespace(
  wire: Wire,
  path: NamespacePath,
  { mode, behavior }: { mode: 'fail' | 'skip'; behavior: 'restrict' | 'cascade' },
  options: CallOptions,
): Promise<void> {
  if (path.length === 0) {
    throw new CatalogError('InvalidInput', "Can't drop the root namespace.", 'Choose a namespace in it.');
  }
  const { signal } = options;
  const drop = () => wire.json({ operation: 'DropNamespace', id: path, json: { mode, behavior }, signal });
  try {
    try {
      await drop();
    } catch (error) {
      if (behavior !== 'cascade' || !isCatalogError(error, 'NamespaceNotEmpty')) throw error;
      await dropContents(wire, path, options);
      await drop();
    }
  } catch (error) {
    if (mode !== 'skip' || !isCatalogError(error, 'NamespaceNotFound')) throw error;
  }
}

/**
 * Maximum depth, more than any catalog has. Without a limit, a faulty server that lists ever new children would cause
 * an endless loop.
 */
const maxDepth = 100;

/**
 * Drops the content of a namespace, the innermost first. If another client has dropped something meanwhile, this is not
 * an error.
 */
async function dropContents(wire: Wire, path: NamespacePath, options: CallOptions): Promise<void> {
  if (path.length > maxDepth) throw wire.unexpected('namespaces that are nested too deeply');
  const { signal } = options;
  const names = (operation: 'ListNamespaces' | 'ListTables') =>
    allPages((pageToken) => listPage(wire, operation, path, { limit: 1000, pageToken, signal }));
  for (const name of await names('ListNamespaces')) {
    const child = [...path, name];
    await isThere('NamespaceNotFound', async () => {
      await dropContents(wire, child, options);
      await wire.json({ operation: 'DropNamespace', id: child, json: {}, signal });
    });
  }
  for (const name of await names('ListTables')) {
    const drop = () => wire.json({ operation: 'DropTable', id: [...path, name], json: {}, signal });
    await isThere('TableNotFound', drop);
  }
}
