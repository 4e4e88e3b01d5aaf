import type { ResolveCatalog } from '#cluster/resolvedCatalog.ts';
import { isCatalogError } from '#shared/errors.ts';
import type { Catalogs } from '../connections/catalogs.ts';

/**
 * Finds the catalog of a profile among the connections of the editor, with the key that the editor keeps for it: in memory,
 * for as long as the run. A directory is asked by the engine process of the window.
 */
export function catalogResolver(catalogs: Pick<Catalogs, 'config' | 'get'>): ResolveCatalog {
  return async (catalog) => {
    if (typeof catalog !== 'string') return { config: catalog };
    try {
      const config = await catalogs.config(catalog);
      // The window's own, which stays open when the run has ended.
      return { config, open: () => catalogs.get(catalog) };
    } catch (error) {
      if (isCatalogError(error, 'NamespaceNotFound')) return undefined;
      throw error;
    }
  };
}
