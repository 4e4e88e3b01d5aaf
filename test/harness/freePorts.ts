import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/**
 * Returns different ports that were free a moment ago. Another process may take one meanwhile; then the caller tries
 * again.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(async (server) => {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    }),
  );
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
