import type { DataType, RecordBatch, Schema, Table as ArrowTable } from '#arrow';
import type { NamespacePath } from '#shared/names.ts';
import type { CallOptions } from './callOptions.ts';
import type { BackfillColumnOptions } from './jobs.ts';
import type { MergeInsert } from './mergeInsert.ts';
import type { Query } from './query.ts';
import type { DistanceType, FullTextOptions, QueryOptions } from './querySpec.ts';
import type { TableSource } from './tableSource.ts';

/** The version that a write made, where the server says it. */
export type WriteResult = { version?: number };
export type InsertResult = WriteResult & { numInsertedRows?: number };
export type UpdateResult = WriteResult & { numUpdatedRows?: number };

export type VersionInfo = {
  version: number;
  timestamp: Date;
  /** What the writer of the version kept beside it. */
  metadata?: Record<string, string>;
  /** Where its manifest is, as the catalog writes it, and how many bytes it has. */
  manifestPath?: string;
  manifestSize?: number;
};

export type AddOptions = CallOptions & { mode?: 'append' | 'overwrite' | undefined };

/** New values of columns: plain ones (`values`) or SQL expressions over the row (`valuesSql`); a column once. */
export type UpdateSpec = {
  /** SQL: only rows for which it holds; all when not given. */
  where?: string | undefined;
  values?: Readonly<Record<string, unknown>> | undefined;
  valuesSql?: Readonly<Record<string, string>> | undefined;
};

/** A column whose values are a SQL expression over the others, computed now. */
export type NewColumn = { name: string; expression: string };

export type ColumnChange = {
  /** The column, `a.b` for a field of a struct. */
  path: string;
  rename?: string | undefined;
  nullable?: boolean | undefined;
  dataType?: DataType | undefined;
};

export type TableStats = {
  totalBytes: number;
  numRows: number;
  numIndices: number;
  numFragments: number;
  numSmallFragments: number;
  /** Rows in a fragment. */
  fragmentLengths?: { min: number; max: number; mean: number; p25: number; p50: number; p75: number; p99: number };
};

export type IndexInfo = {
  name: string;
  columns: string[];
  type?: string;
  uuid?: string;
  /** The precise type, as the format names it. */
  typeUrl?: string;
  created?: Date;
  numIndexedRows?: number;
  numUnindexedRows?: number;
  sizeBytes?: number;
  numSegments?: number;
  indexVersion?: number;
  /** What is particular to its type, as JSON. */
  details?: string;
};
export type IndexStats = {
  type?: string;
  distanceType?: string;
  numIndexedRows: number;
  numUnindexedRows: number;
  /** Parts that it is made of. */
  numIndices?: number;
};

/** The kinds of indexes, by the specification's names ("CreateTableIndexRequest"). */
export type IndexType =
  | 'BTREE'
  | 'BITMAP'
  | 'LABEL_LIST'
  | 'FTS'
  | 'IVF_FLAT'
  | 'IVF_SQ'
  | 'IVF_PQ'
  | 'IVF_RQ'
  | 'IVF_HNSW_FLAT'
  | 'IVF_HNSW_SQ'
  | 'IVF_HNSW_PQ';

export type CreateIndexOptions = CallOptions & {
  /** Chosen by the column's type when not given: IVF_PQ for vectors, BTREE for everything else. */
  type?: IndexType | undefined;
  /** `<column>_idx` when not given. */
  name?: string | undefined;
  /** Makes it again where there is one of this name; true when not given. */
  replace?: boolean | undefined;
  distanceType?: DistanceType | undefined;
  numPartitions?: number | undefined;
  numSubVectors?: number | undefined;
  numBits?: number | undefined;
  sampleRate?: number | undefined;
  maxIterations?: number | undefined;
  m?: number | undefined;
  efConstruction?: number | undefined;
  /** Of FTS: keeps positions, for phrases. */
  withPosition?: boolean | undefined;
  baseTokenizer?: string | undefined;
  language?: string | undefined;
  maxTokenLength?: number | undefined;
  lowerCase?: boolean | undefined;
  stem?: boolean | undefined;
  removeStopWords?: boolean | undefined;
  asciiFolding?: boolean | undefined;
};

export type TagInfo = { version: number; /** Bytes of the version's manifest. */ manifestSize?: number };

/** Names of versions. */
export interface Tags {
  list(options?: CallOptions): Promise<Map<string, TagInfo>>;
  /** @throws CatalogError TagNotFound (8) */
  getVersion(tag: string, options?: CallOptions): Promise<number>;
  /** @throws CatalogError TagAlreadyExists (9), VersionNotFound (11) */
  create(tag: string, version: number, options?: CallOptions): Promise<void>;
  /** @throws CatalogError TagNotFound (8), VersionNotFound (11) */
  update(tag: string, version: number, options?: CallOptions): Promise<void>;
  /** @throws CatalogError TagNotFound (8) */
  delete(tag: string, options?: CallOptions): Promise<void>;
}

export type BranchInfo = { parentVersion: number; parentBranch?: string; created?: Date; manifestSize?: number };

/** Lines of versions beside the main one. Open one by `openTable(name, { branch })`. */
export interface Branches {
  list(options?: CallOptions): Promise<Map<string, BranchInfo>>;
  create(
    branch: string,
    options?: CallOptions & { fromBranch?: string | undefined; fromVersion?: number | undefined },
  ): Promise<void>;
  delete(branch: string, options?: CallOptions): Promise<void>;
}

/**
 * A table of a catalog. It follows other writers: every read sees the newest version unless one was opened. Every call
 * rejects with a `CatalogError`; a write to a table opened at a version with InvalidInput (13).
 */
export interface Table {
  readonly name: string;
  readonly namespacePath: NamespacePath;

  schema(options?: CallOptions): Promise<Schema>;
  version(options?: CallOptions): Promise<number>;
  /** Rows, or those for which the SQL expression `filter` holds. */
  countRows(filter?: string, options?: CallOptions): Promise<number>;
  /** All rows, to be narrowed: `table.query().where('price > 10').select(['name']).limit(20)`. */
  query(): Query;
  /** The rows nearest to a vector: `table.vectorSearch(vector).limit(10)`; adds the column `_distance`. */
  vectorSearch(vector: ArrayLike<number>, options?: QueryOptions): Query;
  /** The rows that hold words: `table.fullTextSearch('red mug').limit(10)`; adds the column `_score`. */
  fullTextSearch(query: string, options?: FullTextOptions): Query;
  /** The whole table in memory. Prefer `query()` with a limit, or its batches, for large ones. */
  toArrow(options?: CallOptions): Promise<ArrowTable>;

  /**
   * Adds rows, or puts them in the place of all rows (`overwrite`), in one version. Batches are taken as they come; a
   * stream that fails adds nothing. In a directory one of more than 256 MiB becomes several versions, once it is whole.
   */
  add(data: TableSource, options?: AddOptions): Promise<InsertResult>;
  /**
   * Matches new rows with those of the table by the values of columns:
   * `table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(rows)`.
   */
  mergeInsert(on: string | readonly string[]): MergeInsert;
  /** `table.update({ where: 'id = 3', values: { name: 'mug' } })` */
  update(spec: UpdateSpec, options?: CallOptions): Promise<UpdateResult>;
  /** Deletes the rows for which the SQL expression holds. */
  delete(predicate: string, options?: CallOptions): Promise<WriteResult>;

  /** Oldest first. */
  listVersions(options?: CallOptions): Promise<VersionInfo[]>;
  /** Makes an earlier version the newest, as a new version. @throws CatalogError VersionNotFound (11) */
  restore(version: number, options?: CallOptions): Promise<void>;
  tags(): Tags;
  branches(): Branches;

  createIndex(column: string, options?: CreateIndexOptions): Promise<void>;
  listIndices(options?: CallOptions): Promise<IndexInfo[]>;
  /** @throws CatalogError IndexNotFound (6) */
  indexStats(name: string, options?: CallOptions): Promise<IndexStats>;
  /** @throws CatalogError IndexNotFound (6) */
  dropIndex(name: string, options?: CallOptions): Promise<void>;
  stats(options?: CallOptions): Promise<TableStats>;

  addColumns(columns: readonly NewColumn[], options?: CallOptions): Promise<WriteResult>;
  alterColumns(changes: readonly ColumnChange[], options?: CallOptions): Promise<WriteResult>;
  dropColumns(names: readonly string[], options?: CallOptions): Promise<WriteResult>;
  /** Sets these entries of the schema's metadata (`null` removes one) and gives all of them as they are now. */
  updateSchemaMetadata(
    metadata: Readonly<Record<string, string | null>>,
    options?: CallOptions,
  ): Promise<Record<string, string>>;

  /** Asks the server to compute a column ("AlterTableBackfillColumns"); follow it by `catalog.jobs`. */
  backfillColumn(column: string, options?: BackfillColumnOptions): Promise<{ jobId: string }>;
}

/** What a merge asks for; plain data ("MergeInsertIntoTable"). */
export type MergeSpec = {
  on: readonly string[];
  whenMatchedUpdateAll?: boolean;
  /** SQL over `source.` and `target.` columns. */
  whenMatchedUpdateAllFilter?: string;
  whenNotMatchedInsertAll?: boolean;
  whenNotMatchedBySourceDelete?: boolean;
  whenNotMatchedBySourceDeleteFilter?: string;
};

export type MergeResult = WriteResult & {
  numUpdatedRows?: number;
  numInsertedRows?: number;
  numDeletedRows?: number;
};

/** Merges rows into a table. */
export type MergeRunner = (spec: MergeSpec, data: TableSource, options: CallOptions) => Promise<MergeResult>;

/** A stream of record batches with its schema, which is known even where there is no row. */
export type BatchStream = { schema: Schema; batches: AsyncIterable<RecordBatch> };
