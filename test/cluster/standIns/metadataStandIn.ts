import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The identity that the metadata server reports. */
export type MetadataIdentity = { readonly email: string; readonly token: () => string };

/**
 * Stands in for the metadata server of a Google machine or node, which exists only on such machines. Returns the
 * account and its tokens to requests with the required header.
 */
export class MetadataStandIn {
  /** If `undefined`, the server responds with 404, as on a machine without a service account. */
  identity: MetadataIdentity | undefined;
  /** Whether it accepts requests but never responds. */
  hangs = false;
  /** The reported lifetime of a token. */
  seconds = 3599;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(identity?: MetadataIdentity): Promise<MetadataStandIn> {
    const server = createServer();
    const standIn = new MetadataStandIn(server);
    standIn.identity = identity;
    server.on('request', ({ url = '', headers }, response) => {
      if (standIn.hangs) return;
      response.setHeader('metadata-flavor', 'Google');
      const isAllowed = headers['metadata-flavor'] === 'Google';
      const answer = isAllowed ? standIn.#answer(url.replace(/\?.*$/, '')) : undefined;
      response.statusCode = isAllowed ? (answer === undefined ? 404 : 200) : 403;
      response.end(answer ?? 'no');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return standIn;
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await once(this.#server.close(), 'close');
  }

  #answer(path: string): string | undefined {
    const root = '/computeMetadata/v1';
    if (path === `${root}/instance` || path === `${root}/universe/universe-domain`) return 'googleapis.com';
    switch (path) {
      case `${root}/instance/service-accounts/default/email`:
        return this.identity?.email;
      case `${root}/instance/service-accounts/default/token`: {
        const token = this.identity?.token();
        return token && JSON.stringify({ access_token: token, expires_in: this.seconds, token_type: 'Bearer' });
      }
      default:
        return undefined;
    }
  }
}
