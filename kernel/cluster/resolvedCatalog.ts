import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type { Catalog } from '#catalog/catalog.ts';

/** A catalog with the key and the connection that a profile lacks. It exists in memory only. */
export type ResolvedCatalog = {
  readonly config: CatalogConfig;
  /**
   * Opens the catalog over the caller's own connection, which the caller closes. Required for a directory, because the
   * checks contain no engine. Without this function, the checks connect to the server in `config`.
   */
  readonly open?: ((signal: AbortSignal) => Promise<Catalog>) | undefined;
};

/**
 * Finds the catalog of a profile. The profile has the name of a connection, or a configuration without a key, to which
 * this function may add the key. Returns `undefined` if there is no such connection.
 */
export type ResolveCatalog = (
  catalog: string | CatalogConfig,
  signal: AbortSignal,
) => Promise<ResolvedCatalog | undefined>;
