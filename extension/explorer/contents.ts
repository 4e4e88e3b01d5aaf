import type { Catalog } from '#catalog/catalog.ts';
import type { NamespacePath } from '#shared/names.ts';

/** Number of tables and namespaces under a namespace, at any depth; `isMore` if counting stopped early. */
type Contents = { tables: number; namespaces: number; isMore: boolean };

/**
 * Counting stops at this number. Counting costs a request per namespace, and the user needs no exact number above this
 * limit.
 */
const enough = 10_000;

/** Counts what a cascading drop of a namespace would drop. @throws the errors of the catalog's lists */
export async function countContents(
  catalog: Pick<Catalog, 'listNamespaces' | 'listTables'>,
  path: NamespacePath,
  signal: AbortSignal,
): Promise<Contents> {
  const found: Contents = { tables: 0, namespaces: 0, isMore: false };
  const waiting: NamespacePath[] = [path];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for await (const tables of pages((pageToken) => catalog.listTables(at, { limit: 1000, pageToken, signal }))) {
      found.tables += tables.tables.length;
      if (found.tables + found.namespaces >= enough) return { ...found, isMore: true };
    }
    for await (const { namespaces } of pages((pageToken) =>
      catalog.listNamespaces(at, { limit: 1000, pageToken, signal }),
    )) {
      found.namespaces += namespaces.length;
      waiting.push(...namespaces.map((name) => [...at, name]));
      if (found.tables + found.namespaces >= enough) return { ...found, isMore: true };
    }
  }
  return found;
}

/** Yields the pages of a list; stops if a page token repeats, because the list would never end. */
async function* pages<P extends { pageToken?: string }>(
  read: (pageToken: string | undefined) => Promise<P>,
): AsyncGenerator<P> {
  const seen = new Set<string | undefined>();
  for (let token: string | undefined; !seen.has(token);) {
    seen.add(token);
    const page = await read(token);
    yield page;
    if (page.pageToken === undefined) return;
    token = page.pageToken;
  }
}

export function formatContents({ tables, namespaces, isMore }: Contents): string {
  const parts = [
    ...(namespaces > 0 ? [plural(namespaces, 'namespace')] : []),
    ...(tables > 0 ? [plural(tables, 'table')] : []),
  ];
  return `${isMore ? 'more than ' : ''}${parts.join(' and ')}`;
}

export const plural = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
