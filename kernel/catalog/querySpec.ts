import type { RecordBatch, Schema } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';

export type DistanceType = 'l2' | 'cosine' | 'dot';

/** How rows near a vector are looked for ("QueryTableRequest"). */
export type QueryOptions = {
  /** The vector column; the only one when not given. */
  column?: string | undefined;
  /** That of the index, or `l2` without one, when not given. */
  distanceType?: DistanceType | undefined;
  /** Partitions of an IVF index to look into: more find more and take longer; the engine's choice when not given. */
  nprobes?: number | undefined;
  /** Reads this many times as many rows and sorts them by their true distance; the index's distances when not given. */
  refineFactor?: number | undefined;
  /** Candidates of an HNSW index, no fewer than rows asked for; the engine's choice when not given. */
  ef?: number | undefined;
  /** Compares with every row instead of asking the index; false when not given. */
  bypassVectorIndex?: boolean | undefined;
  /** Only rows of this distance or more, in the units of `distanceType`. */
  lowerBound?: number | undefined;
  /** Only rows of less than this distance. */
  upperBound?: number | undefined;
};

export type FullTextOptions = {
  /** Columns to look in; every one with a full-text index when not given. */
  columns?: readonly string[] | undefined;
};

/** One column to sort by: ascending and nulls last, unless said otherwise. */
export type Ordering = { column: string; descending?: boolean; nullsFirst?: boolean };

/** What a query asks for; plain data, the same for every implementation. */
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
  /** False: the filter is applied to what a search found. */
  prefilter?: boolean;
  /** Searches what is indexed alone, and leaves out rows that were added since. */
  fastSearch?: boolean;
  vector?: QueryOptions & { values: readonly number[] };
  fullText?: FullTextOptions & { query: string };
};

/** Runs queries of one table. */
export interface QueryRunner {
  run(spec: QuerySpec, signal?: AbortSignal): Promise<BatchStream>;
  /** How it would be run, as text; `verbose` with more detail. */
  explainPlan(spec: QuerySpec, options: CallOptions & { verbose?: boolean | undefined }): Promise<string>;
  /** How it was run, with times and counts. */
  analyzePlan(spec: QuerySpec, options: CallOptions): Promise<string>;
}

/** A stream of record batches with its schema, which is known even where there is no row. */
export type BatchStream = { schema: Schema; batches: AsyncIterable<RecordBatch> };
