import type { ResolveCatalog } from '#cluster/resolvedCatalog.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { Catalogs } from '../connections/catalogs.ts';

/**
 * Returns a resolver that finds a profile's catalog among the connections, with its stored key, which stays in memory
 * during the run. The engine process of the window opens directories.
 */
export function catalogResolver(catalogs: Pick<Catalogs, 'config' | 'get'>): ResolveCatalog {
  return async (catalog) => {
    if (typeof catalog !== 'string') return { config: catalog };
    try {
      const config = await catalogs.config(catalog);
      // It stays open after the run.
      return { config, open: () => catalogs.get(catalog) };
    } catch (error) {
      if (isCatalogError(error, 'NamespaceNotFound')) return undefined;
      throw error;
    }
  };
}
