import { once } from 'node:events';
import {
  createServer,
  request as send,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

export type Received = { readonly request: IncomingMessage; readonly body: Buffer };
export type Answer = {
  readonly status: number;
  readonly type: string;
  readonly text: string;
  readonly headers?: IncomingHttpHeaders;
};

/**
 * A server on loopback in front of another server. It responds to some requests itself and forwards the others
 * unchanged.
 */
export class StandInServer {
  readonly #answer: (received: Received) => Promise<Answer | undefined>;
  readonly #behind: string | undefined;
  readonly #server = createServer((request, response) => {
    this.#take(request, response).catch((error: unknown) => {
      response.writeHead(500, { 'content-type': 'text/plain' }).end(String(error));
    });
  });

  constructor(answer: (received: Received) => Promise<Answer | undefined>, behind?: string) {
    this.#answer = answer;
    this.#behind = behind;
  }

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = Buffer.concat((await request.toArray()) as Buffer[]);
    const received = { request, body };
    const { status, type, text, headers } = (await this.#answer(received)) ?? (await this.pass(received));
    response.writeHead(status, { ...headers, 'content-type': type }).end(text);
  }

  /** Returns the response of the server behind this one. Forwards all headers, even `host`, because they are signed. */
  async pass({ request, body }: Received): Promise<Answer> {
    const { method, url, headers } = request;
    const onward = send(`${this.#behind}${url}`, { method, headers });
    onward.end(body);
    const [reply] = (await once(onward, 'response')) as [IncomingMessage];
    const text = Buffer.concat((await reply.toArray()) as Buffer[]).toString('utf8');
    const { connection: _, 'transfer-encoding': __, ...kept } = reply.headers;
    return { status: reply.statusCode ?? 500, type: kept['content-type'] ?? 'text/plain', text, headers: kept };
  }
}

/** Returns the access key with which a request claims to be signed. */
export const accessKeyOf = ({ request }: Received): string =>
  /Credential=([^/]+)\//.exec(request.headers.authorization ?? '')?.[1] ?? '';
