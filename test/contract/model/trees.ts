import type { Connection } from '@lancedb/lancedb';
import { isCatalogError } from '#shared/errors.ts';
import type { Catalog } from '#catalog/catalog.ts';
import { allPages } from '#catalog/listPages.ts';
import type { Path } from './operations.ts';

/**
 * The number of rows of a table. `unwritten`: the table is only declared. `unreadable`: the table can't be opened for
 * another reason.
 */
export type TableState = number | 'unwritten' | 'unreadable';

/** Everything that a catalog lists, by path: namespaces with their properties, and tables. */
export type Tree = Record<string, { namespace: Record<string, string> } | { table: TableState }>;

/**
 * Returns the key of a path in a tree. A table and a namespace of one name have different keys, so that neither hides
 * the other.
 */
export const namespaceKey = (path: Path): string => `${path.join('/')}/`;
export const tableKey = (path: Path, name: string): string => [...path, name].join('/');

/** Reads everything that a catalog lists. */
export async function readTree(db: Catalog): Promise<Tree> {
  const tree: Tree = {};
  const walk = async (path: Path): Promise<void> => {
    for (const name of await db.tableNames(path))
      tree[tableKey(path, name)] = { table: await tableState(db, name, path) };
    for (const name of await namespaceNames(db, path)) {
      const child = [...path, name];
      tree[namespaceKey(child)] = { namespace: (await db.describeNamespace(child)).properties };
      await walk(child);
    }
  };
  await walk([]);
  return sorted(tree);
}

const namespaceNames = (db: Catalog, path: Path): Promise<string[]> =>
  allPages(async (pageToken) => {
    const { namespaces, ...next } = await db.listNamespaces(path, { pageToken });
    return { names: namespaces, ...next };
  });

async function tableState(db: Catalog, name: string, path: Path): Promise<TableState> {
  try {
    return await (await db.openTable(name, path)).countRows();
  } catch (error) {
    if (!isCatalogError(error, 'InvalidTableState')) throw error;
    return (await db.isOnlyDeclared(name, path)) ? 'unwritten' : 'unreadable';
  }
}

/**
 * Reads everything that a catalog lists with upstream's own client. That client does not support declarations, so
 * `unwritten` becomes `unreadable`.
 */
export async function readUpstreamTree(
  connection: Connection,
  storageOptions: Record<string, string> | undefined,
): Promise<Tree> {
  const tree: Tree = {};
  const opening = storageOptions && { storageOptions };
  const walk = async (path: string[]): Promise<void> => {
    for (const name of await allPages(async (pageToken) => {
      const page = await connection.listTables(path, pageToken === undefined ? {} : { pageToken });
      return { names: page.tables, pageToken: page.pageToken };
    })) {
      tree[tableKey(path, name)] = { table: await upstreamState(connection, name, path, opening) };
    }
    for (const name of await allPages(async (pageToken) => {
      const page = await connection.listNamespaces(path, pageToken === undefined ? {} : { pageToken });
      return { names: page.namespaces, pageToken: page.pageToken };
    })) {
      const child = [...path, name];
      tree[namespaceKey(child)] = { namespace: (await connection.describeNamespace(child)).properties ?? {} };
      await walk(child);
    }
  };
  await walk([]);
  return sorted(tree);
}

async function upstreamState(
  connection: Connection,
  name: string,
  path: string[],
  opening: { storageOptions: Record<string, string> } | undefined,
): Promise<TableState> {
  let table;
  try {
    table = await connection.openTable(name, path, opening);
  } catch {
    return 'unreadable';
  }
  try {
    return await table.countRows();
  } finally {
    table.close();
  }
}

/** Returns the tree as seen by a client that can't distinguish declared tables from broken ones. */
export const asUpstream = (tree: Tree): Tree =>
  Object.fromEntries(
    Object.entries(tree).map(([key, node]) => [
      key,
      'table' in node && node.table === 'unwritten' ? { table: 'unreadable' } : node,
    ]),
  );

export const sorted = (tree: Tree): Tree =>
  Object.fromEntries(
    Object.entries(tree)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, node]) => [key, 'namespace' in node ? { namespace: sortedProperties(node.namespace) } : node]),
  );

export const sortedProperties = (properties: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(properties).toSorted(([a], [b]) => (a < b ? -1 : 1)));

export const isSameTree = (a: Tree, b: Tree): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Returns the differences between two trees, one per line. */
export function differences(expected: Tree, found: Tree): string[] {
  const keys = [...new Set([...Object.keys(expected), ...Object.keys(found)])].toSorted();
  return keys.flatMap((key) => {
    const [wanted, had] = [expected[key], found[key]].map((node) => (node ? JSON.stringify(node) : 'nothing'));
    return wanted === had ? [] : [`${key}: expected ${wanted}, found ${had}`];
  });
}
