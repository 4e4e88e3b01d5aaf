import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';

/**
 * Stands in for an API server with a wrong clock, because a test can't change the clock of a shared machine. Forwards
 * requests to a real API server, and changes the time in the responses.
 */
export class OtherClockStandIn {
  readonly #server: Server;
  readonly #agent: Agent;

  private constructor(server: Server, agent: Agent) {
    this.#server = server;
    this.#agent = agent;
  }

  /** @param ahead the milliseconds by which the clock of the stand-in is ahead */
  static async start(
    real: { readonly address: string; readonly ca: string },
    tls: { readonly cert: string; readonly key: string },
    ahead: number,
  ): Promise<OtherClockStandIn> {
    const agent = new Agent({ connect: { ca: real.ca } });
    const pass = async (asked: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { authorization = '', 'content-type': type } = asked.headers;
      const reply = await request(`${real.address}${asked.url}`, {
        dispatcher: agent,
        method: asked.method as 'GET',
        headers: { authorization, ...(type && { 'content-type': type }) },
        body: asked.method === 'GET' ? null : asked,
      });
      const date = new Date(Date.now() + ahead).toUTCString();
      response.writeHead(reply.statusCode, { 'content-type': 'application/json', date }).end(await reply.body.text());
    };
    const server = createServer(tls, (asked, response) => void pass(asked, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new OtherClockStandIn(server, agent);
  }

  get address(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await once(this.#server.close(), 'close');
    await this.#agent.destroy();
  }
}
