import type { Connection } from '@lancedb/lancedb';
import { CatalogError } from '#shared/errors.ts';
import type { CallOptions } from '#client/callOptions.ts';
import { checkRoot } from '#client/root.ts';
import { guarded, type Subject } from './engineErrors.ts';
import { loadNative } from './native.ts';

/** The engine's connection to one directory, made at the first call: opening a catalog loads nothing yet. */
export class DirConnection {
  readonly #location: string;
  readonly #isLocal: boolean;
  readonly #storageOptions: Record<string, string> | undefined;
  #connection: Promise<Connection> | undefined;
  #identity: string | undefined;
  #closed = false;

  constructor(location: string, isLocal: boolean, storageOptions?: Record<string, string>) {
    this.#location = location;
    this.#isLocal = isLocal;
    this.#storageOptions = storageOptions;
  }

  /** Runs a call of the engine. @throws CatalogError about `subject` */
  async call<T>(subject: Subject, options: CallOptions, call: (connection: Connection) => Promise<T>): Promise<T> {
    // Asked every time: the engine shows a root that went away as an empty catalog.
    if (this.#isLocal) this.#sameRoot(await checkRoot(this.#location));
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
      throw new CatalogError('InvalidInput', `The catalog "${this.#location}" was closed.`, 'Connect again.');
    }
    this.#connection ??= this.#open().catch((error: unknown) => {
      // A failure is not kept: the next call tries again.
      this.#connection = undefined;
      throw error;
    });
    return this.#connection;
  }

  async #open(): Promise<Connection> {
    const { connectNamespace } = await loadNative();
    return connectNamespace(
      'dir',
      { root: this.#location },
      // 0: every read looks for what other writers committed.
      { readConsistencyInterval: 0, ...(this.#storageOptions && { storageOptions: this.#storageOptions }) },
    );
  }
}
