import type { RecordBatch, Schema } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { TimedCallOptions } from '#catalog/arguments/timeLimit.ts';
import type { FullTextQuery } from './fullTextQuery.ts';
import type { DistanceType } from '#shared/vectorTypes.ts';
import type { Reranker, RRFReranker } from './rerankers.ts';

/** How to search for the rows nearest to a vector ("QueryTableRequest"). */
export type QueryOptions = {
  /** The vector column to search. Default: the only vector column. */
  column?: string | undefined;
  /** How the distance is measured. Default: the measure of the index, or `l2` without an index. */
  distanceType?: DistanceType | undefined;
  /**
   * Partitions of an IVF index to search: a larger number finds more of the nearest rows and takes longer. Default:
   * chosen by the engine.
   */
  nprobes?: number | undefined;
  /**
   * Number of partitions to search in any case, instead of `nprobes`. A server of a specification before release 0.13
   * searches exactly this number of partitions.
   */
  minimumNprobes?: number | undefined;
  /** Maximum number of partitions to search while too few rows are found. 0 means all partitions. */
  maximumNprobes?: number | undefined;
  /**
   * The search reads this many times as many rows as requested and sorts them by their true distance. Default: sorts by
   * the distances that the index estimates.
   */
  refineFactor?: number | undefined;
  /** Candidates of an HNSW index, at least the number of requested rows. Default: chosen by the engine. */
  ef?: number | undefined;
  /** Compares the vector with every row instead of using the index. Default: false. */
  bypassVectorIndex?: boolean | undefined;
  /** Finds only rows at this distance or farther away, in units of `distanceType`. */
  lowerBound?: number | undefined;
  /** Finds only rows that are nearer than this distance. */
  upperBound?: number | undefined;
};

/** The engine's default for the smallest and the largest number of partitions that a search probes. */
export const defaultProbes = 20;

/**
 * Returns the smallest and the largest number of partitions that a search may read, as far as they are set. A minimum
 * without a maximum keeps the engine's default maximum, or raises it to the minimum.
 */
export function probedPartitions({ nprobes, minimumNprobes, maximumNprobes }: QueryOptions): {
  minimum: number | undefined;
  maximum: number | undefined;
} {
  const minimum = minimumNprobes ?? nprobes;
  const least = minimumNprobes === undefined ? undefined : Math.max(minimumNprobes, defaultProbes);
  return { minimum, maximum: maximumNprobes ?? nprobes ?? least };
}

export type FullTextOptions = {
  /** Columns to search. Default: every column with a full-text index. */
  columns?: string | readonly string[] | undefined;
};

/** A column to sort by. Default: ascending, nulls last. */
export type Ordering = { column: string; descending?: boolean; nullsFirst?: boolean };

/** A column to sort by, as in LanceDB's packages. Default: ascending, nulls last. */
export type ColumnOrdering = {
  columnName: string;
  ascending?: boolean | undefined;
  nullsFirst?: boolean | undefined;
};

/**
 * Columns of a result: names, or new names with their SQL, as an object, a `Map` or a list of pairs.
 */
export type Selection =
  | string
  | readonly string[]
  | readonly (readonly [name: string, sql: string])[]
  | ReadonlyMap<string, string>
  | Readonly<Record<string, string>>;

/** A query as plain data, the same for every implementation. */
export type QuerySpec = {
  columns?: readonly string[];
  /** New column name → SQL expression; not together with `columns`. */
  columnAliases?: Readonly<Record<string, string>>;
  filter?: string;
  limit?: number;
  /**
   * The result ends with the batch that reaches this many bytes. They are bytes of Arrow data, in memory or in a
   * stream.
   */
  maxBytes?: number;
  offset?: number;
  orderBy?: readonly Ordering[];
  /** Adds the column `_rowid`. */
  withRowId?: boolean;
  /** False: the filter is applied to the rows that a search found. */
  prefilter?: boolean;
  /** Searches only indexed rows. Rows that were added after the last indexing are omitted. */
  fastSearch?: boolean;
  /**
   * `more` has further vectors. The search finds the nearest rows of each vector. If the column holds lists of vectors,
   * all vectors are parts of one search.
   */
  vector?: QueryOptions & { values: readonly number[]; more?: readonly (readonly number[])[] };
  /** Words, or a query that names its columns. */
  fullText?: { query: string | FullTextQuery; columns?: readonly string[] | undefined };
  /** How the rows of a search by vector and text are ordered. Default: by reciprocal rank fusion. */
  rerank?: Reranker | RRFReranker;
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

/** The rows of a query: record batches to iterate over, and their schema. */
export type QueryResult = BatchStream & AsyncIterable<RecordBatch>;

/** The rows of a query that has started: await them, or iterate over their batches. */
export type RunningQuery = Promise<QueryResult> & AsyncIterable<RecordBatch>;

export type QueryExecutionOptions = TimedCallOptions & {
  /** Maximum number of rows in a batch. Default: chosen by the size of the rows. */
  maxBatchLength?: number | undefined;
};
