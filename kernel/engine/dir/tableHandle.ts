import type { Table as NativeTable } from '@lancedb/lancedb';
import { CatalogError, during, isCatalogError } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { Operation } from '#catalog/contract.ts';
import type { Place } from './dirConnection.ts';
import type { Named } from './dirRename.ts';
import { engineError, guarded, tableSubject, type Subject } from '#engine/errors/engineErrors.ts';

/** What of a table is opened; nothing of it is its main line as it is now. */
export type Pin = { version?: number | undefined; tag?: string | undefined; branch?: string | undefined };

/** Opens a table of the engine; a handle that nobody uses any more has to be closed. */
type OpenNative = (pin: Pin, options: CallOptions) => Promise<NativeTable>;

type Work<T> = (native: NativeTable) => Promise<T>;

/**
 * The engine's handle of a table and the calls that run on it. A handle that does not stay at a version follows other
 * writers, also when they drop the table and make it again, which puts it into another directory.
 */
export class TableHandle {
  readonly place: Place;
  readonly name: string;
  readonly namespacePath: NamespacePath;
  readonly pin: Pin;
  readonly #subject: Subject;
  readonly #open: OpenNative;
  #native: NativeTable;
  /** Calls of the handle that have not come back, also those that an abort has left behind. */
  readonly #running = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(native: NativeTable, place: Place, { name, path }: Named, pin: Pin, open: OpenNative) {
    this.#native = native;
    this.place = place;
    this.name = name;
    this.namespacePath = path;
    this.pin = pin;
    this.#open = open;
    this.#subject = tableSubject(name, path, pin.version);
  }

  /** Runs a call that changes nothing. `filter` is what a person wrote, for errors. */
  read<T>(operation: Operation, options: CallOptions, work: Work<T>, filter?: string): Promise<T> {
    return this.during(operation, () => this.#follow(options, work, filter));
  }

  /**
   * Runs a call that makes a new version. It may run twice: a table that was dropped and made again is opened anew, and
   * what the first run had added, in parts too, went with the old one.
   * @throws CatalogError InvalidInput (13) where the table was opened at a version
   */
  write<T>(operation: Operation, options: CallOptions, work: Work<T>, filter?: string): Promise<T> {
    return this.during(operation, async () => {
      this.checkWritable();
      return this.#follow(options, work, filter);
    });
  }

  /** Runs a call on a handle of its own, opened at `pin`, that is closed again. */
  async apart<T>(operation: Operation, pin: Pin, options: CallOptions, work: Work<T>): Promise<T> {
    return this.during(operation, async () => {
      const native = await this.#open({ ...this.pin, ...pin }, options);
      try {
        return await guarded(tableSubject(this.name, this.namespacePath, pin.version), options.signal, () =>
          work(native),
        );
      } finally {
        native.close();
      }
    });
  }

  /** @throws CatalogError InvalidInput (13) where the table was opened at a version */
  checkWritable(): void {
    const { version, tag } = this.pin;
    if (version === undefined && tag === undefined) return;
    throw new CatalogError(
      'InvalidInput',
      `Table "${this.#subject.name}" was opened at ${tag === undefined ? `version ${version}` : `the tag "${tag}"`} and can't be changed there.`,
      'Open it without a version to write.',
    );
  }

  /** Lets go of the engine's handle once it is idle: one that is closed under a call takes its memory away from it. */
  close(): void {
    this.#isClosed = true;
    void this.#closeIdle();
  }

  /** Runs whatever belongs to an operation; what fails says so. */
  during<T>(operation: Operation, call: () => Promise<T>): Promise<T> {
    return during({ operation, identifier: displayPath(this.namespacePath, this.name) }, call);
  }

  async #follow<T>(options: CallOptions, work: Work<T>, filter?: string): Promise<T> {
    const native = this.#native;
    try {
      return await this.#call(native, options, work, filter);
    } catch (error) {
      // Its directory is gone: dropped, and perhaps made again elsewhere. What was done there went with it, so it is done here.
      if (!isCatalogError(error, 'TableNotFound') || this.pin.version !== undefined || this.#isClosed) throw error;
      await this.#reopen(native, options);
      return this.#call(this.#native, options, work, filter);
    }
  }

  async #reopen(gone: NativeTable, options: CallOptions): Promise<void> {
    // Another call may have done it while this one failed.
    if (this.#native !== gone) return;
    const opened = await this.#open(this.pin, options);
    if (this.#native !== gone || this.#isClosed) {
      opened.close();
      return;
    }
    this.#native = opened;
    // No call begins on it any more.
    void Promise.allSettled(this.#running).then(() => gone.close());
  }

  #call<T>(native: NativeTable, options: CallOptions, work: Work<T>, filter?: string): Promise<T> {
    return guarded(this.#subject, options.signal, () => {
      const running = this.#explained(native, work, filter);
      this.#running.add(running);
      const settled = () => this.#running.delete(running);
      running.then(settled, settled);
      return running;
    });
  }

  /** What is wrong with a query is told with what the table has instead, which the engine's text may leave out. */
  async #explained<T>(native: NativeTable, work: Work<T>, filter: string | undefined): Promise<T> {
    try {
      return await work(native);
    } catch (error) {
      const told = engineError(error, this.#subject);
      if (!isCatalogError(told, 'ColumnNotFound') && !isCatalogError(told, 'InvalidInput')) throw told;
      const schema = await native.schema().catch(() => undefined);
      throw engineError(error, { ...this.#subject, fields: schema?.fields, filter });
    }
  }

  async #closeIdle(): Promise<void> {
    // Others may have begun a call while those before it came back.
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    this.#native.close();
  }
}
