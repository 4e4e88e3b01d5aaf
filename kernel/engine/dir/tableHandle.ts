import type { Table as NativeTable } from '@lancedb/lancedb';
import { CatalogError, withErrorContext, isCatalogError } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { Operation } from '#catalog/contract.ts';
import type { Root } from './dirConnection.ts';
import type { TableId } from './dirRename.ts';
import { engineError, callEngine, tableSubject, type Subject } from '#engine/errors/engineErrors.ts';

/** Which state of a table to open (default: the newest version of the main branch). */
export type Pin = { version?: number | undefined; tag?: string | undefined; branch?: string | undefined };

/** Opens a table of the engine; handles must be closed when they are no longer used. */
type OpenNative = (pin: Pin, options: CallOptions) => Promise<NativeTable>;

type Work<T> = (native: NativeTable) => Promise<T>;

/**
 * The engine's handle of a table and its running calls. Without a fixed version the handle follows other writers, even
 * if they drop and recreate the table in another directory.
 */
export class TableHandle {
  readonly place: Root;
  readonly name: string;
  readonly namespacePath: NamespacePath;
  readonly pin: Pin;
  readonly #subject: Subject;
  readonly #open: OpenNative;
  #native: NativeTable;
  /** Pending calls on the handle, including those that an abort abandoned. */
  readonly #running = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(native: NativeTable, place: Root, { name, path }: TableId, pin: Pin, open: OpenNative) {
    this.#native = native;
    this.place = place;
    this.name = name;
    this.namespacePath = path;
    this.pin = pin;
    this.#open = open;
    this.#subject = tableSubject(name, path, pin.version);
  }

  /** Runs a read-only call. `filter` is the user's filter, for errors. */
  read<T>(operation: Operation, options: CallOptions, work: Work<T>, filter?: string): Promise<T> {
    return this.during(operation, () => this.#follow(options, work, filter));
  }

  /**
   * Runs a call that creates a version. The call may run twice: if the table was dropped and recreated, the handle
   * opens the new table and repeats the call. What the first run had added was dropped with the old table.
   * @throws CatalogError InvalidInput (13) if the table was opened at a version
   */
  write<T>(operation: Operation, options: CallOptions, work: Work<T>, filter?: string): Promise<T> {
    return this.during(operation, async () => {
      this.checkWritable();
      return this.#follow(options, work, filter);
    });
  }

  /** Runs a call on a separate handle, opened at `pin` and closed afterwards. */
  async apart<T>(operation: Operation, pin: Pin, options: CallOptions, work: Work<T>): Promise<T> {
    return this.during(operation, async () => {
      const native = await this.#open({ ...this.pin, ...pin }, options);
      try {
        return await callEngine(tableSubject(this.name, this.namespacePath, pin.version), options.signal, () =>
          work(native),
        );
      } finally {
        native.close();
      }
    });
  }

  /** @throws CatalogError InvalidInput (13) if the table was opened at a version */
  checkWritable(): void {
    const { version, tag } = this.pin;
    if (version === undefined && tag === undefined) return;
    throw new CatalogError(
      'InvalidInput',
      `Can't change table "${this.#subject.name}": it was opened at ${tag === undefined ? `version ${version}` : `the tag "${tag}"`}.`,
      'Open it without a version to change it.',
    );
  }

  /**
   * Closes the engine's handle once it is idle, because closing it during a call would free memory that the call uses.
   */
  close(): void {
    this.#isClosed = true;
    void this.#closeIdle();
  }

  /** Runs a call; errors name the operation and the table. */
  during<T>(operation: Operation, call: () => Promise<T>): Promise<T> {
    return withErrorContext({ operation, identifier: displayPath(this.namespacePath, this.name) }, call);
  }

  async #follow<T>(options: CallOptions, work: Work<T>, filter?: string): Promise<T> {
    const native = this.#native;
    try {
      return await this.#call(native, options, work, filter);
    } catch (error) {
      // The directory no longer exists, so the table was dropped, and perhaps recreated in another directory. The call
      // is repeated on the new table.
      if (!isCatalogError(error, 'TableNotFound') || this.pin.version !== undefined || this.#isClosed) throw error;
      await this.#reopen(native, options);
      return this.#call(this.#native, options, work, filter);
    }
  }

  async #reopen(gone: NativeTable, options: CallOptions): Promise<void> {
    // While this call failed, another call may have reopened the table.
    if (this.#native !== gone) return;
    const opened = await this.#open(this.pin, options);
    if (this.#native !== gone || this.#isClosed) {
      opened.close();
      return;
    }
    this.#native = opened;
    // The old handle is closed after its running calls; no further call starts on it.
    void Promise.allSettled(this.#running).then(() => gone.close());
  }

  #call<T>(native: NativeTable, options: CallOptions, work: Work<T>, filter?: string): Promise<T> {
    return callEngine(this.#subject, options.signal, () => {
      const running = this.#explained(native, work, filter);
      this.#running.add(running);
      const settled = () => this.#running.delete(running);
      running.then(settled, settled);
      return running;
    });
  }

  /**
   * Adds the columns and the filter to the error of a failed query, because the engine's message may leave them out.
   */
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
    // Waits in a loop, because more calls may have started meanwhile.
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
    this.#native.close();
  }
}
