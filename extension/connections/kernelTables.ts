import path from 'node:path';
import type { KernelTable } from '#shared/protocol/outputTables.ts';
import type { Connection } from '../explorer/node.ts';
import type { TablePlace } from '../panels/tableSource.ts';
import { connectionTo } from './connectionRules.ts';

/**
 * Returns the connection and path of a table that a kernel has opened; `undefined` if no connection leads to its catalog.
 * A directory on this machine that is not in the list is named by its path.
 */
export async function placeOfKernelTable(
  { implementation, catalog, database, namespacePath, name, version }: KernelTable,
  connections: readonly Connection[],
): Promise<TablePlace | undefined> {
  const found =
    implementation === 'dir'
      ? await connectionTo(catalog, connections)
      : connections.find(
          (one) => one.kind === 'rest' && one.uri === catalog.replace(/\/+$/, '') && one.database === database,
        );
  const connection = found?.name ?? (implementation === 'dir' && path.isAbsolute(catalog) ? catalog : undefined);
  return connection === undefined ? undefined : { connection, path: namespacePath, table: name, version };
}

/** Whether a connection is only the path of a directory, and not in the list. */
export const isUnlisted = (connection: string, connections: readonly Connection[]): boolean =>
  path.isAbsolute(connection) && !connections.some(({ name }) => name === connection);
