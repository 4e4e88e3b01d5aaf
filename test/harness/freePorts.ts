import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** Ports that were free a moment ago, all different. Somebody may take one meanwhile: who uses them tries again then. */
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
