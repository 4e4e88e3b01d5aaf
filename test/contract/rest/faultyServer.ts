import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A request that came, with its whole body unless the answer was given before. */
export type Seen = {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
};

export type Turn = { request: IncomingMessage; response: ServerResponse; seen: Seen };

/** What is done with one request. */
export type Behavior = (turn: Turn) => void | Promise<void>;

/** Behaviors by `METHOD /path`, the path as it was sent without its query; `*` for the rest. */
export type Behaviors = Record<string, Behavior>;

/**
 * Stands for a catalog server that fails: one that breaks off, answers nonsense, asks for patience or sends elsewhere.
 * Real servers do so on bad days that can't be ordered. It knows nothing of catalogs: each test says what it answers.
 */
export class FaultyServerStandIn {
  /** What came, in the order of arrival. */
  readonly seen: Seen[] = [];
  readonly #server: Server;
  readonly #protocol: string;
  /** How many connections were made. */
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

  /** The `METHOD /path` of what came. */
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
    // A client that goes away in the middle is what some of the tests are about.
    request.on('error', () => undefined);
    await behave({ request, response, seen });
  }
}

/** Reads the body of a request to its end. */
export async function readBody({ request, seen }: Turn): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  seen.body = Buffer.concat(chunks);
  return seen.body;
}

/** Answers with JSON once the request is read. */
export const json =
  (value: unknown, status = 200, headers: Record<string, string> = {}): Behavior =>
  async (turn) => {
    await readBody(turn);
    turn.response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  };

/** Answers with whatever bytes once the request is read. */
export const bytes =
  (status: number, type: string, body: string | Uint8Array = '', headers: Record<string, string> = {}): Behavior =>
  async (turn) => {
    await readBody(turn);
    turn.response.writeHead(status, { ...(type && { 'content-type': type }), ...headers }).end(body);
  };

/** The first time this, the second time that; the last of them from then on. */
export function inTurn(...behaviors: Behavior[]): Behavior {
  let turns = 0;
  return (turn) => behaviors[Math.min(turns++, behaviors.length - 1)]!(turn);
}

/** Error body of the specification. */
export const refusal = (status: number, code: number, error: string): Behavior => json({ error, code }, status);
