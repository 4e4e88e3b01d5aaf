import { type Field, type RecordBatch, Table as ArrowTable, Vector } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import type { Table } from '#catalog/table/table.ts';
import type { PendingMerge, PendingMerges } from '#jobs/local/checkpoints/pendingMerge.ts';
import type { NewEvent } from '#jobs/runners/runner.ts';
import { wait } from '#processes/wait.ts';
import { isCatalogError, messageOf } from '#shared/errors.ts';
import { JobError } from '#shared/jobs/jobErrors.ts';
import { type ChangedRows, compareRows } from './compareRows.ts';
import { joinBatches } from '#catalog/arrow/joinBatches.ts';
import type { KeyIndex } from './keyIndex.ts';
import { mergeBatch } from './mergeBatch.ts';
import { bytesOf, type ComputedRows, hashesOfData, type ReadRows, rowStates, sliceComputed, rowRuns } from './rows.ts';
import { storageError } from './storageError.ts';

type WriteTarget = {
  readonly catalog: Catalog;
  /** The table, not pinned to a version, so that it shows the versions of other writers. */
  readonly table: Table;
  readonly column: Field;
  readonly key: Field;
  readonly inputs: readonly string[];
  readonly scope: string;
  /** Whether the scope is rows without a value, so that rows that stay null need not be written. */
  readonly isDefaultScope: boolean;
  readonly index: KeyIndex;
  /** Stores a merge until it was checked for concurrent changes. */
  readonly pending: PendingMerges;
  /** Computes changed rows from their inputs in a version. */
  readonly compute: (rows: ReadRows, version: number) => Promise<readonly ComputedRows[]>;
  readonly emit: (event: NewEvent) => void;
};

/** Maximum number of attempts to write a group of rows while others write to them. */
const patience = 12;

/**
 * Writes values back by key, in one version per call.
 * Concurrent changes take precedence: deleted rows stay deleted, rows with changed inputs are computed again, and
 * values of other clients stay. The rows are checked for such changes before each merge, and again after it if others
 * wrote meanwhile.
 */
export class WriteBack {
  readonly #target: WriteTarget;
  /** The version at which rows were read. `#own` has the later versions that this job created. */
  readonly #readVersion: number;
  readonly #own = new Set<number>();
  #bytes = 0;

  constructor(target: WriteTarget, readVersion: number) {
    this.#target = target;
    this.#readVersion = readVersion;
  }

  /** Bytes of keys and values that were written. */
  get bytesWritten(): number {
    return this.#bytes;
  }

  /** Registers a version that this job created in another way than by writing rows. */
  readonly isOwn = (version: number): void => void this.#own.add(version);

  /** Whether other clients have written since the rows were read. */
  async othersWrote(signal: AbortSignal): Promise<boolean> {
    return this.#isForeign(await this.#target.table.version({ signal }));
  }

  /**
   * Writes rows.
   * @returns the version that contains them
   * @throws JobError TableChanged if others repeatedly write to the same rows, StorageFull; CatalogError
   */
  async commit(rows: readonly ComputedRows[], signal: AbortSignal): Promise<number> {
    let version = await this.#target.table.version({ signal });
    let left = rows;
    const written: Written = new Map();
    for (let attempt = 1; left.length > 0; attempt++) {
      await this.#target.index.ready(signal);
      const base = await this.#target.table.version({ signal });
      if (this.#isForeign(base)) left = await this.#asTheyAre(left, base, attempt, written, signal);
      const parts = left.flatMap((some) => this.#writtenOf(some, written));
      if (parts.length === 0) break;
      // Only the first merge is stored, because later merges correct the first, and recovery needs the version before
      // the first.
      if (written.size === 0) await this.#target.pending.keep({ base, rows: parts });
      const batches = parts.map((some) => this.#batch(some));
      try {
        version = await this.#merge(batches, base, signal);
      } catch (error) {
        if (!isCatalogError(error, 'ConcurrentModification') || attempt >= patience) throw this.#explained(error);
        this.#target.emit({ kind: 'conflict', attempt, dropped: [], reason: messageOf(error) });
        await wait(attempt * 100, signal);
        continue;
      }
      if (version === base + 1) break;
      left = await this.#repairRows(left, version, attempt, written, signal);
      if (attempt >= patience) throw this.#restless();
    }
    await this.#target.pending.settle();
    return version;
  }

  /**
   * Checks the merge of a killed process for concurrent changes.
   * @throws JobError, CatalogError
   */
  async settle(signal: AbortSignal): Promise<void> {
    const { pending, table, index } = this.#target;
    const merge = await pending.read(signal);
    if (merge) {
      try {
        const made = await this.#versionOf(merge, await table.version({ signal }), signal);
        if (made !== undefined && made > merge.base + 1) {
          await index.ready(signal);
          await this.#settled(merge.rows, made, signal);
        }
      } catch (error) {
        // If the version no longer exists, the changes of other writers are unknown.
        if (!isCatalogError(error, 'VersionNotFound')) throw error;
      }
    }
    await pending.settle();
  }

  /** Finds the first version that has more of the merge's values than the base version. */
  async #versionOf({ base, rows }: PendingMerge, now: number, signal: AbortSignal): Promise<number | undefined> {
    const values = valuesOf(rows);
    const count = async (version: number): Promise<number> => {
      const { same, changed } = await this.#compare(rows, version, values, signal);
      return [...same, ...changed].reduce((total, { addresses }) => total + addresses.length, 0);
    };
    if (now <= base + 1) return undefined;
    const before = await count(base);
    for (let version = base + 1; version <= Math.min(now, base + mostLookedAt); version++) {
      if ((await count(version)) > before) return version;
    }
    return undefined;
  }

  /** Corrects rows that still have the values of a merge. */
  async #settled(rows: readonly ComputedRows[], made: number, signal: AbortSignal): Promise<void> {
    const { table } = this.#target;
    const found = await this.#compare(rows, made - 1, new Map(), signal);
    const computed = await this.#computed(found.changed, made - 1);
    const values = valuesOf(rows);
    const now = await table.version({ signal });
    const again = await this.#asTheyAre(computed, now, 1, values, signal);
    const { same, changed } = await this.#compare(rows, now, values, signal);
    const ours = new Set([...same, ...changed].flatMap(({ key }) => [...new Vector([key!])] as unknown[]));
    const back = found.outside.flatMap((batch) => {
      const keys = new Vector([batch.data.children[0]!]);
      const parts = [...rowRuns(batch.numRows, (row) => ours.has(keys.get(row)))];
      return parts.flatMap(({ start, end, is }) => (is ? [batch.slice(start, end)] : []));
    });
    const batches = [...again.map((some) => this.#batch(some)), ...back];
    if (batches.length > 0) await this.#merge(batches, undefined, signal);
  }

  /** Restores values that others wrote during a merge, and computes rows whose inputs changed. */
  async #repairRows(
    rows: readonly ComputedRows[],
    version: number,
    attempt: number,
    written: Written,
    signal: AbortSignal,
  ): Promise<ComputedRows[]> {
    // If the version is not the merge's own, only the current inputs can be compared.
    const isKnown = this.#own.has(version);
    const at = isKnown ? version - 1 : version;
    const found = await this.#compare(rows, at, written, signal, isKnown ? undefined : 'TRUE');
    for (const some of rows) noteWritten(some, written);
    const again = await this.#computed(found.changed, at);
    const back = found.outside;
    if (again.length + back.length > 0)
      this.#tellConflict(attempt, again.length > 0 ? found.changed : [], back.length > 0);
    if (back.length > 0) await this.#merge(back, undefined, signal);
    return again;
  }

  async #asTheyAre(
    rows: readonly ComputedRows[],
    version: number,
    attempt: number,
    written: Written,
    signal: AbortSignal,
  ): Promise<ComputedRows[]> {
    const found = await this.#compare(rows, version, written, signal);
    if (found.changed.length > 0) this.#tellConflict(attempt, found.changed, false);
    return [...found.same, ...(await this.#computed(found.changed, version))];
  }

  async #compare(
    rows: readonly ComputedRows[],
    version: number,
    written: Written,
    signal: AbortSignal,
    scope = this.#target.scope,
  ): Promise<ChangedRows> {
    const { catalog, table, key, column, inputs } = this.#target;
    const at = await catalog.openTable(table.name, { namespacePath: table.namespacePath, version, signal });
    return compareRows({ table: at, key, column, inputs, scope, written }, rows, signal);
  }

  async #computed(changed: readonly ReadRows[], version: number): Promise<ComputedRows[]> {
    return (await Promise.all(changed.map((rows) => this.#target.compute(rows, version)))).flat();
  }

  async #merge(batches: readonly RecordBatch[], base: number | undefined, signal: AbortSignal): Promise<number> {
    const { table, key } = this.#target;
    const source = new ArrowTable(batches[0]!.schema, joinBatches(batches));
    const merge = table.mergeInsert(key.name).whenMatchedUpdateAll();
    const made = await merge.execute(source, { signal });
    const version = made.version ?? (await table.version({ signal }));
    // If the server reports no version, the next version after the base is certainly this merge.
    if (made.version !== undefined || version === (base ?? 0) + 1) this.#own.add(version);
    this.#bytes += batches.reduce((total, { data }) => total + bytesOf(data), 0);
    return version;
  }

  #writtenOf(rows: ComputedRows, written: Written): ComputedRows[] {
    const { isDefaultScope } = this.#target;
    const { value, states } = rows;
    // In the table, rows that are written again have values of outdated inputs. These values must be replaced even if
    // the new value is null.
    const isAgain = written.size > 0;
    const isWritten = (row: number): boolean =>
      isAgain || (states[row] !== rowStates.skipped && (!isDefaultScope || value.getValid(row)));
    return [...rowRuns(value.length, isWritten)].flatMap(({ start, end, is }) =>
      is ? [sliceComputed(rows, start, end)] : [],
    );
  }

  #batch({ key, value }: ComputedRows): RecordBatch {
    return mergeBatch(this.#target.key, this.#target.column, key!, value);
  }

  #isForeign(version: number): boolean {
    return version - this.#readVersion !== this.#own.size;
  }

  #tellConflict(attempt: number, changed: readonly ReadRows[], isBack: boolean): void {
    const dropped = [...new Set(changed.map(({ fragment }) => fragment))];
    const rows = changed.reduce((total, { addresses }) => total + addresses.length, 0);
    const parts = [
      ...(rows > 0 ? [`Another writer changed ${rows} rows after they were read; they were computed again.`] : []),
      ...(isBack ? ['Another writer set values in rows while they were written back; those values were kept.'] : []),
    ];
    this.#target.emit({ kind: 'conflict', attempt, dropped, reason: parts.join(' ') });
  }

  #restless(): JobError {
    return new JobError(
      'TableChanged',
      `Can't write rows back to table "${this.#target.table.name}": other writers changed them ${patience} times meanwhile.`,
      'Resume the job when the other writers have finished: computed rows are kept.',
    );
  }

  #explained(error: unknown): Error {
    if (isCatalogError(error, 'ConcurrentModification')) return this.#restless();
    return storageError(error, `the table "${this.#target.table.name}"`);
  }
}

/** Versions to search after an unchecked merge. Other writers rarely write more often during one merge. */
const mostLookedAt = 64;

/** Hashes of the values that this job wrote, by key. A row with such a value is no longer in the default scope. */
type Written = Map<unknown, bigint>;

function valuesOf(rows: readonly ComputedRows[]): Written {
  const values: Written = new Map();
  for (const some of rows) noteWritten(some, values);
  return values;
}

function noteWritten({ key, value }: ComputedRows, written: Written): void {
  const keys = new Vector([key!]);
  hashesOfData([value], value.length).forEach((hash, row) => written.set(keys.get(row), hash));
}
