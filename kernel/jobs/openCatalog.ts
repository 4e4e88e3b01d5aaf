import type { Catalog } from '#client/catalog.ts';
import { connectNamespace } from '#client/connect.ts';
import { registerRest } from '#client/registerRest.ts';
import { registerDir } from '#engine/register.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';

/**
 * The catalog of a job in this process; the engine is loaded by the first directory. Whoever asks owns it, and closes it.
 * @throws CatalogError as `connectNamespace`
 */
export async function openCatalog(config: CatalogConfig, signal: AbortSignal): Promise<Catalog> {
  registerDir();
  registerRest();
  if (config.implementation === 'dir') {
    const { implementation, ...dir } = config;
    return connectNamespace(implementation, dir, { signal });
  }
  const { implementation, keyHint, ...rest } = config;
  return connectNamespace(implementation, rest, { keyHint, signal });
}

/** Runs a call on a catalog that is closed after it. */
export async function onCatalog<T>(
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
