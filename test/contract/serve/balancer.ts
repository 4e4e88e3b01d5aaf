import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request as ask, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A load balancer in front of several servers, as in a cluster. */
export type Balancer = { readonly uri: string };

/**
 * Sends each request to the next server. If that server can't be reached, sends the request to the server after it. The
 * balancer keeps no state of clients, so successive requests of a client reach different servers.
 */
export async function startBalancer(uris: readonly string[]): Promise<Balancer> {
  const agents = uris.map(() => new Agent({ keepAlive: true }));
  let turn = 0;
  const pass = (request: IncomingMessage, response: ServerResponse, first: number, tries = 1): void => {
    // Count from the server of the first try, because other requests also advance `turn`.
    const index = (first + tries - 1) % uris.length;
    const { hostname, port } = new URL(uris[index] ?? '');
    const { method, url: path, headers } = request;
    const agent = agents[index]!;
    let isConnected = false;
    const send = () => {
      isConnected = true;
      request.pipe(upstream);
    };
    const upstream = ask({ hostname, port, method, path, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    upstream.once('socket', (socket) => {
      if (socket.connecting) socket.once('connect', send);
      else send();
    });
    upstream.once('error', () => {
      // Don't try another server after a part of the body was sent, because it is unknown how much of the body the
      // server has processed.
      if (isConnected || tries === uris.length) response.destroy();
      else pass(request, response, first, tries + 1);
    });
    response.once('close', () => upstream.destroy());
  };
  const server = createServer((request, response) => pass(request, response, turn++));
  server.requestTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { uri: `http://127.0.0.1:${port}` };
}
