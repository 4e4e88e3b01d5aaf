import type { Connection } from '@lancedb/lancedb';
import { CatalogError } from '#shared/errors.ts';
import type { CallOptions } from '#client/callOptions.ts';
import { checkRoot } from '#client/root.ts';
import { guarded, type Subject } from './engineErrors.ts';
import { loadNative } from './native.ts';

/** A root directory: a path of this machine, or an address in an object store with the settings of its client. */
export type Place = {
  readonly location: string;
  readonly isLocal: boolean;
  readonly storageOptions?: Readonly<Record<string, string>> | undefined;
};

/** The engine's connection to one directory, made at the first call: opening a catalog loads nothing yet. */
export class DirConnection {
  readonly place: Place;
  #connection: Promise<Connection> | undefined;
  #identity: string | undefined;
  #closed = false;

  constructor(place: Place) {
    this.place = place;
  }

  /** Runs a call of the engine. @throws CatalogError about `subject` */
  async call<T>(subject: Subject, options: CallOptions, call: (connection: Connection) => Promise<T>): Promise<T> {
    // Asked every time: the engine shows a root that went away as an empty catalog.
    if (this.place.isLocal) this.#sameRoot(await checkRoot(this.place.location));
    return guarded(subject, options.signal, async () => call(await this.#connect()));
  }

  /** A directory that was replaced by another needs a new connection: the old one remembers files that are gone. */
  #sameRoot(identity: string): void {
    if (this.#identity !== undefined && this.#identity !== identity) this.#connection = undefined;
    this.#identity = identity;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const connection = await this.#connection?.catch(() => undefined);
    connection?.close();
  }

  #connect(): Promise<Connection> {
    if (this.#closed) {
      throw new CatalogError('InvalidInput', `The catalog "${this.place.location}" was closed.`, 'Connect again.');
    }
    this.#connection ??= connectPlace(this.place).catch((error: unknown) => {
      // A failure is not kept: the next call tries again.
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }
}

async function connectPlace({ location, storageOptions }: Place): Promise<Connection> {
  const { connectNamespace } = await loadNative();
  // 0: every read looks for what other writers committed.
  const options = { readConsistencyInterval: 0 };
  if (!storageOptions) return connectNamespace('dir', { root: location }, options);
  // The list of tables and the tables are read by two clients of the store, and each is told apart.
  const ofList = Object.entries(storageOptions).map(([name, value]) => [`storage.${snakeCase(name)}`, value] as const);
  const connection = await connectNamespace(
    'dir',
    { root: location, extraProperties: Object.fromEntries(ofList) },
    { ...options, storageOptions: { ...storageOptions } },
  );
  // Those of the connection do not reach a table that is opened: each opening has to say them again.
  const openTable = connection.openTable.bind(connection);
  connection.openTable = (name, path, given) =>
    openTable(name, path, { storageOptions: { ...storageOptions }, ...given });
  return connection;
}

/** The engine takes `awsRegion` for `aws_region` in the options of tables, and in those of the list it does not. */
const snakeCase = (name: string): string =>
  name.includes('_') || name === name.toUpperCase() ? name : name.replaceAll(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);
