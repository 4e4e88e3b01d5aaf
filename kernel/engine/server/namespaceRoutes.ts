import type { Catalog, TablePage } from '#catalog/catalog.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { idDelimiter } from '#shared/names.ts';
import { isRecord } from '#shared/records.ts';
import { choice, queryFlag, queryText, text, textMap, wrong } from './requestBody.ts';
import type { Call, Handlers } from './routeTypes.ts';

// A list of every table of every namespace has no state on the server: the token of a page says in which namespace the
// next one begins, and where in it.

type Place = { path: readonly string[]; pageToken?: string | undefined };

type AllTablesOptions = {
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
async function listAllTables(
  catalog: Catalog,
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
    // Not one of ours either.
  }
  throw new CatalogError('InvalidInput', 'The page token is none of this list.', 'Begin without one.');
}

/** Names in a page: as many as there may be, unless fewer are asked for. */
const mostNames = 1000;

/** `limit` is the most that a caller will take, so a larger one than ours is taken for ours. */
function pageOf(query: URLSearchParams): { limit: number; pageToken: string | undefined } {
  const pageToken = queryText(query, 'page_token');
  const given = queryText(query, 'limit');
  if (given === undefined) return { limit: mostNames, pageToken };
  const limit = Number(given);
  if (!Number.isInteger(limit) || limit < 1) wrong('limit', 'a whole number from 1');
  return { limit: Math.min(limit, mostNames), pageToken };
}

const tokenOf = (pageToken: string | undefined): { page_token?: string } =>
  pageToken === undefined ? {} : { page_token: pageToken };

/** What one list of namespaces and tables goes on with: tokens of either list, told apart by what stands before them. */
const tablesMark = 'tables:';
const namespacesMark = 'namespaces:';

/**
 * The specification's list of namespaces; upstream's service has the tables in it too. Namespaces come first, so who wants
 * no tables can stop at the first page that has some.
 */
async function listNamespaces({ catalog, id, query, signal }: Call): Promise<unknown> {
  const { limit, pageToken } = pageOf(query);
  const namespaces: string[] = [];
  let rest: string | undefined;
  if (pageToken?.startsWith(tablesMark)) rest = pageToken.slice(tablesMark.length);
  else {
    if (pageToken !== undefined && !pageToken.startsWith(namespacesMark)) {
      throw new CatalogError('InvalidInput', 'The page token is none of this list.', 'Begin without one.');
    }
    const page = await catalog.listNamespaces(id, {
      limit,
      pageToken: pageToken?.slice(namespacesMark.length),
      signal,
    });
    namespaces.push(...page.namespaces);
    if (page.pageToken !== undefined) return { namespaces, tables: [], page_token: namespacesMark + page.pageToken };
  }
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
    const mode = choice(text(body, 'mode'), 'mode', ['create', 'exist_ok', 'overwrite']);
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
    const mode = choice(text(body, 'mode'), 'mode', ['fail', 'skip']);
    const behavior = choice(text(body, 'behavior'), 'behavior', ['restrict', 'cascade']);
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
