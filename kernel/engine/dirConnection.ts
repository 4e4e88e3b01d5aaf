import type { Connection } from '@lancedb/lancedb';
import { CatalogError } from '#shared/errors.ts';
import type { CallOptions } from '#client/callOptions.ts';
import { checkRoot } from '#client/root.ts';
import { checkTemporary } from './temporary.ts';
import { guarded, type Subject } from './engineErrors.ts';
import { loadNative } from './native.ts';

/** A root directory: a path of this machine, or an address in an object store with the settings of its client. */
export type Place = {
  readonly location: string;
  readonly isLocal: boolean;
  readonly storageOptions?: Readonly<Record<string, string>> | undefined;
};

/** A connection of the engine, and the calls on it that have not come back, also those that an abort has left behind. */
type Opened = { readonly connection: Promise<Connection>; readonly running: Set<Promise<unknown>> };

/** The engine's connection to one directory, made at the first call: opening a catalog loads nothing yet. */
export class DirConnection {
  readonly place: Place;
  #opened: Opened | undefined;
  #identity: string | undefined;
  #closed = false;

  constructor(place: Place) {
    this.place = place;
  }

  /** Runs a call of the engine. @throws CatalogError about `subject` */
  async call<T>(subject: Subject, options: CallOptions, call: (connection: Connection) => Promise<T>): Promise<T> {
    // Asked every time: the engine shows a root that went away as an empty catalog.
    if (this.place.isLocal) this.#sameRoot(await checkRoot(this.place.location));
    return guarded(subject, options.signal, () => {
      const opened = this.#open();
      const running = opened.connection.then(call);
      opened.running.add(running);
      const settled = () => opened.running.delete(running);
      running.then(settled, settled);
      return running;
    });
  }

  /** A directory that was replaced by another needs a new connection: the old one remembers files that are gone. */
  #sameRoot(identity: string): void {
    if (this.#identity !== undefined && this.#identity !== identity) void this.#leave();
    this.#identity = identity;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const isIdle = this.#opened?.running.size === 0;
    const left = this.#leave();
    // A call may wait for rows that never come.
    if (isIdle) await left;
  }

  /** Lets go of the connection once it is idle: one that is closed under a call takes its memory away from it. */
  async #leave(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    if (!opened) return;
    await Promise.allSettled(opened.running);
    (await opened.connection.catch(() => undefined))?.close();
  }

  #open(): Opened {
    if (this.#closed) {
      throw new CatalogError('InvalidInput', `The catalog "${this.place.location}" was closed.`, 'Connect again.');
    }
    if (this.#opened) return this.#opened;
    const opened: Opened = { connection: connectPlace(this.place), running: new Set() };
    this.#opened = opened;
    // A failure is not kept: the next call tries again, unless another connection has taken its place.
    opened.connection.catch(() => {
      if (this.#opened === opened) this.#opened = undefined;
    });
    return opened;
  }
}

async function connectPlace({ location, storageOptions }: Place): Promise<Connection> {
  await checkTemporary();
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
