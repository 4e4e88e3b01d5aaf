import type { Table as NativeTable } from '@lancedb/lancedb';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { displayPath, type NamespacePath } from '#shared/names.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { Operation } from '#catalog/contract.ts';
import { closedTable } from '#catalog/lancedb/lanceDbTable.ts';
import type { Root } from './dirConnection.ts';
import type { TableId } from './dirRename.ts';
import type { RowWidths } from '#engine/batches/rowWidths.ts';
import type { LeasedTable, Pin, VersionFacts } from './sharedTables.ts';
import { engineError, callEngine, tableSubject, type Subject } from '#engine/errors/engineErrors.ts';

/**
 * Opens a table of the engine, for this caller alone or shared. The caller releases the table when it no longer uses
 * it.
 */
type OpenNative = (pin: Pin, how: 'own' | 'shared', options: CallOptions) => Promise<LeasedTable>;

/** Kinds of errors that a call may get because files of the version that it reads no longer exist. */
const lackingFiles: ReadonlySet<string> = new Set(['VersionNotFound', 'InvalidTableState', 'Internal']);

type Work<T> = (native: NativeTable) => Promise<T>;

/**
 * A table of the engine and its running calls. Without a fixed version it follows other writers, even if they drop and
 * recreate the table in another directory. Readers share a table; the first change opens a separate one.
 */
export class TableHandle {
  readonly place: Root;
  readonly name: string;
  readonly namespacePath: NamespacePath;
  readonly pin: Pin;
  readonly #subject: Subject;
  readonly #open: OpenNative;
  #leased: LeasedTable;
  /** Pending calls on the handle, including those that an abort abandoned. */
  readonly #running = new Set<Promise<unknown>>();
  #isClosed = false;
  #isReleased = false;
  /** Number of streams and calls that still need the handle. */
  #holds = 0;
  #isRetired = false;

  constructor(
    leased: LeasedTable,
    {
      place,
      table: { name, path },
      pin,
      open,
    }: {
      readonly place: Root;
      readonly table: TableId;
      readonly pin: Pin;
      readonly open: OpenNative;
    },
  ) {
    this.#leased = leased;
    this.place = place;
    this.name = name;
    this.namespacePath = path;
    this.pin = pin;
    this.#open = open;
    this.#subject = tableSubject(name, path, pin.version);
  }

  /** The full path of the table's files, if the engine reports it. */
  get folder(): string | undefined {
    return this.#leased.folder;
  }

  get widths(): RowWidths {
    return this.#leased.widths;
  }

  /** The branch that is read, `undefined` for the main branch. */
  get branch(): string | undefined {
    return this.#leased.native.currentBranch() ?? undefined;
  }

  /** Opens the same table at another version or branch. @throws CatalogError VersionNotFound (11), TagNotFound (8) */
  at(pin: Pin, options: CallOptions): Promise<TableHandle> {
    return this.during('DescribeTable', async () => {
      if (this.#isClosed) throw closedTable(this.#subject.name);
      const { place, name, namespacePath: path } = this;
      const leased = await this.#open(pin, 'shared', options);
      return new TableHandle(leased, { place, table: { name, path }, pin, open: this.#open });
    });
  }

  /** The facts that were read last, of any version. */
  get facts(): VersionFacts | undefined {
    return this.#leased.facts;
  }

  set facts(facts: VersionFacts | undefined) {
    this.#leased.facts = facts;
  }

  /**
   * Runs a read-only call. If files of the table were removed meanwhile, the handle opens the table again and repeats
   * the call. `filter` is the user's filter, for errors.
   */
  read<T>(operation: Operation, options: CallOptions, work: Work<T>, filter?: string): Promise<T> {
    return this.during(operation, () => this.#follow(options, work, filter));
  }

  /**
   * Runs the next step of a call that `read` has started, such as reading the next batch. It runs only once, because a
   * step that fails can't be repeated on another table.
   */
  step<T>(operation: Operation, options: CallOptions, work: Work<T>, filter?: string): Promise<T> {
    return this.during(operation, () => this.#call(this.#leased, options, work, filter));
  }

  /**
   * Runs a call that creates a version. The call may run twice: if the table was dropped and recreated, the handle
   * opens the new table and repeats the call. What the first run had added was dropped with the old table.
   * @throws CatalogError InvalidInput (13) if the table was opened at a version
   */
  write<T>(operation: Operation, options: CallOptions, work: Work<T>, filter?: string): Promise<T> {
    return this.during(operation, async () => {
      this.checkWritable();
      const leased = this.#leased;
      if (!leased.claim()) await this.#reopen(leased, 'own', options);
      return this.#follow(options, work, filter);
    });
  }

  /** Runs a call on a separate handle, opened at `pin` and closed afterwards. */
  async apart<T>(operation: Operation, pin: Pin, options: CallOptions, work: Work<T>): Promise<T> {
    return this.during(operation, async () => {
      const leased = await this.#open({ ...this.pin, ...pin }, 'own', options);
      let running: Promise<unknown> = Promise.resolve();
      try {
        return await callEngine(tableSubject(this.name, this.namespacePath, pin.version), options.signal, () => {
          const started = work(leased.native);
          running = started;
          return started;
        });
      } finally {
        // An abort ends the wait for the engine but not its call, which still uses the table.
        const release = () => leased.release();
        running.then(release, release);
      }
    });
  }

  /** @throws CatalogError InvalidInput (13) if the table was opened at a version */
  checkWritable(): void {
    const { version, tag } = this.pin;
    if (version === undefined && tag === undefined) return;
    throw new CatalogError(
      'InvalidInput',
      `Can't change table "${this.#subject.name}": it is at ${tag === undefined ? `version ${version}` : `the tag "${tag}"`}.`,
      'Call checkoutLatest(), or open it without a version or tag.',
    );
  }

  /**
   * Closes the engine's handle once it is idle, because closing it during a call would free memory that the call uses.
   */
  close(): void {
    this.#isClosed = true;
    void this.#closeIdle();
  }

  /** Keeps a retired handle open until the returned function is called. */
  hold(): () => void {
    this.#holds++;
    let isHeld = true;
    return () => {
      if (isHeld) this.#letGo();
      isHeld = false;
    };
  }

  #letGo(): void {
    this.#holds--;
    if (this.#isRetired && this.#holds === 0) this.close();
  }

  /** Closes the handle as soon as no stream and no call needs it, because its table reads from another handle now. */
  retire(): void {
    this.#isRetired = true;
    if (this.#holds === 0) this.close();
  }

  /** Runs a call; errors name the operation and the table. */
  async during<T>(operation: Operation, call: () => Promise<T>): Promise<T> {
    this.#holds++;
    try {
      return await call();
    } catch (error) {
      throw isCatalogError(error)
        ? error.about({ operation, identifier: displayPath(this.namespacePath, this.name) })
        : error;
    } finally {
      this.#letGo();
    }
  }

  async #follow<T>(options: CallOptions, work: Work<T>, filter?: string): Promise<T> {
    const leased = this.#leased;
    try {
      return await this.#call(leased, options, work, filter);
    } catch (error) {
      if (this.#isClosed || !this.#isOutdated(leased, error)) throw error;
      leased.discard();
      await this.#reopen(leased, leased.isShared ? 'shared' : 'own', options);
      return this.#call(this.#leased, options, work, filter);
    }
  }

  /**
   * Whether a call failed because another client removed files. If the directory of the table is missing, the table was
   * dropped, and perhaps recreated in another directory. A shared table may also lack files of a version that was
   * cleaned up.
   */
  #isOutdated(leased: LeasedTable, error: unknown): boolean {
    if (isCatalogError(error, 'TableNotFound')) return this.pin.version === undefined || leased.isShared;
    return leased.isShared && isCatalogError(error) && lackingFiles.has(error.kind);
  }

  async #reopen(gone: LeasedTable, how: 'own' | 'shared', options: CallOptions): Promise<void> {
    // Meanwhile, another call may have reopened the table.
    if (this.#leased !== gone) return;
    const opened = await this.#open(this.pin, how, options);
    if (this.#leased !== gone || this.#isClosed) {
      opened.release();
      return;
    }
    this.#leased = opened;
    // The old table is released after its running calls; no further call starts on it.
    void Promise.allSettled(this.#running).then(() => gone.release());
  }

  #call<T>({ native }: LeasedTable, options: CallOptions, work: Work<T>, filter?: string): Promise<T> {
    return callEngine(this.#subject, options.signal, () => {
      if (this.#isReleased) throw closedTable(this.#subject.name);
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
    this.#isReleased = true;
    this.#leased.release();
  }
}
