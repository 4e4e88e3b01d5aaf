import type { Catalog } from '#catalog/catalog.ts';
import type { NamespacePath } from '#shared/names.ts';

/** How many tables and namespaces lie under a namespace, at any depth; `isMore` where counting stopped. */
type Contents = { tables: number; namespaces: number; isMore: boolean };

/** Beyond it nobody reads the number any more, and counting costs a request for every namespace. */
const enough = 10_000;

/** Counts what a cascading drop of a namespace would take with it. @throws what the catalog's lists throw */
export async function contentsOf(
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

/** The pages of a list. One that gives a token a second time would never end, and ends here. */
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

/** `2 namespaces and 14 tables`, in words for a question. */
export function contentsText({ tables, namespaces, isMore }: Contents): string {
  const parts = [
    ...(namespaces > 0 ? [plural(namespaces, 'namespace')] : []),
    ...(tables > 0 ? [plural(tables, 'table')] : []),
  ];
  return `${isMore ? 'more than ' : ''}${parts.join(' and ')}`;
}

export const plural = (count: number, what: string): string =>
  `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
