import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  type ClientRequest,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as httpRequest,
  type RequestOptions,
  type Server,
  ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { pipeline } from 'node:stream';
import type { ClusterProfile } from '#cluster/profile.ts';
import type { RayTarget } from '#cluster/ray/rayRequest.ts';
import { isSameSecret } from '#processes/isSameSecret.ts';
import { openRayLink, type OpenRayLinkOptions } from './openRayLink.ts';

export type DashboardLimits = {
  /** Maximum number of simultaneous connections of browsers. Others are closed. */
  readonly connections: number;
  /**
   * Milliseconds without data from Ray after which a connection is closed. For data from the browser, the limit is a
   * little longer.
   */
  readonly idleMs: number;
  /**
   * The same limit for a web socket. It is longer, because the dashboard follows logs by web sockets, and a log may be
   * silent.
   */
  readonly webSocketIdleMs: number;
  /**
   * Milliseconds that the key in the URL stays valid after its last use. An open dashboard sends requests at intervals,
   * so its key does not expire.
   */
  readonly keyIdleMs: number;
};

const usualLimits: DashboardLimits = {
  connections: 128,
  idleMs: 300_000,
  webSocketIdleMs: 3_600_000,
  keyIdleMs: 3_600_000,
};

/**
 * The client's side of a request to switch protocols: its connection, and the bytes that were received after the
 * request.
 */
type Upgrade = { readonly socket: Socket; readonly head: Buffer };

/**
 * Serves the Ray dashboard to browsers, on a loopback port. Every user of the machine and every web page can reach
 * such a port, and Ray runs the code it receives. So each request needs the key in the path of the URL, a Host header
 * of this machine, and no Origin of another page. The key is not a cookie, because browsers send the cookies of
 * 127.0.0.1 to each port, also to programs of other users. Ray's dashboard has relative addresses, so it works below a
 * path.
 */
export class DashboardProxy implements AsyncDisposable {
  readonly #target: RayTarget;
  readonly #base: URL;
  readonly #limits: DashboardLimits;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #key = createKey();
  #keyUsedAt = Date.now();

  private constructor(target: RayTarget, limits: DashboardLimits) {
    this.#target = target;
    this.#base = new URL(target.address);
    this.#limits = limits;
    this.#server = createServer({ connectionsCheckingInterval: 5_000, headersTimeout: 10_000 }, (incoming, reply) =>
      this.#serve(incoming, reply),
    );
    this.#server.maxConnections = limits.connections;
    // This limit is longer than the limit for Ray, so that the browser gets an error page if Ray does not respond.
    this.#server.timeout = limits.idleMs + 10_000;
    this.#server.on('upgrade', (incoming, socket: Socket, head) => this.#serveUpgrade(incoming, { socket, head }));
    this.#server.on('connection', (socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  static async open(target: RayTarget, limits: Partial<DashboardLimits> = {}): Promise<DashboardProxy> {
    const proxy = new DashboardProxy(target, { ...usualLimits, ...limits });
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  /** The URL with the key. If the key has expired, the URL has a new key. Callers open the URL, but never log it. */
  get address(): string {
    if (this.#isExpired()) this.#key = createKey();
    this.#keyUsedAt = Date.now();
    return `http://127.0.0.1:${this.#port}/${this.#key}/`;
  }

  get #port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server.close(), 'close');
    for (const socket of this.#open) socket.destroy();
    await closed;
  }

  #serveUpgrade(incoming: IncomingMessage, upgrade: Upgrade): void {
    const { socket } = upgrade;
    socket.on('error', () => socket.destroy());
    // With this object, `#serve` can refuse an upgrade with an ordinary HTTP reply.
    const reply = new ServerResponse(incoming);
    reply.shouldKeepAlive = false;
    reply.assignSocket(socket);
    reply.once('finish', () => socket.end());
    if (incoming.method === 'GET') this.#serve(incoming, reply, upgrade);
    else sendPage(reply, 400, 'Only GET can open a web socket.');
  }

  #serve(incoming: IncomingMessage, reply: ServerResponse, upgrade?: Upgrade): void {
    reply.on('error', () => reply.destroy());
    const path = this.#authorize(incoming, reply);
    if (path === undefined) return;
    // Runs a step. In a callback, an exception would otherwise end this process.
    const attempt = (step: () => void): void => {
      try {
        step();
      } catch (error) {
        sendBadGateway(reply, error);
      }
    };
    attempt(() => {
      const outgoing = this.#request(path, incoming, upgrade !== undefined);
      outgoing.on('error', (error) => sendBadGateway(reply, error));
      outgoing.on('timeout', () => outgoing.destroy(new RayReplyError('it sends nothing')));
      outgoing.on('response', (response) => attempt(() => this.#answer(response, reply)));
      outgoing.on('upgrade', (response, socket, head) =>
        attempt(() => {
          socket.on('error', () => socket.destroy());
          reply.once('close', () => socket.destroy());
          if (!upgrade || response.statusCode !== 101)
            throw new RayReplyError('it switched to another protocol unexpectedly');
          this.#join(upgrade, reply, { response, socket, head });
        }),
      );
      reply.once('close', () => outgoing.destroy());
      if (upgrade) outgoing.end();
      else pipeline(incoming, outgoing, () => {});
    });
  }

  /** Returns the path to request from Ray, or answers a request that may not use the dashboard. */
  #authorize({ headers, url = '' }: IncomingMessage, reply: ServerResponse): string | undefined {
    const hosts = [`127.0.0.1:${this.#port}`, `localhost:${this.#port}`];
    // Another site can point its name to this machine (DNS rebinding).
    if (!hosts.includes(headers.host ?? '')) return sendPage(reply, 421, 'This is not the address of the dashboard.');
    if (headers.origin !== undefined && !hosts.some((host) => headers.origin === `http://${host}`))
      return sendPage(reply, 403, 'Pages of other sites may not use the dashboard.');
    const [, key = '', path = ''] = /^\/([^/?]*)(.*)$/s.exec(url) ?? [];
    if (this.#isExpired() || !isSameSecret(key, this.#key))
      return sendPage(reply, 403, 'Open the dashboard from the editor or the notebook again.');
    this.#keyUsedAt = Date.now();
    if (path.startsWith('/')) return path;
    return sendPage(reply, 307, 'The dashboard has moved.', { location: `/${key}/${path}` });
  }

  #isExpired(): boolean {
    return Date.now() - this.#keyUsedAt > this.#limits.keyIdleMs;
  }

  #request(path: string, incoming: IncomingMessage, isUpgrade: boolean): ClientRequest {
    const { socketPath, token } = this.#target;
    const { protocol, hostname, port, host, pathname, origin } = this.#base;
    const { headers } = incoming;
    const options: RequestOptions = {
      method: incoming.method,
      path: `${pathname.replace(/\/$/, '')}${path}`,
      headers: {
        // Browser headers are kept, because Ray uses them to refuse changes from browsers.
        ...withoutHeaders(headers, requestHeaders),
        host,
        // The referer would otherwise be the URL of the page, which contains the key.
        ...(headers.referer === undefined ? {} : { referer: `${origin}/` }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        // Without this header, the body of a DELETE would have no end.
        ...(headers['transfer-encoding'] === undefined || isUpgrade ? {} : { 'transfer-encoding': 'chunked' }),
        ...(isUpgrade ? { connection: 'upgrade', upgrade: headers.upgrade ?? '' } : {}),
      },
      agent: false,
      timeout: this.#limits.idleMs,
      ...(socketPath === undefined ? { hostname: hostname.replaceAll(/[[\]]/g, ''), port } : { socketPath }),
    };
    return protocol === 'https:' ? httpsRequest(options) : httpRequest(options);
  }

  #answer(response: IncomingMessage, reply: ServerResponse): void {
    const status = response.statusCode ?? 0;
    if (status < 200 || status > 599) {
      response.destroy();
      throw new RayReplyError(`its reply has the status ${status}`);
    }
    reply.writeHead(status, this.#replyHeaders(response.headers));
    pipeline(response, reply, () => {});
  }

  /** Connects a web socket of a browser with a web socket of Ray. */
  #join(
    { socket: client, head: clientHead }: Upgrade,
    reply: ServerResponse,
    ray: { readonly response: IncomingMessage; readonly socket: Socket; readonly head: Buffer },
  ): void {
    const headers = {
      ...this.#replyHeaders(ray.response.headers),
      connection: 'upgrade',
      upgrade: ray.response.headers.upgrade,
    };
    reply.writeHead(101, headers);
    reply.flushHeaders();
    // From here on, the close of one side also closes the other.
    reply.detachSocket(client);
    const sides = [
      { from: ray.socket, to: client, head: ray.head },
      { from: client, to: ray.socket, head: clientHead },
    ];
    for (const { from, to, head } of sides) {
      from.setTimeout(this.#limits.webSocketIdleMs, () => from.destroy());
      // `destroySoon` still delivers data that was received before the close.
      from.once('close', () => to.destroySoon());
      if (head.length > 0) to.write(head);
      from.pipe(to);
    }
  }

  #replyHeaders(headers: IncomingHttpHeaders) {
    const { location, ...others } = withoutHeaders(headers, replyHeaders);
    const known = location === undefined ? {} : { location: this.#localLocation(location) };
    // With this policy, browsers send the URL, which contains the key, only to this origin. Without it, they would send
    // no Origin with forms.
    return { ...others, ...known, 'referrer-policy': 'same-origin' };
  }

  /** Converts the target of a redirect from an address of Ray to an address of this proxy. */
  #localLocation(location: string): string {
    const { origin, pathname } = this.#base;
    if (/^(?![a-z][a-z\d+.-]*:|[\\/])/i.test(location)) return location;
    const url = URL.parse(location, this.#base.href);
    if (url?.origin !== origin) return location;
    const prefix = pathname.replace(/\/$/, '');
    const path = url.pathname.startsWith(`${prefix}/`) ? url.pathname.slice(prefix.length) : url.pathname;
    return `/${this.#key}${path}${url.search}${url.hash}`;
  }
}

/** Opens the dashboard of a Ray cluster to which a connection exists already. The caller disposes of the proxy. */
export const openDashboardProxy = (target: RayTarget): Promise<DashboardProxy> => DashboardProxy.open(target);

const createKey = (): string => randomBytes(24).toString('base64url');

/** Headers about one connection (RFC 9110, section 7.6.1). */
const connectionHeaders = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/**
 * Headers removed from requests: cookies, which belong to other programs on this machine, and `expect`, which Node
 * answers itself.
 */
const requestHeaders: ReadonlySet<string> = new Set([...connectionHeaders, 'cookie', 'expect']);

/** Headers removed from replies, because they would affect other ports of this machine or give other pages access. */
const replyHeaders: ReadonlySet<string> = new Set([
  ...connectionHeaders,
  'set-cookie',
  'clear-site-data',
  'alt-svc',
  'access-control-allow-origin',
  'access-control-allow-credentials',
]);

/** Removes the headers in `removed`, and the headers that the header `connection` names. */
function withoutHeaders(headers: IncomingHttpHeaders, removed: ReadonlySet<string>): IncomingHttpHeaders {
  const named = new Set(headers.connection?.toLowerCase().split(/[\s,]+/));
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !removed.has(name) && !named.has(name)));
}

/** A reply of Ray that can't be passed on. */
class RayReplyError extends Error {}

function sendBadGateway(reply: ServerResponse, error: unknown): void {
  if (reply.writableEnded) return;
  if (reply.headersSent) return void reply.destroy();
  const code =
    error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
  const reason = error instanceof RayReplyError ? error.message : code;
  sendPage(reply, 502, `Can't load the dashboard from Ray: ${reason}.`);
}

/** Sends a page of one sentence. */
function sendPage(
  reply: ServerResponse,
  status: number,
  sentence: string,
  headers: Readonly<Record<string, string>> = {},
): undefined {
  const page = `${sentence}\n`;
  reply.writeHead(status, {
    ...headers,
    'content-length': Buffer.byteLength(page),
    'content-type': 'text/plain; charset=utf-8',
    'referrer-policy': 'same-origin',
    // The body of the request is not read, and clients without the key keep no connection.
    connection: 'close',
  });
  reply.end(page);
}

/** A dashboard that is open to this machine's browsers. */
export type OpenDashboard = AsyncDisposable & {
  /** The URL with a key that expires. Callers read it each time they open the dashboard, and never log it. */
  readonly address: string;
};

/** Opens the dashboard of an existing RayCluster through the API server. @throws ClusterError as `openRayLink` */
export async function openDashboard(profile: ClusterProfile, options: OpenRayLinkOptions): Promise<OpenDashboard> {
  const link = await openRayLink(profile, options);
  try {
    const proxy = await DashboardProxy.open(link.target);
    return {
      get address() {
        return proxy.address;
      },
      [Symbol.asyncDispose]: async () => {
        await proxy[Symbol.asyncDispose]();
        await link[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    // The link is closed here, because no caller has it yet.
    await link[Symbol.asyncDispose]();
    throw error;
  }
}
