import { access, constants, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { Connection } from '@lancedb/lancedb';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { checkRoot } from '#catalog/root.ts';
import { guarded, type Subject } from '#engine/errors/engineErrors.ts';
import { loadNative } from '#engine/native.ts';
import { CatalogError } from '#shared/errors.ts';

/** The folder for temporary files where somebody has said which; the engine looks for it by the same name. */
const named = (): string | undefined => (process.platform === 'win32' ? tmpdir() : process.env['TMPDIR'] || undefined);

/**
 * Looks whether there is a folder for temporary files. The engine keeps what does not fit into memory there, makes a folder in
 * it for every table that is opened, and panics where it can't, on the screen of whoever asked.
 * @throws CatalogError InvalidInput (13) where it is missing or can't be written to
 */
async function checkTemporary(path = named()): Promise<void> {
  if (path === undefined) return;
  try {
    if (!(await stat(path)).isDirectory()) throw new Error('it is a file');
    await access(path, constants.W_OK | constants.X_OK);
  } catch (cause) {
    const why = Object(cause).code === 'ENOENT' ? 'is not there' : "can't be written to";
    const variable = process.platform === 'win32' ? 'TEMP' : 'TMPDIR';
    throw new CatalogError(
      'InvalidInput',
      `The folder for temporary files "${path}", which the variable ${variable} names, ${why}.`,
      `Make it, or let ${variable} name one that can be written to.`,
      { cause },
    );
  }
}

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

const last = new Map<string, Promise<unknown>>();

/** Runs a call after those before it that have the same key, whatever came of them. */
export async function inTurn<T>(key: string, call: () => Promise<T>): Promise<T> {
  const before = last.get(key);
  const turn = before === undefined ? call() : before.then(call, call);
  last.set(key, turn);
  try {
    return await turn;
  } finally {
    if (last.get(key) === turn) last.delete(key);
  }
}
