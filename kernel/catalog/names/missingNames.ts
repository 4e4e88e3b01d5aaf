import { untilAborted } from '#processes/wait.ts';
import { CatalogError, type CatalogErrorKind, isCatalogError } from '#shared/errors.ts';
import { displayPath, nearestName, type NamespacePath } from '#shared/names.ts';
import { nextSteps } from '#shared/nextSteps.ts';

/** How a catalog lists names for the next step of an error. */
export type NameLists = {
  /** Where the catalog is, as users know it. */
  readonly location: string;
  readonly tables: (path: NamespacePath, page: NamesRequest) => Promise<readonly string[]>;
  readonly namespaces: (path: NamespacePath, page: NamesRequest) => Promise<readonly string[]>;
  /** The error is at most this much later than without a list of names. */
  readonly withinMs: number;
};

type NamesRequest = { readonly limit: number; readonly signal: AbortSignal };

/** What a call was about: a namespace, or a table in it. */
type Subject = { readonly path: unknown; readonly table?: unknown };

const maxNames = 1000;

/** The next steps that a nearer one replaces. Other steps know more about the failure than the names do. */
const replaced: ReadonlySet<string> = new Set([
  nextSteps.listTables,
  nextSteps.listNamespaces,
  nextSteps.createNamespace,
]);

/** Errors for which names were listed, because a call may run within another one. */
const searched = new WeakSet<CatalogError>();

/**
 * Runs a call. If its table or namespace does not exist, the next step of the error is the nearest name that exists.
 * The names cost one list, and only after the failure.
 * @param lists undefined if the caller of this catalog is a server, whose clients make the list
 */
export async function withNearestName<T>(
  lists: NameLists | undefined,
  subject: Subject,
  signal: AbortSignal | undefined,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!lists || !isCatalogError(error) || !replaced.has(error.hint) || searched.has(error)) throw error;
    searched.add(error);
    throw await withNearerStep(lists, error, subject, signal);
  }
}

async function withNearerStep(
  lists: NameLists,
  error: CatalogError,
  { path, table }: Subject,
  callerSignal: AbortSignal | undefined,
): Promise<unknown> {
  if (!isPath(path)) return error;
  const late = AbortSignal.timeout(lists.withinMs);
  const signal = callerSignal ? AbortSignal.any([callerSignal, late]) : late;
  const page = { limit: maxNames, signal };
  try {
    const hint = await untilAborted(findStep(lists, error.kind, { path, table }, page), signal);
    if (hint === undefined) return error;
    const { kind, what, operation, identifier, status, cause } = error;
    return new CatalogError(kind, what, hint, { operation, identifier, status, cause: cause ?? error });
  } catch {
    // Without names the usual step remains.
    return error;
  }
}

async function findStep(
  lists: NameLists,
  kind: CatalogErrorKind,
  { path, table }: { path: NamespacePath; table?: unknown },
  page: NamesRequest,
): Promise<string | undefined> {
  if (kind === 'NamespaceNotFound') return namespaceStep(lists, path, page);
  if (kind !== 'TableNotFound' || typeof table !== 'string') return undefined;
  const names = await lists.tables(path, page);
  if (names.includes(table)) return nextSteps.listedWithoutData;
  const meant = nearestName(table, names);
  if (meant !== undefined) return `Did you mean "${displayPath(path, meant)}"?`;
  if (names.length > 0) return undefined;
  return path.length > 0
    ? `The namespace "${displayPath(path)}" has no tables.`
    : `The root of "${lists.location}" has no tables. Check this location, or name a namespace.`;
}

/** Searches the deepest namespace of a path that exists for the next name of the path. */
async function namespaceStep(lists: NameLists, path: NamespacePath, page: NamesRequest): Promise<string | undefined> {
  for (let depth = path.length - 1; depth >= 0; depth--) {
    const above = path.slice(0, depth);
    const names = await namesIn(lists, above, page);
    const name = path[depth] ?? '';
    // If the name exists, the missing namespace is one that the call names elsewhere.
    if (!names) continue;
    const meant = names.includes(name) ? undefined : nearestName(name, names);
    return meant && `Did you mean "${displayPath([...above, meant])}"?`;
  }
  return undefined;
}

async function namesIn(
  lists: NameLists,
  path: NamespacePath,
  page: NamesRequest,
): Promise<readonly string[] | undefined> {
  try {
    return await lists.namespaces(path, page);
  } catch (error) {
    if (isCatalogError(error, 'NamespaceNotFound')) return undefined;
    throw error;
  }
}

const isPath = (path: unknown): path is NamespacePath =>
  Array.isArray(path) && path.every((name) => typeof name === 'string');
