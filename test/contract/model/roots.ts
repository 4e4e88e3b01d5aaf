import { connectNamespace as connectUpstream } from '@lancedb/lancedb';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import type { EngineProcess } from '#catalog/engineProcess.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { type Moto, startMoto } from '../moto.ts';
import { startServing } from '../serve/serving.ts';
import { startEngine } from '../subjects.ts';
import { readUpstreamTree, type Tree } from './trees.ts';
import { UpstreamReader } from './upstreamReader.ts';

/** A new root, and the catalog that opens it. */
export type Root = {
  readonly db: Catalog;
  /** Reads the root with upstream's own clients: that of Node.js, and that of Python in a separate process. */
  readUpstream(): Promise<Tree>;
  readPython(): Promise<Tree>;
  /** Kills the working process with SIGKILL and does not wait for its end; undefined if it can't be killed. */
  kill?: (() => void) | undefined;
  /** Starts another process after a kill; `db` is then another catalog. */
  restart?: (() => Promise<void>) | undefined;
  close(): Promise<void>;
};

export type SubjectName = 'dir' | 'serve' | 'store' | 'dir, killed' | 'store, killed';

type Location = { root: string; storageOptions?: Record<string, string> };

/**
 * Creates roots for the tests with the catalog model, and starts what they need: object stores and upstream's clients.
 */
export class Roots {
  readonly #stores: Moto[];
  readonly #reader: UpstreamReader;
  #count = 0;

  private constructor(stores: Moto[]) {
    this.#stores = stores;
    this.#reader = new UpstreamReader();
  }

  /** @param storeCount processes of the object store; each handles one request at a time */
  static async start(storeCount: number): Promise<Roots> {
    registerRest();
    return new Roots(await Promise.all(Array.from({ length: storeCount }, () => startMoto('lenient'))));
  }

  async stop(): Promise<void> {
    await Promise.all([this.#reader.stop(), ...this.#stores.map((store) => store.stop())]);
  }

  /** Opens a new, empty root. */
  async open(subject: SubjectName): Promise<Root> {
    const location = this.#newLocation(isStore(subject));
    const working = await this.#startWork(subject, location);
    return {
      get db() {
        return working.db;
      },
      kill: working.kill,
      restart: working.restart,
      readUpstream: () => readUpstream(location),
      readPython: () => this.#reader.read(location),
      close: () => working.close(),
    };
  }

  #newLocation(inStore: boolean): Location {
    if (!inStore) return { root: tempFolder() };
    const number = this.#count++;
    const store = this.#stores[number % this.#stores.length]!;
    return { root: store.root(`model-${number}`), storageOptions: { ...store.storageOptions } };
  }

  async #startWork(subject: SubjectName, location: Location): Promise<Pick<Root, 'db' | 'kill' | 'restart' | 'close'>> {
    if (subject === 'dir' || subject === 'store') {
      const db = await openDir(location);
      return { db, close: () => db.close() };
    }
    if (subject === 'serve') {
      const server = await startServing(location.root);
      const db = await connectNamespace('rest', { uri: server.uri, apiKey: server.key });
      return { db, close: async () => void (await Promise.all([db.close(), server.close()])) };
    }
    return new KillableWork(location, await startEngine());
  }
}

export const isStore = (subject: SubjectName): boolean => subject.startsWith('store');

/** A catalog with an engine process, as in VS Code. */
class KillableWork {
  readonly #location: Location;
  #engine: EngineProcess;
  db: Catalog;

  constructor(location: Location, engine: EngineProcess) {
    this.#location = location;
    this.#engine = engine;
    this.db = this.#catalog();
  }

  readonly kill = (): void => void process.kill(this.#engine.handshake.pid, 'SIGKILL');

  readonly restart = async (): Promise<void> => {
    await this.#engine.dispose();
    this.#engine = await startEngine();
    this.db = this.#catalog();
  };

  async close(): Promise<void> {
    await this.db.close();
    await this.#engine.dispose();
  }

  #catalog(): Catalog {
    const { root, storageOptions } = this.#location;
    return this.#engine.catalog(root, { storageOptions });
  }
}

async function readUpstream({ root, storageOptions }: Location): Promise<Tree> {
  const properties = Object.entries(storageOptions ?? {}).map(([name, value]) => [`storage.${name}`, value] as const);
  const connection = await connectUpstream(
    'dir',
    { root, extraProperties: Object.fromEntries(properties) },
    storageOptions ? { storageOptions } : {},
  );
  try {
    return await readUpstreamTree(connection, storageOptions);
  } finally {
    connection.close();
  }
}
