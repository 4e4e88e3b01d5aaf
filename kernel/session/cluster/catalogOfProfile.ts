import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import type { ResolveCatalog } from '#cluster/resolvedCatalog.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';

export type CatalogFinder = {
  readonly resolve: ResolveCatalog;
  /** Closes the catalogs opened for the run. */
  close(): Promise<void>;
};

type Keys = {
  readonly apiKey?: string | undefined;
  readonly token?: string | undefined;
  /** The next step shown if the server rejects the request; replaces the usual hint about a key. */
  readonly keyHint?: string | undefined;
};

/**
 * Creates a function that finds the catalog of a profile without an editor's named connections. If the profile gives a
 * name or the URL of the known catalog, the function returns the known catalog with its key. Otherwise it returns the
 * catalog that the profile describes.
 * @param known the catalog of LANCE_CATALOG, or `db` of a notebook
 * @param keys credentials for the URL of a profile if no catalog is known
 */
export function catalogFinder(known: CatalogConfig | null, keys: Keys = {}): CatalogFinder {
  const opened: Catalog[] = [];
  return {
    resolve: async (catalog) => {
      const config = typeof catalog === 'string' ? known : withKeys(catalog, known, keys);
      if (!config) return undefined;
      if (config.implementation === 'rest') return { config };
      const { implementation, ...dir } = config;
      const open = async (): Promise<Catalog> => {
        const made = await connectNamespace(implementation, dir);
        opened.push(made);
        return made;
      };
      return { config, open };
    },
    close: async () => {
      await Promise.allSettled(opened.map((catalog) => catalog.close()));
    },
  };
}

function withKeys(catalog: CatalogConfig, known: CatalogConfig | null, keys: Keys): CatalogConfig {
  if (catalog.implementation === 'dir') return catalog;
  // The key of a known catalog is sent only to the server of that catalog.
  if (known) {
    const isSame = known.implementation === 'rest' && sameAddress(known.uri, catalog.uri);
    return isSame ? { ...known, ...catalog } : catalog;
  }
  const { apiKey, token, keyHint } = keys;
  return { ...catalog, ...(apiKey && { apiKey }), ...(token && { token }), ...(keyHint && { keyHint }) };
}

const sameAddress = (one: string, other: string): boolean =>
  plainAddress(one) !== undefined && plainAddress(one) === plainAddress(other);

const plainAddress = (uri: string): string | undefined => URL.parse(uri)?.href.replace(/\/+$/, '');
