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
  onProgress?: ((progress: CopyProgress) => void) | undefined;
};

export type CopiedTable = {
  from: string;
  to: string;
  rows: number;
  /** `copied`, or `there` for one that an earlier try had finished. */
  how: 'copied' | 'resumed' | 'there';
  indexes: string[];
  /** What could not be carried over, a sentence each. */
  warnings: string[];
};

export type CopyResult = { tables: CopiedTable[] };
