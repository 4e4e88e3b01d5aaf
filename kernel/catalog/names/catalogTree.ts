import type { Catalog } from '#catalog/catalog.ts';

/** The calls that list a catalog. */
export type ListedCatalog = Pick<Catalog, 'listTables' | 'listNamespaces'>;

export type NameList<T> = {
  names: T[];
  /** Whether the catalog may have more names. */
  isPartial: boolean;
};

/** Maximum number of names that the specification allows in a page. */
const pageNames = 1000;
/** Maximum number of namespaces that are listed; each takes two requests. */
const maxNamespaces = 100;
/** Number of namespaces that are listed at the same time. */
const parallel = 4;

type ListOptions = { limit: number; signal: AbortSignal };

/** Reads at most `limit` names of tables in a namespace. */
export const listTables = (catalog: ListedCatalog, path: readonly string[], options: ListOptions) =>
  readNames(options, async (page) => {
    const { tables, pageToken } = await catalog.listTables([...path], page);
    return { names: tables, pageToken };
  });

/** Reads at most `limit` names of namespaces in a namespace. */
export const listNamespaces = (catalog: ListedCatalog, path: readonly string[], options: ListOptions) =>
  readNames(options, async (page) => {
    const { namespaces, pageToken } = await catalog.listNamespaces([...path], page);
    return { names: namespaces, pageToken };
  });

type PageRequest = ListOptions & { pageToken?: string | undefined };

async function readNames(
  { limit, signal }: ListOptions,
  read: (page: PageRequest) => Promise<{ names: readonly string[]; pageToken?: string | undefined }>,
): Promise<NameList<string>> {
  const names: string[] = [];
  let pageToken: string | undefined;
  for (let pages = 0; pages < Math.ceil(limit / pageNames); pages++) {
    const page = await read({ limit: Math.min(limit, pageNames), signal, pageToken });
    names.push(...page.names);
    pageToken = page.pageToken === '' ? undefined : page.pageToken;
    if (pageToken === undefined) break;
  }
  return { names: names.slice(0, limit), isPartial: pageToken !== undefined || names.length > limit };
}

/**
 * Passes on the paths of the tables in a namespace and in all namespaces below it, those of upper levels first. Stops
 * at `limit` tables. A namespace that can't be listed is left out.
 * @param add receives the paths while they arrive
 * @returns whether there may be more tables, and the namespaces directly in `path`
 * @throws CatalogError if `path` itself can't be listed
 */
export async function walkTables(
  catalog: ListedCatalog,
  path: readonly string[],
  options: ListOptions,
  add: (tables: string[][]) => void,
): Promise<{ isPartial: boolean; namespaces: string[][] }> {
  const direct: string[][] = [];
  const waiting: (readonly string[])[] = [path];
  let room = options.limit;
  let isCut = false;
  for (let listed = 0; waiting.length > 0 && room > 0 && listed < maxNamespaces;) {
    const parents = waiting.splice(0, Math.min(parallel, maxNamespaces - listed));
    listed += parents.length;
    const found = await Promise.all(
      parents.map(async (parent) => {
        const lists = Promise.all([listTables(catalog, parent, options), listNamespaces(catalog, parent, options)]);
        const [tables, namespaces] = await (parent === path ? lists : lists.catch(() => [unread, unread] as const));
        return { parent, tables, namespaces };
      }),
    );
    for (const { parent, tables, namespaces } of found) {
      isCut ||= tables.isPartial || namespaces.isPartial || tables.names.length > room;
      const added = tables.names.slice(0, room).map((name) => [...parent, name]);
      room -= added.length;
      add(added);
      const children = namespaces.names.map((name) => [...parent, name]);
      waiting.push(...children);
      if (parent === path) direct.push(...children);
    }
    // After the time limit every request fails, and what was found so far is the result.
    if (options.signal.aborted) break;
  }
  return { isPartial: isCut || waiting.length > 0, namespaces: direct };
}

const unread: NameList<string> = { names: [], isPartial: true };
