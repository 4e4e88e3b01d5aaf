import type { ResolveCatalog } from '#cluster/resolvedCatalog.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { Catalogs } from '../connections/catalogs.ts';

/**
 * Returns a resolver that finds a profile's catalog among the connections. The stored key of the connection stays in
 * memory during the run. The engine process of the window opens directories.
 */
export function catalogResolver(catalogs: Pick<Catalogs, 'config' | 'get'>): ResolveCatalog {
  return async (catalog) => {
    if (typeof catalog !== 'string') return { config: catalog };
    try {
      const config = await catalogs.config(catalog);
      // The catalog stays open after the run, because the connection owns it.
      return { config, open: () => catalogs.get(catalog) };
    } catch (error) {
      if (isCatalogError(error, 'NamespaceNotFound')) return undefined;
      throw error;
    }
  };
}
