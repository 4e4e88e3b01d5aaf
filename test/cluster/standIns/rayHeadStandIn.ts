import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';

export type HeadAnswer = { readonly status: number; readonly body: unknown } | 'nothing';

/**
 * Stands in for the dashboard of a Ray head behind the API server's proxy, and forwards all other requests to the real
 * server. An API server connects to no loopback address, but a head in these tests has only loopback addresses.
 */
export class RayHeadStandIn {
  /** The response of the head to a request for its version. */
  answer: HeadAnswer = { status: 200, body: { version: '4', ray_version: '2.43.0' } };
  readonly #server: Server;
  readonly #agent: Agent;
  readonly #real: string;

  private constructor(
    real: { readonly address: string; readonly ca: string },
    tls: { readonly cert: string; readonly key: string },
  ) {
    this.#real = real.address;
    this.#agent = new Agent({ connect: { ca: real.ca } });
    this.#server = createServer(tls, (asked, response) => {
      this.#take(asked, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
  }

  static async start(
    real: { readonly address: string; readonly ca: string },
    tls: { readonly cert: string; readonly key: string },
  ): Promise<RayHeadStandIn> {
    const started = new RayHeadStandIn(real, tls);
    started.#server.listen(0, '127.0.0.1');
    await once(started.#server, 'listening');
    return started;
  }

  get address(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await once(this.#server.close(), 'close');
    await this.#agent.destroy();
  }

  async #take(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    if (asked.url?.endsWith('/services/geneva-cluster-head-svc%3Adashboard/proxy/api/version') === true) {
      if (this.answer === 'nothing') return;
      const { status, body } = this.answer;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
    const { authorization = '', 'content-type': type } = asked.headers;
    const reply = await request(`${this.#real}${asked.url}`, {
      dispatcher: this.#agent,
      method: asked.method as 'GET',
      headers: { authorization, ...(type && { 'content-type': type }) },
      body: asked.method === 'GET' ? null : asked,
    });
    response.writeHead(reply.statusCode, { 'content-type': 'application/json' }).end(await reply.body.text());
  }
}
