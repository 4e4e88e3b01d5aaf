import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import type { Table } from '#catalog/table/table.ts';
import { registerStoreFiles } from '#engine/dir/files/storeFiles.ts';
import { registerDir } from '#engine/register.ts';
import { openStoreFiles } from '#jobs/local/checkpoints/bucketStore.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type { TableReference } from '#shared/jobs/backfill.ts';

/**
 * Opens a catalog, which the caller closes. The first directory catalog loads the engine.
 * @throws CatalogError as `connectNamespace`
 */
export async function openCatalog(config: CatalogConfig, signal: AbortSignal): Promise<Catalog> {
  registerDir();
  registerStoreFiles(openStoreFiles);
  registerRest();
  if (config.implementation === 'dir') {
    const { implementation, ...dir } = config;
    return connectNamespace(implementation, dir, { signal });
  }
  const { implementation, keyHint, ...rest } = config;
  return connectNamespace(implementation, rest, { keyHint, signal });
}

export async function withCatalog<T>(
  config: CatalogConfig,
  signal: AbortSignal,
  call: (catalog: Catalog) => Promise<T>,
): Promise<T> {
  const catalog = await openCatalog(config, signal);
  try {
    return await call(catalog);
  } finally {
    await catalog.close();
  }
}

/**
 * Runs a callback with an open table.
 * @throws CatalogError as `openTable`
 */
export const withTable = <T>(
  { catalog, namespacePath, name }: TableReference,
  signal: AbortSignal,
  call: (table: Table) => Promise<T>,
): Promise<T> =>
  withCatalog(catalog, signal, async (opened) => call(await opened.openTable(name, { namespacePath, signal })));
