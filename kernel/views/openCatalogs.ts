import { setTimeout as sleep } from 'node:timers/promises';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { engineCatalog } from '#catalog/engineCatalog.ts';
import { exitDelay } from '#catalog/engineRequest.ts';
import type { Table } from '#catalog/table/table.ts';
import { CatalogError } from '#shared/errors.ts';
import type { SqlRequest, ViewsCatalog } from '#shared/protocol/viewsMessages.ts';
import type { CatalogTablesOptions } from '#sql/catalogTables.ts';

type Open = { catalog: Promise<Catalog>; users: number };

/** Number of catalogs without a user that stay open, with their connections, for the next query. */
const maxIdle = 8;

/** The catalogs that this process reads: directories by the window's engine process, servers directly. */
export class OpenCatalogs {
  /** By configuration, the catalog that was used last at the end. */
  readonly #open = new Map<string, Open>();

  /**
   * Runs a callback with the catalogs of a request, which stay open meanwhile.
   * @throws CatalogError InvalidInput (13) for a bad configuration
   */
  async with<T>(
    { catalog, others = {} }: Pick<SqlRequest, 'catalog'> & Partial<Pick<SqlRequest, 'others'>>,
    call: (catalogs: CatalogTablesOptions) => Promise<T>,
  ): Promise<T> {
    const used: Open[] = [];
    const use = (config: ViewsCatalog): Promise<Catalog> => {
      const open = this.#take(config);
      used.push(open);
      return open.catalog;
    };
    try {
      const named = new Map<string, Catalog>();
      for (const [name, config] of Object.entries(others)) named.set(name, await use(config));
      return await call({
        catalog: await use(catalog),
        otherCatalog: async (name) => named.get(name),
        otherCatalogNames: async () => [...named.keys()],
        caller: 'file',
      });
    } finally {
      for (const open of used) open.users--;
      this.#closeIdle();
    }
  }

  /** Opens a catalog, which stays open until `release` is called. @throws CatalogError InvalidInput (13) */
  async hold(config: ViewsCatalog): Promise<{ catalog: Catalog; release: () => void }> {
    const open = this.#take(config);
    const release = (): void => {
      open.users--;
      this.#closeIdle();
    };
    try {
      return { catalog: await open.catalog, release };
    } catch (error) {
      release();
      throw error;
    }
  }

  #take(config: ViewsCatalog): Open {
    const key = JSON.stringify(config);
    const open: Open = this.#open.get(key) ?? { catalog: openCatalog(config), users: 0 };
    this.#open.delete(key);
    this.#open.set(key, open);
    // A configuration that can't be opened is tried again by the next statement.
    open.catalog.catch(() => this.#open.delete(key));
    open.users++;
    return open;
  }

  #closeIdle(): void {
    const idle = [...this.#open].filter(([, { users }]) => users === 0);
    for (const [key, { catalog }] of idle.slice(0, -maxIdle)) {
      this.#open.delete(key);
      catalog.then((one) => one.close()).catch(() => {});
    }
  }
}

/** Opens a table, by default at its newest version. @throws CatalogError as `Catalog.openTable` */
export const openTable = (
  catalog: Catalog,
  { path, version }: { readonly path: readonly string[]; readonly version: number | null },
  signal: AbortSignal,
): Promise<Table> =>
  catalog.openTable(path.at(-1) ?? '', {
    namespacePath: path.slice(0, -1),
    signal,
    ...(version !== null && { version }),
  });

async function openCatalog(config: ViewsCatalog): Promise<Catalog> {
  if (config.implementation === 'rest') {
    const { implementation, keyHint, ...rest } = config;
    return connectNamespace(implementation, rest, { keyHint });
  }
  const { socketPath, secret, root, storageOptions } = config;
  return engineCatalog(
    { socketPath, secret },
    { root, ...(storageOptions && { storageOptions }) },
    { explain: unanswered },
  );
}

/**
 * Returns the error for a broken connection to the engine process. The window repeats the request with the address of the
 * next engine process, so it must have learned before that this one has ended.
 */
async function unanswered(cause: unknown): Promise<CatalogError> {
  await sleep(exitDelay);
  const what = 'The table engine of this window did not answer.';
  return new CatalogError('ServiceUnavailable', what, 'Run the query again.', { cause });
}
