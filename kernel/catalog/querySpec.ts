import type { RecordBatch, Schema } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';

export type DistanceType = 'l2' | 'cosine' | 'dot';

/** How to search for the rows nearest to a vector ("QueryTableRequest"). */
export type QueryOptions = {
  /** The vector column. Default: the only one. */
  column?: string | undefined;
  /** Default: that of the index, or `l2` without an index. */
  distanceType?: DistanceType | undefined;
  /**
   * Partitions of an IVF index to search: a larger number finds more of the nearest rows and takes longer. Default:
   * chosen by the engine.
   */
  nprobes?: number | undefined;
  /**
   * The search reads this many times as many rows as requested and sorts them by their true distance. Default: sorts by
   * the distances that the index estimates.
   */
  refineFactor?: number | undefined;
  /** Candidates of an HNSW index, at least the number of requested rows. Default: chosen by the engine. */
  ef?: number | undefined;
  /** Compares with every row instead of using the index. Default: false. */
  bypassVectorIndex?: boolean | undefined;
  /** Only rows at this distance or more, in units of `distanceType`. */
  lowerBound?: number | undefined;
  /** Only rows at less than this distance. */
  upperBound?: number | undefined;
};

export type FullTextOptions = {
  /** Columns to search. Default: every column with a full-text index. */
  columns?: readonly string[] | undefined;
};

/** A column to sort by. Default: ascending, nulls last. */
export type Ordering = { column: string; descending?: boolean; nullsFirst?: boolean };

/** A query as plain data, the same for every implementation. */
export type QuerySpec = {
  columns?: readonly string[];
  /** New column name → SQL expression; not together with `columns`. */
  columnAliases?: Readonly<Record<string, string>>;
  filter?: string;
  limit?: number;
  offset?: number;
  orderBy?: readonly Ordering[];
  /** Adds the column `_rowid`. */
  withRowId?: boolean;
  /** False: the filter is applied to the rows that a search found. */
  prefilter?: boolean;
  /** Searches only indexed rows. Rows that were added after the last indexing are omitted. */
  fastSearch?: boolean;
  vector?: QueryOptions & { values: readonly number[] };
  fullText?: FullTextOptions & { query: string };
};

export interface QueryRunner {
  run(spec: QuerySpec, signal?: AbortSignal): Promise<BatchStream>;
  /** Returns the execution plan as a string; `verbose` with more detail. */
  explainPlan(spec: QuerySpec, options: CallOptions & { verbose?: boolean | undefined }): Promise<string>;
  /** Runs the query and returns its plan with times and counts. */
  analyzePlan(spec: QuerySpec, options: CallOptions): Promise<string>;
}

/** A stream of record batches and its schema, which is known even without rows. */
export type BatchStream = { schema: Schema; batches: AsyncIterable<RecordBatch> };
