import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A received request, with its whole body unless the response was sent earlier. */
export type Seen = {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
};

export type Turn = { request: IncomingMessage; response: ServerResponse; seen: Seen };

/** Handles one request. */
export type Behavior = (turn: Turn) => void | Promise<void>;

/** Behaviors by `METHOD /path`, the path without its query; `*` for all other requests. */
export type Behaviors = Record<string, Behavior>;

/**
 * Stands in for a faulty catalog server: one that closes connections, sends invalid responses, asks the client to wait,
 * or redirects. Real servers do this only on occasion. It knows nothing about catalogs: each test defines its
 * responses.
 */
export class FaultyServerStandIn {
  /** The received requests, in order. */
  readonly seen: Seen[] = [];
  readonly #server: Server;
  readonly #protocol: string;
  /** Number of connections. */
  connections = 0;

  private constructor(server: Server, protocol: string) {
    this.#server = server;
    this.#protocol = protocol;
  }

  static async start(behaviors: Behaviors, tls?: { key: string; cert: string }): Promise<FaultyServerStandIn> {
    const answer = (request: IncomingMessage, response: ServerResponse): void => {
      void stand.#answer(behaviors, request, response);
    };
    const server = tls ? createHttps(tls, answer) : createHttp(answer);
    const stand = new FaultyServerStandIn(server, tls ? 'https' : 'http');
    server.on('connection', () => (stand.connections += 1));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return stand;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get uri(): string {
    return `${this.#protocol}://127.0.0.1:${this.port}`;
  }

  /** The `METHOD /path` of each received request. */
  get calls(): string[] {
    return this.seen.map(({ method, path }) => `${method} ${path}`);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #answer(behaviors: Behaviors, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '', headers } = request;
    const seen: Seen = { method, path: url, headers, body: Buffer.alloc(0) };
    this.seen.push(seen);
    const behave = behaviors[`${method} ${url.split('?')[0]}`] ?? behaviors['*'];
    if (!behave) {
      response.writeHead(404).end();
      return;
    }
    // Some of the tests abort requests on purpose.
    request.on('error', () => undefined);
    await behave({ request, response, seen });
  }
}

/** Reads the whole body of a request. */
export async function readBody({ request, seen }: Turn): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  seen.body = Buffer.concat(chunks);
  return seen.body;
}

/** Responds with JSON after the request is read. */
export const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Behavior =>
  async (turn) => {
    await readBody(turn);
    turn.response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  };

/** Responds with any bytes after the request is read. */
export const bytes =
  (status: number, type: string, body: string | Uint8Array = '', headers: Record<string, string> = {}): Behavior =>
  async (turn) => {
    await readBody(turn);
    turn.response.writeHead(status, { ...(type && { 'content-type': type }), ...headers }).end(body);
  };

/** Returns a behavior that uses these in order, one per request, and then repeats the last one. */
export function inTurn(...behaviors: Behavior[]): Behavior {
  let turns = 0;
  return (turn) => behaviors[Math.min(turns++, behaviors.length - 1)]!(turn);
}

/** Responds with an error in the format of the specification. */
export const refusal = (status: number, code: number, error: string): Behavior => json({ error, code }, status);
