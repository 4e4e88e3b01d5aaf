import type { TablePage } from '#catalog/catalog.ts';
import { preference } from '#catalog/contract.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { idDelimiter } from '#shared/names.ts';
import { isRecord } from '#shared/records.ts';
import { choice, queryFlag, queryText, optionalString, textMap, invalidRequestField } from './requestBody.ts';
import type { RequestContext, Handlers } from './routeTypes.ts';
import type { ServedCatalog } from './servedCatalog.ts';

// Listing all tables needs no state on the server: the page token holds a namespace and the position in it.

type Place = { path: readonly string[]; pageToken?: string | undefined };

type AllTablesOptions = {
  limit: number;
  pageToken?: string | undefined;
  includeDeclared?: boolean | undefined;
  signal: AbortSignal;
};

/**
 * Maximum namespaces per page: if there are thousands of empty namespaces, they are spread over several pages, so that
 * each page is returned quickly.
 */
const mostNamespaces = 200;

/**
 * Returns a page of the identifiers of all tables. The tables of a namespace come before the tables of the namespaces
 * below it.
 * @throws CatalogError InvalidInput (13) for an invalid token
 */
async function listAllTables(
  catalog: ServedCatalog,
  options: AllTablesOptions,
): Promise<{ tables: string[][]; pageToken?: string }> {
  const { includeDeclared, signal } = options;
  const tables: string[][] = [];
  let place: Place | undefined = options.pageToken === undefined ? { path: [] } : decodePlace(options.pageToken);
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
  return { tables, pageToken: encodePlace(place) };
}

/**
 * Returns the next namespace, depth first, or `undefined` after the last one. In every catalog of this server the token
 * of a page is its last name, so a list can continue after any name, even if the name no longer exists.
 */
async function namespaceAfter(
  catalog: ServedCatalog,
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

/** Returns `none` for a namespace that was dropped between two pages. */
async function orNone<T>(none: T, list: () => Promise<T>): Promise<T> {
  try {
    return await list();
  } catch (error) {
    if (isCatalogError(error, 'NamespaceNotFound')) return none;
    throw error;
  }
}

const encodePlace = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url');

function decodePlace(token: string): Place {
  try {
    const place: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (isRecord(place) && Array.isArray(place['path'])) {
      const { path, pageToken } = place;
      const isPath = path.every((name): name is string => typeof name === 'string');
      if (isPath && (pageToken === undefined || typeof pageToken === 'string')) return { path, pageToken };
    }
  } catch {
    // A token that can't be parsed is refused below.
  }
  throw new CatalogError('InvalidInput', 'The page token does not belong to this list.', 'Start without a token.');
}

/** Maximum and default number of names in a page. */
const mostNames = 1000;

/**
 * Returns the page parameters. A `limit` above the maximum counts as the maximum, because a client only says how much
 * it accepts.
 */
function pageOf(query: URLSearchParams): { limit: number; pageToken: string | undefined } {
  const pageToken = queryText(query, 'page_token');
  const given = queryText(query, 'limit');
  if (given === undefined) return { limit: mostNames, pageToken };
  const limit = Number(given);
  if (!Number.isInteger(limit) || limit < 1) invalidRequestField('limit', 'a whole number from 1');
  return { limit: Math.min(limit, mostNames), pageToken };
}

const tokenOf = (pageToken: string | undefined): { page_token?: string } =>
  pageToken === undefined ? {} : { page_token: pageToken };

/** Prefixes of page tokens. They show whether the list continues with namespaces or with tables. */
const tablesMark = 'tables:';
const namespacesMark = 'namespaces:';

/**
 * Lists the namespaces as specified; clients of upstream's service expect the tables in the same list. Namespaces come
 * first, so a client that needs no tables can stop at the first page with tables. Our own client prefers a list without
 * tables.
 */
async function listNamespaces({ catalog, id, query, preferences, signal }: RequestContext): Promise<unknown> {
  const { limit, pageToken } = pageOf(query);
  const namespaces: string[] = [];
  let rest: string | undefined;
  if (pageToken?.startsWith(tablesMark)) rest = pageToken.slice(tablesMark.length);
  else {
    if (pageToken !== undefined && !pageToken.startsWith(namespacesMark)) {
      throw new CatalogError('InvalidInput', 'The page token does not belong to this list.', 'Start without a token.');
    }
    const page = await catalog.listNamespaces(id, {
      limit,
      pageToken: pageToken?.slice(namespacesMark.length),
      signal,
    });
    namespaces.push(...page.namespaces);
    if (page.pageToken !== undefined) return { namespaces, tables: [], page_token: namespacesMark + page.pageToken };
  }
  if (preferences.has(preference.namespacesOnly)) return { namespaces };
  const room = limit - namespaces.length;
  if (room === 0) return { namespaces, tables: [], page_token: tablesMark };
  const page = await catalog.listTables(id, { limit: room, pageToken: rest === '' ? undefined : rest, signal });
  const next = page.pageToken === undefined ? undefined : tablesMark + page.pageToken;
  return { namespaces, tables: page.tables, ...tokenOf(next) };
}

const listOptions = (query: URLSearchParams) => {
  const includeDeclared = queryFlag(query, 'include_declared');
  return { ...pageOf(query), ...(includeDeclared !== undefined && { includeDeclared }) };
};

export const namespaceHandlers: Handlers = {
  async CreateNamespace({ catalog, id, json, signal }) {
    const body = await json();
    const mode = choice(optionalString(body, 'mode'), 'mode', ['create', 'exist_ok', 'overwrite']);
    await catalog.createNamespace(id, { mode, properties: textMap(body, 'properties'), signal });
    return { json: await catalog.describeNamespace(id, { signal }) };
  },
  async ListNamespaces(call) {
    return { json: await listNamespaces(call) };
  },
  async DescribeNamespace({ catalog, id, json, signal }) {
    await json();
    return { json: await catalog.describeNamespace(id, { signal }) };
  },
  async DropNamespace({ catalog, id, json, signal }) {
    const body = await json();
    const mode = choice(optionalString(body, 'mode'), 'mode', ['fail', 'skip']);
    const behavior = choice(optionalString(body, 'behavior'), 'behavior', ['restrict', 'cascade']);
    await catalog.dropNamespace(id, { mode, behavior, signal });
    return { json: {} };
  },
  async NamespaceExists({ catalog, id, json, signal }) {
    await json();
    await catalog.describeNamespace(id, { signal });
    return { empty: true };
  },
  async ListTables({ catalog, id, query, signal }) {
    const page = await catalog.listTables(id, { ...listOptions(query), signal });
    return { json: { tables: page.tables, ...tokenOf(page.pageToken) } };
  },
  async ListAllTables({ catalog, query, signal }) {
    const page = await listAllTables(catalog, { ...listOptions(query), signal });
    const delimiter = query.get('delimiter') ?? idDelimiter;
    return { json: { tables: page.tables.map((id) => id.join(delimiter)), ...tokenOf(page.pageToken) } };
  },
};
