import type { Connection } from '@lancedb/lancedb';
import { isCatalogError } from '#shared/errors.ts';
import { idDelimiter, type NamespacePath } from '#shared/names.ts';
import { engineError, tableSubject } from './engineErrors.ts';
import { listable } from './manifestTable.ts';

type Page = { names: string[]; pageToken?: string };
type ReadPage = (limit: number, pageToken: string | undefined) => Promise<Page>;

/**
 * A page of a list of the engine, which goes on after the last name of a page. A name of no characters, which another
 * client can have made, is first and its page token none: a page that ends with it is asked for again, longer by one.
 */
export async function pageOf(read: ReadPage, limit: number, pageToken: string | undefined): Promise<Page> {
  const page = await read(limit, pageToken);
  const whole = page.pageToken === '' ? await read(limit + 1, pageToken) : page;
  return {
    // Nothing can be asked of what has no name.
    names: whole.names.filter((name) => name !== ''),
    ...(whole.pageToken && { pageToken: whole.pageToken }),
  };
}

export const namespacesPage =
  (connection: Connection, path: NamespacePath): ReadPage =>
  async (limit, pageToken) => {
    const { namespaces, pageToken: next } = await connection.listNamespaces(listable(path), given(limit, pageToken));
    return page(namespaces, next);
  };

export const tablesPage =
  (connection: Connection, path: NamespacePath): ReadPage =>
  async (limit, pageToken) => {
    const { tables, pageToken: next } = await connection.listTables(listable(path), given(limit, pageToken));
    return page(tables, next);
  };

const page = (names: string[], next: string | null | undefined): Page =>
  next === null || next === undefined ? { names } : { names, pageToken: next };

const given = (limit: number, pageToken: string | undefined) =>
  pageToken === undefined ? { limit } : { limit, pageToken };

/**
 * Leaves out what is listed and is no table: for a name with characters that it escapes, the engine makes folders under
 * up to three names, of which one can be opened. Only such names are tried, and with `includeDeclared` false all.
 */
export async function tablesOnly(
  connection: Connection,
  path: NamespacePath,
  names: readonly string[],
  includeDeclared: boolean,
): Promise<string[]> {
  const kept: string[] = [];
  for (const name of names) {
    // The folder of a table in a namespace, whose name makes the engine take it for one in the root as well.
    if (name.includes(idDelimiter)) continue;
    const isDoubtful = /%[0-9A-F]{2}/i.test(name);
    if ((!isDoubtful && includeDeclared) || (await isKept(connection, name, path, includeDeclared))) kept.push(name);
  }
  return kept;
}

async function isKept(
  connection: Connection,
  name: string,
  path: NamespacePath,
  includeDeclared: boolean,
): Promise<boolean> {
  try {
    (await connection.openTable(name, [...path])).close();
    return true;
  } catch (error) {
    const told = engineError(error, tableSubject(name, path));
    if (isCatalogError(told, 'TableNotFound')) return false;
    return includeDeclared || !isCatalogError(told, 'InvalidTableState');
  }
}
