import { inspect } from 'node:util';
import type { Catalog } from '#catalog/catalog.ts';
import { currentCellSignal } from '#processes/calls.ts';
import { connectNamespace } from '#catalog/connect.ts';
import type { Jobs } from '#catalog/jobs.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { unsupportedCalls, unsupportedCatalogCalls } from '#catalog/lancedb/unsupported.ts';
import { CatalogError } from '#shared/errors.ts';

/** Properties of a catalog, and methods that return no promise. */
type Immediate = 'implementation' | 'location' | 'jobs' | 'isOpen' | 'display' | keyof typeof unsupportedCatalogCalls;

/** The methods of a catalog. Each returns a promise, so the first call can wait for the connection. */
const calls: Record<Exclude<keyof Catalog, Immediate>, true> = {
  capabilities: true,
  createNamespace: true,
  listNamespaces: true,
  describeNamespace: true,
  namespaceExists: true,
  dropNamespace: true,
  listTables: true,
  tableNames: true,
  describeTable: true,
  tableExists: true,
  isOnlyDeclared: true,
  createTable: true,
  createEmptyTable: true,
  declareTable: true,
  registerTable: true,
  deregisterTable: true,
  openTable: true,
  dropTable: true,
  dropAllTables: true,
  renameTable: true,
  copy: true,
  export: true,
  compare: true,
  close: true,
};

/**
 * Returns `db` of a notebook: the chosen catalog. The catalog connects at its first call and not at the start, because
 * the engine is large. If no catalog is chosen, every call rejects with an error that explains how to choose one.
 */
export function chosenCatalog(config: CatalogConfig | null): Catalog {
  let connected: Promise<Catalog> | undefined;
  const connect = (): Promise<Catalog> => {
    if (connected) return connected;
    const cell = currentCellSignal();
    const opening = open(config);
    connected = opening;
    const forget = (): void => {
      if (connected === opening) connected = undefined;
    };
    const settled = (): void => cell?.removeEventListener('abort', forget);
    // `forget` also runs on an abort, because the connection attempt of a terminated cell may never settle.
    cell?.addEventListener('abort', forget);
    // A failed attempt is forgotten, because the user may create the directory or start the server and then run the
    // cell again.
    opening.catch(forget).finally(settled);
    return opening;
  };
  const methods = Object.keys(calls).map((name) => [
    name,
    async (...args: unknown[]): Promise<unknown> => {
      const catalog = await connect();
      return (catalog[name as keyof typeof calls] as (...args: unknown[]) => unknown)(...args);
    },
  ]);
  const shown = config
    ? { implementation: config.implementation, location: config.implementation === 'dir' ? config.root : config.uri }
    : { implementation: 'dir', location: '' };
  const line = config ? `Catalog ${shown.implementation} ${shown.location}` : 'Catalog (none chosen)';
  const immediate = {
    ...unsupportedCalls(unsupportedCatalogCalls),
    isOpen: () => config !== null,
    display: () => line,
  };
  const catalog = { ...shown, ...Object.fromEntries(methods), ...immediate, jobs: jobsOf(connect) } as Catalog;
  // As the last expression of a cell, `db` is shown as this line. Without the line, the output would list two dozen
  // functions.
  return Object.defineProperty(catalog, inspect.custom, { value: () => line });
}

const jobsOf = (connect: () => Promise<Catalog>): Jobs => ({
  list: async (options) => (await connect()).jobs.list(options),
  describe: async (id, options) => (await connect()).jobs.describe(id, options),
  cancel: async (id, options) => (await connect()).jobs.cancel(id, options),
  async *events(id, options) {
    yield* (await connect()).jobs.events(id, options);
  },
});

async function open(config: CatalogConfig | null): Promise<Catalog> {
  if (!config) {
    throw new CatalogError(
      'InvalidInput',
      'No catalog is chosen for this notebook, so db has nothing to read.',
      'Choose one in the editor, set LANCE_CATALOG to a directory or a URL before the kernel starts, or write db = await connect("./data").',
    );
  }
  if (config.implementation === 'dir') {
    const { implementation, ...dir } = config;
    return connectNamespace(implementation, dir);
  }
  const { implementation, keyHint, ...rest } = config;
  return connectNamespace(implementation, rest, { keyHint });
}
