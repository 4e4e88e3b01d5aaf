import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import type { ResolveCatalog } from '#cluster/resolvedCatalog.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';

export type CatalogFinder = {
  readonly resolve: ResolveCatalog;
  /** Closes what was opened for the run. */
  close(): Promise<void>;
};

type Keys = { readonly apiKey?: string | undefined; readonly token?: string | undefined };

/**
 * Finds the catalog of a profile where no editor knows connections by name: the one that is known here, with its key, where
 * the profile gives a name or the same address; else what the profile says, which has no key.
 * @param known the catalog of LANCE_CATALOG, or `db` of a notebook
 * @param keys what lets one in where a profile gives the address and none is known here
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

function withKeys(catalog: CatalogConfig, known: CatalogConfig | null, { apiKey, token }: Keys): CatalogConfig {
  if (catalog.implementation === 'dir') return catalog;
  // A key goes to the server that it was given for, and to no other.
  if (known) {
    const isSame = known.implementation === 'rest' && sameAddress(known.uri, catalog.uri);
    return isSame ? { ...known, ...catalog } : catalog;
  }
  return { ...catalog, ...(apiKey && { apiKey }), ...(token && { token }) };
}

const sameAddress = (one: string, other: string): boolean =>
  plainAddress(one) !== undefined && plainAddress(one) === plainAddress(other);

const plainAddress = (uri: string): string | undefined => URL.parse(uri)?.href.replace(/\/+$/, '');
