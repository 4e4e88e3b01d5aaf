import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type { Catalog } from '#catalog/catalog.ts';

/** A catalog with the key and the connection that a profile lacks. In memory only. */
export type ResolvedCatalog = {
  readonly config: CatalogConfig;
  /**
   * Opens the catalog if the caller has its own connection; the caller closes it. Required for a directory, because the
   * engine is not part of the checks. Without it, the checks connect to the server in `config`.
   */
  readonly open?: ((signal: AbortSignal) => Promise<Catalog>) | undefined;
};

/**
 * Finds the catalog of a profile, by connection name or by a configuration to which it may add a key. Returns
 * `undefined` if there is no such connection.
 */
export type ResolveCatalog = (
  catalog: string | CatalogConfig,
  signal: AbortSignal,
) => Promise<ResolvedCatalog | undefined>;
