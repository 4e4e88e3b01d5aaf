import { randomBytes } from 'node:crypto';
import { type Moto, startMoto } from '../moto.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { type ServeProcess, startServe } from './serveProcess.ts';

type Started = { moto: Moto; servers: ServeProcess[]; balancer: Balancer };

/**
 * After this number of locations one of the two servers is killed. Later tests must find its writes through the other
 * server.
 */
const placesOfBoth = 40;

async function endAsMachinesDo(server: ServeProcess | undefined): Promise<void> {
  server?.kill('SIGKILL');
  await server?.exited;
}

/**
 * Two servers behind a load balancer on one root in an object store, as teams run them. The servers, balancer and store
 * end with this process.
 */
export class ServePair {
  readonly key = randomBytes(16).toString('hex');
  #started: Promise<Started> | undefined;
  #places = 0;

  /** Returns the address of an empty location in their root. */
  async place(): Promise<string> {
    const { moto, servers } = await this.#start();
    this.#places++;
    if (this.#places === placesOfBoth) await endAsMachinesDo(servers[0]);
    return `${moto.root('pair')}/${this.#places}`;
  }

  /** Returns how a client reaches a location. */
  async reach(place: string): Promise<{ uri: string; apiKey: string; databasePrefix: string }> {
    const { balancer } = await this.#start();
    return { uri: balancer.uri, apiKey: this.key, databasePrefix: place.slice(place.lastIndexOf('/') + 1) };
  }

  #start(): Promise<Started> {
    return (this.#started ??= this.#startAll());
  }

  async #startAll(): Promise<Started> {
    const moto = await startMoto('lenient');
    const options = Object.entries(moto.storageOptions).flatMap(([name, value]) =>
      name.includes('secret')
        ? ['--storage-option-env', `${name}=TEST_STORE_SECRET`]
        : ['--storage-option', `${name}=${value}`],
    );
    const env = { TEST_KEY: this.key, TEST_STORE_SECRET: moto.storageOptions['aws_secret_access_key'] ?? '' };
    const args = ['--root', moto.root('pair'), '--api-key-env', 'TEST_KEY', ...options];
    const servers = await Promise.all([startServe(args, { env }), startServe(args, { env })]);
    // Set the credentials of the store for tests that open the location without the servers.
    for (const [name, value] of Object.entries(moto.storageOptions)) process.env[name.toUpperCase()] = value;
    process.env['AWS_ALLOW_HTTP'] = 'true';
    return { moto, servers, balancer: await startBalancer(servers.map(({ address }) => address)) };
  }
}
