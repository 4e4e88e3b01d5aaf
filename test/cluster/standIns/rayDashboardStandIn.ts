import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export type AskedOfRay = {
  readonly method: string;
  readonly path: string;
  readonly headers: NodeJS.Dict<string | string[]>;
};

/**
 * Stands in for the dashboard of a Ray in tests of the connection to it, because a real Ray takes half a minute to
 * start. It returns a version, echoes requests, and accepts web sockets up to their first line.
 */
export class RayDashboardStandIn {
  readonly asked: AskedOfRay[] = [];
  /** The required token; undefined if none is required. */
  token: string | undefined;
  readonly #server: Server;
  readonly #upgraded = new Set<Socket>();

  private constructor() {
    this.#server = createServer((request, response) => {
      const { method = '', url = '', headers } = request;
      this.asked.push({ method, path: url, headers });
      if (this.token !== undefined && headers.authorization !== `Bearer ${this.token}`)
        return void response.writeHead(headers.authorization === undefined ? 401 : 403).end();
      // Send a response that does not end.
      if (url === '/slow') return void response.writeHead(200, { 'content-length': '8' }).write('half');
      response.setHeader('content-type', 'application/json');
      if (url.endsWith('/api/version')) response.end(JSON.stringify({ version: '4', ray_version: '2.43.0' }));
      else request.pipe(response);
    });
    // The client must end the connection, because kwok does not report its end on this side.
    this.#server.on('upgrade', (request, socket: Socket) => {
      this.asked.push({ method: 'UPGRADE', path: request.url ?? '', headers: request.headers });
      this.#upgraded.add(socket);
      socket.on('error', () => {});
      socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: test\r\nconnection: upgrade\r\n\r\nhello');
    });
  }

  static async start(): Promise<RayDashboardStandIn> {
    const started = new RayDashboardStandIn();
    started.#server.listen(0, '127.0.0.1');
    await once(started.#server, 'listening');
    return started;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async stop(): Promise<void> {
    const closed = once(this.#server.close(), 'close');
    this.#server.closeAllConnections();
    for (const socket of this.#upgraded) socket.destroy();
    await closed;
  }
}
