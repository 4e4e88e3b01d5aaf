import type { Catalog } from './catalog.ts';
import type { CallOptions } from './callOptions.ts';

/** Where to: a path in this catalog, or in another one. */
export type CopyTarget = readonly string[] | { catalog?: Catalog; path: readonly string[] };

export type CopyProgress = {
  /** The table at hand, as `shop/eu/orders`. */
  table: string;
  rowsDone: number;
  rowsTotal: number;
};

export type CopyOptions = CallOptions & {
  /** What the path names, where a table and a namespace have the same one. */
  kind?: 'table' | 'namespace' | undefined;
  /** Puts the copy in the place of tables that are there, once it is whole; without it they are an error. */
  overwrite?: boolean | undefined;
  /** Bytes of rows, as they are in memory, between two points where a copy can go on; 64 MB when not given. */
  chunkBytes?: number | undefined;
  onProgress?: ((progress: CopyProgress) => void) | undefined;
};

export type CopiedTable = {
  from: string;
  to: string;
  /** The version of the source that was copied. */
  version: number;
  rows: number;
  /** `copied`, `resumed` after an earlier try, or `there` for one that an earlier try had finished. */
  how: 'copied' | 'resumed' | 'there';
  indexes: string[];
  /** What could not be carried over, a sentence each. */
  warnings: string[];
};

/**
 * A table that was left out: one that is `declared` has nothing that could be copied and is no failure; any other, such
 * as one that is half a copy itself, `failed`.
 */
export type SkippedTable = { from: string; reason: string; why: 'declared' | 'failed' };

export type CopyResult = { tables: CopiedTable[]; skipped: SkippedTable[] };
