import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type { Catalog, TablePage } from '#client/catalog.ts';

// A list of every table of every namespace has no state on the server: the token of a page says in which namespace the
// next one begins, and where in it.

type Place = { path: readonly string[]; pageToken?: string | undefined };

export type AllTablesOptions = {
  limit: number;
  pageToken?: string | undefined;
  includeDeclared?: boolean | undefined;
  signal: AbortSignal;
};

/** Most namespaces that one page looks into: thousands of empty ones come in several pages, each in good time. */
const mostNamespaces = 200;

/**
 * A page of the identifiers of all tables: a namespace's own, then those of the namespaces below it.
 * @throws CatalogError InvalidInput (13) for a token that is none
 */
export async function listAllTables(
  catalog: Catalog,
  options: AllTablesOptions,
): Promise<{ tables: string[][]; pageToken?: string }> {
  const { includeDeclared, signal } = options;
  const tables: string[][] = [];
  let place: Place | undefined = options.pageToken === undefined ? { path: [] } : placeOf(options.pageToken);
  for (let visited = 0; visited < mostNamespaces && tables.length < options.limit; visited++) {
    const { path, pageToken }: Place = place;
    const limit = options.limit - tables.length;
    const page: TablePage = await orNone<TablePage>({ tables: [] }, () =>
      catalog.listTables(path, {
        limit,
        pageToken,
        signal,
        ...(includeDeclared !== undefined && { includeDeclared }),
      }),
    );
    tables.push(...page.tables.map((name) => [...path, name]));
    place =
      page.pageToken === undefined ? await namespaceAfter(catalog, path, signal) : { path, pageToken: page.pageToken };
    if (!place) return { tables };
  }
  return { tables, pageToken: tokenOf(place) };
}

/**
 * The next namespace, depth first; none after the last one. The token of a page of namespaces is the last name in it, for
 * every catalog that this server has: so the list goes on behind a name, also one that is not there any more.
 */
async function namespaceAfter(
  catalog: Catalog,
  path: readonly string[],
  signal: AbortSignal,
): Promise<Place | undefined> {
  const firstIn = async (parent: readonly string[], pageToken?: string): Promise<Place | undefined> => {
    const { namespaces } = await orNone({ namespaces: [] }, () =>
      catalog.listNamespaces(parent, { limit: 1, pageToken, signal }),
    );
    return namespaces[0] === undefined ? undefined : { path: [...parent, namespaces[0]] };
  };
  let next = await firstIn(path);
  for (let depth = path.length - 1; depth >= 0 && !next; depth--)
    next = await firstIn(path.slice(0, depth), path[depth]);
  return next;
}

/** A namespace that was dropped between two pages has nothing in it. */
async function orNone<T>(none: T, list: () => Promise<T>): Promise<T> {
  try {
    return await list();
  } catch (error) {
    if (isCatalogError(error, 'NamespaceNotFound')) return none;
    throw error;
  }
}

const tokenOf = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url');

function placeOf(token: string): Place {
  try {
    const place: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (isRecord(place) && Array.isArray(place['path'])) {
      const { path, pageToken } = place;
      const isPath = path.every((name): name is string => typeof name === 'string');
      if (isPath && (pageToken === undefined || typeof pageToken === 'string')) return { path, pageToken };
    }
  } catch {
    // Not one of ours either.
  }
  throw new CatalogError('InvalidInput', 'The page token is none of this list.', 'Begin without one.');
}
