import { isAbsolute, join } from 'node:path';
import type { Connection } from '../explorer/node.ts';
import { asRecord } from '#shared/records.ts';

/**
 * Returns the profiles for a kernel, as JSON in the form of the setting. Kubeconfig paths are absolute. The name of a
 * connection is replaced by the address of its catalog, because only VS Code knows connections. The JSON contains no
 * secrets.
 */
export function profilesForKernels(
  profiles: Readonly<Record<string, unknown>>,
  connections: readonly Connection[],
  folder = '',
): string {
  const told = Object.entries(profiles).map(([name, value]) => {
    const { kubeconfig, catalog } = asRecord(value);
    const path = typeof kubeconfig === 'string' ? absolute(kubeconfig, folder) : kubeconfig;
    const connection = connections.find((one) => one.name === catalog);
    const changed = {
      ...(path !== undefined && { kubeconfig: path }),
      ...(connection && { catalog: addressOf(connection) }),
    };
    // A value that is not an object stays as it is; the reader of profiles reports it.
    return [name, Object.keys(changed).length > 0 ? { ...asRecord(value), ...changed } : value] as const;
  });
  return JSON.stringify(Object.fromEntries(told));
}

const absolute = (path: string, folder: string): string =>
  path.startsWith('~') || isAbsolute(path) ? path : join(folder, path);

function addressOf(connection: Connection): Record<string, unknown> {
  if (connection.kind === 'dir') return { implementation: 'dir', root: connection.root };
  if (connection.kind === 'other') return { implementation: connection.implementation };
  const { uri, database } = connection;
  return { implementation: 'rest', uri, ...(database !== undefined && { database }) };
}
