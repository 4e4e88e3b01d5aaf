import { CatalogError } from '#shared/errors.ts';
import { idDelimiter } from '#shared/names.ts';
import { listAllTables } from './allTables.ts';
import { choice, queryFlag, queryText, text, textMap, wrong } from './requests.ts';
import type { Call, Handlers } from './routeTypes.ts';

/** Names in a page: as many as there may be, unless fewer are asked for. */
const mostNames = 1000;

/** `limit` is the most that a caller will take, so a larger one than ours is taken for ours. */
export function pageOf(query: URLSearchParams): { limit: number; pageToken: string | undefined } {
  const pageToken = queryText(query, 'page_token');
  const given = queryText(query, 'limit');
  if (given === undefined) return { limit: mostNames, pageToken };
  const limit = Number(given);
  if (!Number.isInteger(limit) || limit < 1) wrong('limit', 'a whole number from 1');
  return { limit: Math.min(limit, mostNames), pageToken };
}

export const tokenOf = (pageToken: string | undefined): { page_token?: string } =>
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
