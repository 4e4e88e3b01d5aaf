import { isCatalogError } from '#shared/errors.ts';
import type { IndexInfo, Table } from '#catalog/table/table.ts';

// The engine merges rows in two ways. If an index finds the rows by key, the engine writes only the given columns, as
// new files of their fragments. Without an index it rewrites whole rows, for instance all vectors beside one number.
// Rows that were written in the first way drop out of the index. The engine does not use an index that covers no rows.
// Such an index is created again, which reads one column. A condition on the merge would force the second way, so
// merges have no condition.

export class KeyIndex {
  readonly #table: Table;
  readonly #column: string;
  /** The user's index of the column, if any. `leave` creates it again, so that it covers all rows. */
  #theirs: IndexInfo | undefined;
  #name: string;
  #isThere = false;
  /** Called with each version of the table that this class created by building the index. */
  readonly #onVersion: (version: number) => void;

  constructor(table: Table, column: string, onVersion: (version: number) => void) {
    this.#table = table;
    this.#column = column;
    this.#name = ownName(column);
    this.#onVersion = onVersion;
  }

  /**
   * Ensures that an index covers rows before a merge.
   * @returns whether there is such an index; otherwise the merge rewrites whole rows
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
   * Drops the product's own index, which a killed process may have left, and makes the user's index cover all rows. The
   * caller, `runLocal`, calls this after a success and after a failure, and only logs the errors.
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
    // If the versions differ by more than 1, another client wrote too, and the author of each version is unknown.
    if (after === before + 1) this.#onVersion(after);
    return true;
  }

  /** Returns undefined if the server does not support the operation, or if the index does not exist. */
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

/** Returns a recognizable name, so that the next run reuses the index of a killed process. */
export const ownName = (column: string): string => `lance_catalog_backfill_${column.replaceAll(/\W/g, '_')}`;
