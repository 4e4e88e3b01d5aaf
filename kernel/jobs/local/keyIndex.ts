import { isCatalogError } from '#shared/errors.ts';
import type { IndexInfo, Table } from '#catalog/table.ts';

// The engine merges rows in two ways. Where an index finds the rows by their key, it writes only the columns that are given, as
// new files of their fragments; without one it writes whole rows anew, which is all vectors beside one number. What it
// has written so is out of the index afterwards, and an index that covers nothing any more is not asked: the index is
// made again then, which reads one column. A condition on the merge takes the second way too, so there is none.

/** The index of the column that names rows, while they are written back. */
export class KeyIndex {
  readonly #table: Table;
  readonly #column: string;
  /** A person's own index, to be whole again at the end. */
  #theirs: IndexInfo | undefined;
  #name: string;
  #isThere = false;
  /** Told of versions of the table that the index alone made. */
  readonly #onVersion: (version: number) => void;

  constructor(table: Table, column: string, onVersion: (version: number) => void) {
    this.#table = table;
    this.#column = column;
    this.#name = ownName(column);
    this.#onVersion = onVersion;
  }

  /**
   * Sees to an index that covers rows, before rows are merged.
   * @returns whether there is one: otherwise whole rows are written anew
   */
  async ready(signal: AbortSignal): Promise<boolean> {
    if (!this.#isThere) {
      const all = await this.#known(() => this.#table.listIndices({ signal }));
      if (!all) return false;
      this.#theirs = all.find((index) => index.type === 'BTREE' && isOn(index, this.#column, this.#name));
      this.#name = this.#theirs?.name ?? this.#name;
      this.#isThere = this.#theirs !== undefined || all.some(({ name }) => name === this.#name);
    }
    if (this.#isThere) {
      const stats = await this.#known(() => this.#table.indexStats(this.#name, { signal }));
      if (stats && stats.numIndexedRows > 0) return true;
    }
    this.#isThere = (await this.#known(() => this.#make(signal))) === true;
    return this.#isThere;
  }

  /**
   * Removes our own index, one that a killed process left behind too; makes a person's whole again. After a failure as well:
   * what this says, if it fails then, is of no use.
   */
  async leave(signal: AbortSignal): Promise<void> {
    if (this.#isThere && this.#theirs) await this.#known(() => this.#make(signal));
    const all = await this.#known(() => this.#table.listIndices({ signal }));
    const own = ownName(this.#column);
    if (all?.some(({ name }) => name === own)) await this.#known(() => this.#table.dropIndex(own, { signal }));
    this.#isThere = false;
  }

  async #make(signal: AbortSignal): Promise<true> {
    const before = await this.#table.version({ signal });
    await this.#table.createIndex(this.#column, { type: 'BTREE', name: this.#name, replace: true, signal });
    const after = await this.#table.version({ signal });
    // Where somebody else wrote too, nobody can say which version is whose.
    if (after === before + 1) this.#onVersion(after);
    return true;
  }

  /** What a server can't do, it can't do. Anything else is told. */
  async #known<T>(call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      if (isCatalogError(error, 'Unsupported') || isCatalogError(error, 'IndexNotFound')) return undefined;
      throw error;
    }
  }
}

const isOn = ({ columns, name }: IndexInfo, column: string, own: string): boolean =>
  columns.length === 1 && columns[0] === column && name !== own;

/** A name that says whose it is, if a killed process leaves it behind; the next run takes it up. */
export const ownName = (column: string): string => `lance_catalog_backfill_${column.replaceAll(/\W/g, '_')}`;
