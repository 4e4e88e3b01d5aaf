import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { type RequestLog, createContractHandler } from '#engine/server/server.ts';

/** A server of one directory over TCP without keys, for tools that send requests like any client. */
export type PlainServer = {
  readonly uri: string;
  /** Internal failures, with stack traces. */
  readonly failures: string[];
  /** The log of all requests. */
  readonly log: readonly RequestLog[];
  /** Returns the number of bytes sent on all connections so far. */
  bytesWritten(): number;
  close(): Promise<void>;
};

export async function startPlainServer(root: string): Promise<PlainServer> {
  const catalog = await openDir({ root });
  const failures: string[] = [];
  const log: RequestLog[] = [];
  const sockets: Socket[] = [];
  const contract = createContractHandler({
    authorize: () => undefined,
    catalogOf: () => Promise.resolve(catalog),
    log: (line) => failures.push(line),
    onAnswered: (_, answered) => log.push(answered),
  });
  const server = createServer((request, response) => void contract.handle(request, response));
  server.on('connection', (socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    uri: `http://127.0.0.1:${port}`,
    failures,
    log,
    bytesWritten: () => sockets.reduce((total, socket) => total + socket.bytesWritten, 0),
    close: async () => {
      server.close();
      await contract.drain();
      server.closeAllConnections();
      await catalog.close();
    },
  };
}
