import { once } from 'node:events';
import {
  createServer as createHttp,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttps } from 'node:https';
import type { AddressInfo } from 'node:net';

/** A received request. Its body is a string. */
export type Came = { readonly method: string; readonly path: string; readonly headers: string; readonly body: string };

type Answer = { readonly status: number; readonly type?: string; readonly text: string };

export type EchoOptions = {
  /** Returns an error response that contains a text. */
  readonly error: (text: string, came: Came) => Answer;
  /**
   * Returns the regular response to a request, so that the client sends further secrets. If it returns `undefined`, the
   * server responds with an error.
   */
  readonly succeed?: (came: Came) => Answer | undefined;
  /** Certificate and key for TLS, as PEM. */
  readonly tls?: { readonly cert: string; readonly key: string };
};

/**
 * Stands in for a server or a proxy whose errors quote the whole request with its credentials. Real servers do this
 * only in debug modes, which a test can't turn on.
 */
export class EchoStandIn {
  readonly #server: Server;
  readonly #scheme: string;
  /** Number of errors sent. */
  quoted = 0;

  private constructor(server: Server, scheme: string) {
    this.#server = server;
    this.#scheme = scheme;
  }

  static async start({ error, succeed, tls }: EchoOptions): Promise<EchoStandIn> {
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const came = await read(request);
      const success = succeed?.(came);
      if (!success) standIn.quoted++;
      const said = `Not done: ${came.method} ${came.path} ${came.headers} ${came.body}`;
      const { status, type = 'application/json', text } = success ?? error(said, came);
      response.writeHead(status, { 'content-type': type }).end(text);
    };
    const serve: RequestListener = (request, response) => void answer(request, response);
    const server = tls ? createHttps(tls, serve) : createHttp(serve);
    const standIn = new EchoStandIn(server, tls ? 'https' : 'http');
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return standIn;
  }

  get address(): string {
    return `${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await once(this.#server.close(), 'close');
  }
}

async function read(request: IncomingMessage): Promise<Came> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const headers = Object.entries(request.headersDistinct).map(([name, values]) => `${name}: ${values?.join(', ')}`);
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: headers.join('; '),
    body: Buffer.concat(parts).toString(),
  };
}
