import { isAbsolute, join } from 'node:path';
import type { Connection } from '../explorer/node.ts';
import { fieldsOf } from '#shared/records.ts';

/**
 * What a kernel is told of the profiles: JSON as in the setting, with paths that mean the same in every folder, and with the
 * address of a catalog in place of a connection's name, which means something in the editor alone. No secret is in it.
 */
export function profilesForKernels(
  profiles: Readonly<Record<string, unknown>>,
  connections: readonly Connection[],
  folder = '',
): string {
  const told = Object.entries(profiles).map(([name, value]) => {
    const { kubeconfig, catalog } = fieldsOf(value);
    const path = typeof kubeconfig === 'string' ? absolute(kubeconfig, folder) : kubeconfig;
    const connection = connections.find((one) => one.name === catalog);
    const changed = {
      ...(path !== undefined && { kubeconfig: path }),
      ...(connection && { catalog: addressOf(connection) }),
    };
    // What is no object is for the reader of profiles to say.
    return [name, Object.keys(changed).length > 0 ? { ...fieldsOf(value), ...changed } : value] as const;
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
