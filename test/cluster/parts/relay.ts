import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

export type Relay = {
  readonly address: string;
  readonly proxyAddress: string;
  readonly socksAddress: string;
  readonly connections: () => number;
  readonly tunnels: () => number;
  readonly untilIdle: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

/** How a client must request its tunnel. */
type Way = 'plain' | 'connect' | 'socks';

/**
 * Forwards bytes to a server and counts connections. A client that uses the relay as a proxy gets the reply that its
 * tunnel is open.
 */
export async function startRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target);
  const open = new Set<Socket>();
  const counts = { connections: 0, tunnels: 0 };
  const serve = (way: Way): Server =>
    createServer((client) => {
      counts.connections++;
      const upstream = connect(Number(port), hostname);
      for (const socket of [client, upstream]) {
        open.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => {
          open.delete(socket);
          client.destroy();
          upstream.destroy();
        });
      }
      const tunnel = (): void => {
        client.pipe(upstream);
        upstream.pipe(client);
      };
      if (way === 'plain') return tunnel();
      client.once('data', (head: Buffer) => {
        if (way === 'connect') {
          if (head.toString('latin1').startsWith('CONNECT ')) counts.tunnels++;
          client.write('HTTP/1.1 200 Connection established\r\n\r\n');
          return tunnel();
        }
        // Reply to the greeting that no sign-in is required, then read the target address.
        client.write(Buffer.from([5, 0]));
        client.once('data', (request: Buffer) => {
          if (request[0] === 5 && request[1] === 1) counts.tunnels++;
          client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          tunnel();
        });
      });
    });
  const servers = [serve('plain'), serve('connect'), serve('socks')];
  const [plain, proxy, socks] = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolve) => {
          server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
        }),
    ),
  );
  return {
    address: `https://127.0.0.1:${plain}`,
    proxyAddress: `http://127.0.0.1:${proxy}`,
    socksAddress: `socks5h://127.0.0.1:${socks}`,
    connections: () => counts.connections,
    tunnels: () => counts.tunnels,
    untilIdle: async () => {
      while (open.size > 0) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    stop: async () => {
      for (const socket of open) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
