import type { Catalog } from '#catalog/catalog.ts';
import { isAbort } from '#shared/errors.ts';
import { displayPath } from '#shared/names.ts';
import { failureMessage } from '../connections/failureMessage.ts';
import { nodePath, type CatalogNode, type NodeOf, type CatalogLocation, type ErrorAction } from './node.ts';

const pageSize = 100;

export type LoaderContext = {
  catalog(connection: string): Promise<Catalog>;
  /** Returns the action that the user can take after a failure of a connection. */
  remedy(connection: string, error: unknown): ErrorAction;
  /**
   * The loader calls this function after a catalog has listed a namespace or described a table. For a table, the path
   * in `place` ends with the name of the table. The function may send further requests.
   */
  answered?(place: CatalogLocation, catalog: Catalog): void;
  /** Returns the known problems of a connection's catalog, one message each. */
  problems?(connection: string): readonly string[];
  report(what: string, error: unknown): void;
};

/**
 * Loads the rows under a node. If a list fails, an error node replaces its rows; the other lists still load.
 * @throws only AbortError
 */
export async function loadChildren(
  node: CatalogNode,
  context: LoaderContext,
  signal: AbortSignal,
): Promise<CatalogNode[]> {
  switch (node.kind) {
    case 'connection':
    case 'namespace':
      return loadNamespace(nodePath(node), context, signal);
    case 'table':
      return loadColumns(node, context, signal);
    case 'column':
    case 'more':
    case 'damage':
    case 'empty':
    case 'error':
      return [];
  }
}

/** Loads the page of a "more" node; another "more" node follows if there are more pages. */
export async function loadPage(
  node: NodeOf<'more'>,
  context: LoaderContext,
  signal: AbortSignal,
): Promise<CatalogNode[]> {
  const load = node.what === 'namespaces' ? namespacesOf : tablesOf;
  return orError(node, node.what, context, async () =>
    load(await context.catalog(node.connection), node, signal, node.pageToken),
  );
}

async function loadNamespace(
  place: CatalogLocation,
  context: LoaderContext,
  signal: AbortSignal,
): Promise<CatalogNode[]> {
  let catalog: Catalog;
  try {
    catalog = await context.catalog(place.connection);
  } catch (error) {
    return [errorNode(place, 'connection', context, error)];
  }
  const [namespaces, tables] = await Promise.all([
    orError(place, 'namespaces', context, () => namespacesOf(catalog, place, signal)),
    orError(place, 'tables', context, () => tablesOf(catalog, place, signal)),
  ]);
  if (![...namespaces, ...tables].some((row) => row.kind === 'error')) context.answered?.(place, catalog);
  // A missing root fails both lists with the same message; show it once.
  const same = isSameError(namespaces[0], tables[0]);
  const rows = [...damageOf(place, context), ...namespaces, ...(same ? [] : tables)];
  return rows.length > 0 ? rows : [{ kind: 'empty', ...place, text: 'No tables yet' }];
}

/** Returns the row that reports damage. The row comes first, because a damaged catalog hides some of the other rows. */
function damageOf(place: CatalogLocation, context: LoaderContext): CatalogNode[] {
  const problems = place.path.length === 0 ? (context.problems?.(place.connection) ?? []) : [];
  return problems.length > 0 ? [{ kind: 'damage', ...place, problems }] : [];
}

async function namespacesOf(
  catalog: Catalog,
  { connection, path }: CatalogLocation,
  signal: AbortSignal,
  pageToken?: string,
): Promise<CatalogNode[]> {
  const page = await catalog.listNamespaces(path, { limit: pageSize, pageToken, signal });
  const rows = page.namespaces.map((name): CatalogNode => ({ kind: 'namespace', connection, path: [...path, name] }));
  return [...rows, ...more('namespaces', { connection, path }, page.pageToken)];
}

async function tablesOf(
  catalog: Catalog,
  { connection, path }: CatalogLocation,
  signal: AbortSignal,
  pageToken?: string,
): Promise<CatalogNode[]> {
  const page = await catalog.listTables(path, { limit: pageSize, pageToken, signal });
  const rows = page.tables.map((table): CatalogNode => ({ kind: 'table', connection, path, table }));
  return [...rows, ...more('tables', { connection, path }, page.pageToken)];
}

async function loadColumns(node: NodeOf<'table'>, context: LoaderContext, signal: AbortSignal): Promise<CatalogNode[]> {
  const { connection, path, table } = node;
  return orError(node, 'columns', context, async () => {
    const catalog = await context.catalog(connection);
    const { columns } = await catalog.describeTable(table, { namespacePath: path, signal });
    context.answered?.({ connection, path: [...path, table] }, catalog);
    if (columns.length === 0) return [{ kind: 'empty', connection, path, table, text: 'No columns' }];
    return columns.map((column): CatalogNode => ({ kind: 'column', connection, path, table, column }));
  });
}

const more = (what: 'namespaces' | 'tables', place: CatalogLocation, pageToken: string | undefined): CatalogNode[] =>
  pageToken ? [{ kind: 'more', ...place, what, pageToken }] : [];

async function orError(
  place: CatalogLocation & { table?: string },
  about: string,
  context: LoaderContext,
  load: () => Promise<CatalogNode[]>,
): Promise<CatalogNode[]> {
  try {
    return await load();
  } catch (error) {
    if (isAbort(error)) throw error;
    return [errorNode(place, about, context, error)];
  }
}

function errorNode(
  place: CatalogLocation & { table?: string },
  about: string,
  context: LoaderContext,
  error: unknown,
): CatalogNode {
  const { connection, path, table } = place;
  context.report(`${about} of ${connection}: ${displayPath(path, table)}`, error);
  const remedy = context.remedy(connection, error);
  return {
    kind: 'error',
    connection,
    path,
    ...(table !== undefined && { table }),
    about,
    ...failureMessage(error, remedy),
    remedy,
  };
}

const isSameError = (a: CatalogNode | undefined, b: CatalogNode | undefined): boolean =>
  a?.kind === 'error' && b?.kind === 'error' && a.what === b.what;
