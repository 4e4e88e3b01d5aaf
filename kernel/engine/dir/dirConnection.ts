import { access, constants, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Connection } from '@lancedb/lancedb';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { checkRoot } from '#catalog/root.ts';
import { callEngine, type Subject } from '#engine/errors/engineErrors.ts';
import { checkStoreSettings, snakeCase } from '#engine/errors/storeSettings.ts';
import { loadNative } from '#engine/native.ts';
import { CatalogError } from '#shared/errors.ts';

/** The configured folder for temporary files; the engine uses the same variable. */
const named = (): string | undefined => (process.platform === 'win32' ? tmpdir() : process.env['TMPDIR'] || undefined);

/**
 * Checks the folder for temporary files. The engine writes large data to this folder and creates a folder in it for
 * each opened table. If the engine can't create that folder, it panics and prints to the terminal.
 * @throws CatalogError InvalidInput (13) if the folder is missing or not writable
 */
async function checkTemporaryFolder(path = named()): Promise<void> {
  if (path === undefined) return;
  try {
    if (!(await stat(path)).isDirectory()) throw new Error('it is a file');
    await access(path, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const why = Object(cause).code === 'ENOENT' ? 'does not exist' : 'is not writable';
    const variable = process.platform === 'win32' ? 'TEMP' : 'TMPDIR';
    throw new CatalogError(
      'InvalidInput',
      `The folder for temporary files "${path}" (variable ${variable}) ${why}.`,
      `Make it writable, or set ${variable} to a writable folder.`,
      { cause },
    );
  }
}

/** A root directory: a local path, or an address in an object store with the settings of its client. */
export type Root = {
  readonly location: string;
  readonly isLocal: boolean;
  readonly storageOptions?: Readonly<Record<string, string>> | undefined;
};

/** An engine connection and its pending calls, including those that an abort abandoned. */
type Opened = { readonly connection: Promise<Connection>; readonly running: Set<Promise<unknown>> };

/** The engine's connection to one directory. The first call opens it, so opening a catalog does not load the engine. */
export class DirConnection {
  readonly place: Root;
  #opened: Opened | undefined;
  #identity: string | undefined;
  #closed = false;

  constructor(place: Root) {
    this.place = place;
  }

  /** Runs an engine call. @throws CatalogError about `subject` */
  async call<T>(subject: Subject, options: CallOptions, call: (connection: Connection) => Promise<T>): Promise<T> {
    // The root is checked at every call, because the engine treats a root that no longer exists as an empty catalog.
    if (this.place.isLocal) this.#sameRoot(await checkRoot(this.place.location));
    return callEngine(subject, options.signal, () => {
      const opened = this.#open();
      const running = opened.connection.then(call);
      opened.running.add(running);
      const settled = () => opened.running.delete(running);
      running.then(settled, settled);
      return running;
    });
  }

  /** Drops the connection if the directory was replaced, because the connection caches files that no longer exist. */
  #sameRoot(identity: string): void {
    if (this.#identity !== undefined && this.#identity !== identity) void this.#leave();
    this.#identity = identity;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const isIdle = this.#opened?.running.size === 0;
    const left = this.#leave();
    // If no call is pending, waits until the connection is closed. Does not wait for pending calls, because a call may
    // wait for rows forever.
    if (isIdle) await left;
  }

  /** Closes the connection once it is idle, because closing it during a call would free memory that the call uses. */
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
    // A failed connection is dropped so that the next call tries again.
    opened.connection.catch(() => {
      if (this.#opened === opened) this.#opened = undefined;
    });
    return opened;
  }
}

async function connectPlace({ location, storageOptions }: Root): Promise<Connection> {
  await checkTemporaryFolder();
  checkStoreSettings(location, storageOptions);
  const { connectNamespace } = await loadNative();
  // With 0, every read checks for commits of other writers.
  const options = { readConsistencyInterval: 0 };
  if (!storageOptions) return connectNamespace('dir', { root: location }, options);
  // The engine has one client of the store for the manifest and another for the tables. Each needs the options.
  const ofList = Object.entries(storageOptions).map(([name, value]) => [`storage.${snakeCase(name)}`, value] as const);
  const connection = await connectNamespace(
    'dir',
    { root: location, extraProperties: Object.fromEntries(ofList) },
    { ...options, storageOptions: { ...storageOptions } },
  );
  // The options of the connection do not apply to opened tables: each opening has to pass them again.
  const openTable = connection.openTable.bind(connection);
  connection.openTable = (name, path, given) =>
    openTable(name, path, { storageOptions: { ...storageOptions }, ...given });
  return connection;
}

const last = new Map<string, Promise<unknown>>();

/** Runs calls with the same key one after another, even if one fails. */
export async function runExclusive<T>(key: string, call: () => Promise<T>): Promise<T> {
  const before = last.get(key);
  const turn = before === undefined ? call() : before.then(call, call);
  last.set(key, turn);
  try {
    return await turn;
  } finally {
    if (last.get(key) === turn) last.delete(key);
  }
}
