import type { ViewsCatalog } from '#shared/protocol/viewsMessages.ts';
import type { Engine } from '../host/engine.ts';
import type { Catalogs } from './catalogs.ts';
import type { Connections } from './connections.ts';
import { isUnlisted } from './kernelTables.ts';

/**
 * Returns how the views process opens the catalog of a connection: a directory through the engine process of this window,
 * a server directly. The result may hold secrets.
 * @throws CatalogError if there is no such connection, or the engine does not start
 */
export async function viewsCatalog(
  { catalogs, connections, engine }: { catalogs: Catalogs; connections: Connections; engine: Engine },
  connection: string,
): Promise<ViewsCatalog> {
  if (isUnlisted(connection, connections.list()))
    return { root: connection, implementation: 'engine', ...(await engine.address()) };
  const config = await catalogs.config(connection);
  if (config.implementation === 'dir') return { ...config, implementation: 'engine', ...(await engine.address()) };
  const keyHint = `To use another key, choose "Update API Key…" on "${connection}" in the Lance Catalog view, then try again.`;
  return { ...config, keyHint };
}
