import type { Table as ArrowTable } from '#arrow';
import { decodeId } from '#shared/names.ts';
import { CatalogError } from '#shared/errors.ts';
import type { Catalog } from '#client/catalog.ts';
import type { QuerySpec } from '#client/querySpec.ts';
import type { Table } from '#client/table.ts';
import { checkChoice, checkCreateMode } from '#client/options.ts';
import { jsonSchema } from './jsonSchema.ts';
import { count, querySpec, requiredText, snakeCase, text, textList, textMap } from './requests.ts';

/** One request, its parts read and checked on demand. */
export type Call = {
  catalog: Catalog;
  /** The components of the identifier in the address. */
  id: string[];
  query: URLSearchParams;
  json: () => Promise<Record<string, unknown>>;
  arrow: () => Promise<ArrowTable>;
  /** Hands over a table, to be closed when the answer is out, or can't be given any more. */
  own: (table: Table) => Table;
  signal: AbortSignal;
};

/** What is answered: JSON, nothing, or the rows of a query. */
export type Answer = { json: unknown } | { empty: true } | { rows: { table: Table; spec: QuerySpec } };

export type Route = (call: Call) => Promise<Answer>;

/** Finds the route of a request, and the identifier in it. */
export function findRoute(
  method: string,
  pathname: string,
  delimiter: string,
): { route: Route; id: string[] } | undefined {
  const parts = pathname.split('/').slice(1);
  const [version, kind, encoded, ...rest] = parts;
  if (version !== 'v1' || kind === undefined) return undefined;
  if (encoded === undefined || encoded === '') {
    return kind === 'table' && method === 'GET' ? { route: listTables, id: [] } : undefined;
  }
  const key = `${method} ${kind}/${rest.join('/')}`;
  const route = Object.hasOwn(routes, key) ? routes[key] : undefined;
  return route && { route, id: decodeId(decodePart(encoded), delimiter) };
}

/** @throws CatalogError InvalidInput (13) for percent signs that stand for nothing */
export function decodePart(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch (cause) {
    throw new CatalogError('InvalidInput', `"${encoded}" is not percent-encoded text.`, 'Encode it as a URL part.', {
      cause,
    });
  }
}

const listTables: Route = async ({ catalog, id, query, signal }) => {
  const page = await catalog.listTables(id, { ...pageOf(query), signal });
  return { json: { tables: page.tables, ...(page.pageToken !== undefined && { page_token: page.pageToken }) } };
};

const routes: Record<string, Route> = {
  'POST namespace/create': async ({ catalog, id, json, signal }) => {
    const body = await json();
    checkId(body, id);
    const mode = checkCreateMode('create', snakeCase(text(body, 'mode')));
    await catalog.createNamespace(id, { mode, properties: textMap(body, 'properties'), signal });
    return { json: await catalog.describeNamespace(id, { signal }) };
  },
  'GET namespace/list': async ({ catalog, id, query, signal }) => {
    const page = await catalog.listNamespaces(id, { ...pageOf(query), signal });
    return {
      json: { namespaces: page.namespaces, ...(page.pageToken !== undefined && { page_token: page.pageToken }) },
    };
  },
  'POST namespace/describe': async ({ catalog, id, json, signal }) => {
    checkId(await json(), id);
    return { json: await catalog.describeNamespace(id, { signal }) };
  },
  'POST namespace/drop': async ({ catalog, id, json, signal }) => {
    const body = await json();
    checkId(body, id);
    const mode = checkChoice('drop', 'mode', snakeCase(text(body, 'mode')), ['fail', 'skip']);
    const word = snakeCase(text(body, 'behavior'));
    const behavior = checkChoice('drop', 'behavior', word, ['restrict', 'cascade']);
    await catalog.dropNamespace(id, { mode, behavior, signal });
    return { json: {} };
  },
  'POST namespace/exists': async ({ catalog, id, json, signal }) => {
    checkId(await json(), id);
    await catalog.describeNamespace(id, { signal });
    return { empty: true };
  },
  'GET namespace/table/list': listTables,

  'POST table/create': async ({ catalog, id, query, arrow, own, signal }) => {
    const [name, path] = tableOf(id);
    const mode = checkCreateMode('create', snakeCase(query.get('mode') ?? undefined));
    const table = own(await catalog.createTable(name, await arrow(), path, { mode, signal }));
    return { json: { version: await table.version({ signal }) } };
  },
  'POST table/describe': async (call) => {
    const { catalog, id, query, own, signal } = call;
    const [name, path] = tableOf(id);
    const table = await openFor(call, await call.json());
    // The version and the schema cost a read of the table, so they come when asked for.
    if (query.get('load_detailed_metadata') !== 'true') return { json: { table: name, namespace: path } };
    const version = await table.version({ signal });
    const pinned = own(await catalog.openTable(name, path, { version, signal }));
    return { json: { table: name, namespace: path, version, schema: jsonSchema(await pinned.schema({ signal })) } };
  },
  'POST table/exists': async (call) => {
    await openFor(call, await call.json());
    return { empty: true };
  },
  'POST table/drop': async ({ catalog, id, json, signal }) => {
    const [name, path] = tableOf(id);
    checkId(await json(), id);
    await catalog.dropTable(name, path, { signal });
    return { json: { id } };
  },
  'POST table/rename': async ({ catalog, id, json, signal }) => {
    const [name, path] = tableOf(id);
    const body = await json();
    checkId(body, id);
    const newNamespacePath = textList(body, 'new_namespace_id');
    await catalog.renameTable(name, requiredText(body, 'new_table_name'), path, { newNamespacePath, signal });
    return { json: {} };
  },
  'POST table/count_rows': async (call) => {
    const body = await call.json();
    const table = await openFor(call, body);
    return { json: await table.countRows(text(body, 'predicate'), { signal: call.signal }) };
  },
  'POST table/query': async (call) => {
    const body = await call.json();
    const { spec } = querySpec(body);
    return { rows: { table: await openFor(call, body), spec } };
  },
  'POST table/insert': async ({ catalog, id, query, arrow, own, signal }) => {
    const [name, path] = tableOf(id);
    const word = snakeCase(query.get('mode') ?? undefined);
    const mode = checkChoice('insert', 'mode', word, ['append', 'overwrite']);
    // Read before anything can fail: an answer in the middle of a body may not reach the sender.
    const rows = await arrow();
    const table = own(await catalog.openTable(name, path, { signal }));
    await table.add(rows, { mode, signal });
    return { json: { num_inserted_rows: rows.numRows, version: await table.version({ signal }) } };
  },
  'POST table/delete': async (call) => {
    const body = await call.json();
    const predicate = requiredText(body, 'predicate');
    const table = await openFor(call, body);
    await table.delete(predicate, { signal: call.signal });
    return { json: { version: await table.version({ signal: call.signal }) } };
  },
  'POST table/version/list': async (call) => {
    const { query, signal } = call;
    const table = await openFor(call, {});
    const versions = (await table.listVersions({ signal })).toSorted((a, b) => a.version - b.version);
    if (query.get('descending') === 'true') versions.reverse();
    // All of them in one page: the engine reads them all anyway.
    return {
      json: {
        versions: versions.map(({ version, timestamp }) => ({ version, timestamp_millis: timestamp.getTime() })),
      },
    };
  },
  'POST table/stats': async (call) => {
    const table = await openFor(call, await call.json());
    return { json: { num_rows: await table.countRows(undefined, { signal: call.signal }) } };
  },
};

async function openFor({ catalog, id, own, signal }: Call, body: Record<string, unknown>): Promise<Table> {
  const [name, path] = tableOf(id);
  checkId(body, id);
  return own(await catalog.openTable(name, path, { version: count(body, 'version'), signal }));
}

function tableOf(id: readonly string[]): [name: string, path: string[]] {
  const name = id.at(-1);
  if (name === undefined) throw new CatalogError('InvalidInput', 'The address names no table.', 'Name one.');
  return [name, id.slice(0, -1)];
}

/** The specification lets a body repeat the identifier; a different one is a confused client. */
function checkId(body: Record<string, unknown>, id: readonly string[]): void {
  const given = textList(body, 'id');
  if (!given || (given.length === id.length && given.every((part, index) => part === id[index]))) return;
  throw new CatalogError('InvalidInput', 'The request body names another object than the address.', 'Name one object.');
}

function pageOf(query: URLSearchParams): { limit?: number; pageToken?: string } {
  const limit = query.get('limit');
  const pageToken = query.get('page_token');
  return { ...(limit !== null && { limit: Number(limit) }), ...(pageToken !== null && { pageToken }) };
}
