import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type { Catalog } from '#catalog/catalog.ts';

/** A catalog with what a profile does not have of it: its key, and a way to it. In memory alone. */
export type ResolvedCatalog = {
  readonly config: CatalogConfig;
  /**
   * Connects to it, where whoever asks has a way of its own; a directory needs one, since the engine is not part of the
   * checks. Without it a server is connected to by `config`. What is given stays open: whoever gives it owns it.
   */
  readonly open?: ((signal: AbortSignal) => Promise<Catalog>) | undefined;
};

/**
 * Finds the catalog of a profile: by the name of a connection, or by a configuration to which a key may be added.
 * `undefined` where there is no connection of that name.
 */
export type ResolveCatalog = (
  catalog: string | CatalogConfig,
  signal: AbortSignal,
) => Promise<ResolvedCatalog | undefined>;
