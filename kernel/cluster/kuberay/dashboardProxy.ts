import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { RayTarget } from '#cluster/ray/rayRequest.ts';
import { openRayLink, type OpenRayLinkOptions } from './openRayLink.ts';

const cookie = 'lance-catalog-ray';

/**
 * Serves the dashboard of a Ray to browsers, on a loopback port.
 * Every user of the machine and every web page can reach such a port, and Ray runs the code it receives. So each
 * request needs the key of the URL, which the browser keeps as a cookie, and a Host header of this machine.
 */
export class DashboardProxy implements AsyncDisposable {
  readonly #target: RayTarget;
  readonly #server: Server;
  readonly #key = randomBytes(24).toString('base64url');
  readonly #open = new Set<Socket>();

  private constructor(target: RayTarget) {
    this.#target = target;
    this.#server = createServer((asked, reply) => this.#serve(asked, reply));
    this.#server.on('upgrade', (asked, socket: Socket, head) => this.#upgrade(asked, socket, head));
    this.#server.on('connection', (socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  static async open(target: RayTarget): Promise<DashboardProxy> {
    const door = new DashboardProxy(target);
    door.#server.listen(0, '127.0.0.1');
    await once(door.#server, 'listening');
    return door;
  }

  /** URL with the key: to open, never to log. */
  get address(): string {
    return `http://127.0.0.1:${this.#port}/?key=${this.#key}`;
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server.close(), 'close');
    for (const socket of this.#open) socket.destroy();
    await closed;
  }

  #serve(asked: IncomingMessage, reply: ServerResponse): void {
    if (!this.#isForUs(asked)) return refuse(reply, 421, 'This is not the address of the dashboard.');
    const url = URL.parse(asked.url ?? '/', 'http://any');
    const key = url?.searchParams.get('key');
    if (url && isKey(key, this.#key)) {
      url.searchParams.delete('key');
      // Remove the key from the URL, which browsers store and send on.
      reply.writeHead(303, {
        location: `${url.pathname}${url.search}`,
        'set-cookie': `${cookie}=${this.#key}; HttpOnly; SameSite=Strict; Path=/`,
        'referrer-policy': 'no-referrer',
      });
      reply.end();
      return;
    }
    if (!this.#hasKey(asked)) return refuse(reply, 403, 'Open the dashboard from the editor or the notebook again.');
    const onward = request(this.#onward(asked), (answer) => {
      reply.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(reply);
      answer.on('error', () => reply.destroy());
    });
    onward.on('error', () => {
      if (reply.headersSent) reply.destroy();
      else refuse(reply, 502, 'Ray does not respond. Reload the page.');
    });
    reply.on('close', () => onward.destroy());
    asked.pipe(onward);
  }

  /** Web sockets, by which the dashboard follows logs. */
  #upgrade(asked: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    if (!this.#isForUs(asked) || !this.#hasKey(asked)) {
      socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
      return;
    }
    const { host, port, socketPath, path, headers } = this.#onward(asked);
    const onward = socketPath === undefined ? connect(port ?? 80, host) : connect(socketPath);
    onward.on('error', () => socket.destroy());
    onward.once('close', () => socket.destroy());
    socket.once('close', () => onward.destroy());
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
    onward.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    onward.write(head);
    onward.pipe(socket);
    socket.pipe(onward);
  }

  #onward(asked: IncomingMessage) {
    const { address, socketPath, token } = this.#target;
    const url = new URL(address);
    const headers: Record<string, string | string[] | undefined> = { ...asked.headers, host: url.host };
    // Drops only the cookie, which holds this proxy's key. Browser headers stay: by these Ray refuses changes from
    // browsers, as at its own address.
    delete headers['cookie'];
    if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
    return {
      method: asked.method,
      path: `${url.pathname.replace(/\/$/, '')}${asked.url ?? '/'}`,
      headers,
      agent: false as const,
      ...(socketPath === undefined
        ? { host: url.hostname, port: Number(url.port || 80), socketPath: undefined }
        : { socketPath, host: undefined, port: undefined }),
    };
  }

  /** Checks the host, since another site can point its name to this machine (DNS rebinding). */
  #isForUs({ headers: { host } }: IncomingMessage): boolean {
    return host === `127.0.0.1:${this.#port}` || host === `localhost:${this.#port}`;
  }

  #hasKey({ headers: { cookie: cookies = '' } }: IncomingMessage): boolean {
    const found = cookies.split(/;\s*/).find((one) => one.startsWith(`${cookie}=`));
    return isKey(found?.slice(cookie.length + 1), this.#key);
  }
}

/** Opens the dashboard of a Ray that is connected already. The caller disposes of it. */
export const openDashboardProxy = (target: RayTarget): Promise<DashboardProxy> => DashboardProxy.open(target);

function isKey(given: string | null | undefined, key: string): boolean {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(key)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function refuse(reply: ServerResponse, status: number, sentence: string): void {
  reply.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' });
  reply.end(`${sentence}\n`);
}

/** A dashboard that is open to this machine's browsers. */
export type OpenDashboard = AsyncDisposable & {
  /** URL with a key: to open, never to log. */
  readonly address: string;
};

/** Opens the dashboard of an existing RayCluster through the API server. @throws ClusterError as `openRayLink` */
export async function openDashboard(profile: ClusterProfile, options: OpenRayLinkOptions): Promise<OpenDashboard> {
  const link = await openRayLink(profile, options);
  try {
    const door = await DashboardProxy.open(link.target);
    return {
      address: door.address,
      [Symbol.asyncDispose]: async () => {
        await door[Symbol.asyncDispose]();
        await link[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    // No caller has the link yet.
    await link[Symbol.asyncDispose]();
    throw error;
  }
}
