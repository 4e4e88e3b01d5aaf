import type { RestConfig } from '#catalog/connect.ts';
import { transportOptionsOf } from '#catalog/rest/config.ts';
import { openRest, type RestCatalog } from '#catalog/rest/restCatalog.ts';
import { Transport } from '#catalog/transport/transport.ts';
import { type Behaviors, FaultyServerStandIn } from './faultyServer.ts';

/** Servers and connections of a test, closed at its end. */
export class Connecting {
  readonly #ends: (() => Promise<void>)[] = [];

  async serve(behaviors: Behaviors, tls?: { key: string; cert: string }): Promise<FaultyServerStandIn> {
    const server = await FaultyServerStandIn.start(behaviors, tls);
    this.#ends.push(() => server.stop());
    return server;
  }

  /** Opens a connection with this configuration. It sends each request once unless the configuration sets retries. */
  open(config: RestConfig): Transport {
    const transport = new Transport(transportOptionsOf({ retries: 0, ...config }));
    this.#ends.push(() => transport.close());
    return transport;
  }

  /** Opens a connection with its catalog. */
  async catalog(config: RestConfig): Promise<RestCatalog> {
    const catalog = await openRest({ retries: 0, ...config });
    this.#ends.push(() => catalog.close());
    return catalog;
  }

  atEnd(end: () => Promise<void>): void {
    this.#ends.push(end);
  }

  /** Ends in reverse order: clients before their servers. */
  async end(): Promise<void> {
    for (const end of this.#ends.splice(0).toReversed()) await end();
  }
}
