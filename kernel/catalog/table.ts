import type { DataType, Schema, Table as ArrowTable } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import type { NamespacePath } from '#shared/names.ts';
import type { BackfillJob, TableBackfillOptions, TableTrial } from './backfill.ts';
import type { BackfillColumnOptions } from './jobs.ts';
import type { MergeInsert } from './mergeInsert.ts';
import type { Query } from './query.ts';
import type { DistanceType, FullTextOptions, QueryOptions } from './querySpec.ts';
import type { TableSource } from './tableData.ts';
import type { Branches, Tags } from './tagsBranches.ts';
import type { InsertResult, RefreshResult, UpdateResult, WriteResult } from './writeResults.ts';

// What a table tells of itself.

export type VersionInfo = {
  version: number;
  /** When it was made. */
  timestamp: Date;
  /** What the writer of the version kept beside it. */
  metadata?: Record<string, string>;
  /** Where its manifest is, as the catalog writes it, and how many bytes it has. */
  manifestPath?: string;
  manifestSize?: number;
};

export type TableStats = {
  /** Bytes of its data files. */
  totalBytes: number;
  numRows: number;
  numIndices: number;
  /** Pieces that its rows are in, and those of them that are worth putting together. */
  numFragments: number;
  numSmallFragments: number;
  /** Rows in a fragment. */
  fragmentLengths?: { min: number; max: number; mean: number; p25: number; p50: number; p75: number; p99: number };
};

export type AddOptions = CallOptions & {
  /** `append` (default), or `overwrite`: in the place of all rows there are. */
  mode?: 'append' | 'overwrite' | undefined;
};

/** New values of columns: plain ones (`values`) or SQL expressions over the row (`valuesSql`); a column once. */
export type UpdateSpec = {
  /** SQL: only rows for which it holds; all when not given. */
  where?: string | undefined;
  /** Column → value. */
  values?: Readonly<Record<string, unknown>> | undefined;
  /** Column → SQL expression. */
  valuesSql?: Readonly<Record<string, string>> | undefined;
};

/** A column whose values are a SQL expression over the others, computed now; or one of a type, all null. */
export type NewColumn =
  | { name: string; expression: string; dataType?: undefined }
  | { name: string; dataType: DataType; expression?: undefined };

/** What is to be known of a column, a field of a struct by its path: these entries are set, and `null` removes one. */
export type FieldMetadataUpdate = {
  path: string;
  metadata: Readonly<Record<string, string | null>>;
  /** In the place of all entries there are; false when not given. */
  replace?: boolean | undefined;
};

export type ColumnChange = {
  /** The column, `a.b` for a field of a struct. */
  path: string;
  /** Its new name; kept when not given. */
  rename?: string | undefined;
  /** Whether it may hold null; kept when not given. */
  nullable?: boolean | undefined;
  /** Its new type, which its values are cast to; kept when not given. */
  dataType?: DataType | undefined;
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
  /** Rows that were added since: a search reads them one by one. */
  numUnindexedRows?: number;
  /** Bytes of its files. */
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
  /** Of IVF: how far two vectors are from each other; `l2` when not given. A search has to name the same. */
  distanceType?: DistanceType | undefined;
  /** Of IVF: parts that the vectors are put into; about the square root of the number of rows when not given. */
  numPartitions?: number | undefined;
  /** Of PQ: pieces that a vector is cut into, each kept as one code; chosen by its length when not given. */
  numSubVectors?: number | undefined;
  /** Bits: of PQ a code (8 when not given), of RQ a dimension (1 when not given). */
  numBits?: number | undefined;
  /** Of IVF: vectors a partition that are looked at to find the partitions; 256 when not given. */
  sampleRate?: number | undefined;
  /** Of IVF: rounds of finding the partitions at most; 50 when not given. */
  maxIterations?: number | undefined;
  /** Of HNSW: neighbours that a vector is linked with; 20 when not given. */
  m?: number | undefined;
  /** Of HNSW: candidates for a neighbour; 300 when not given. */
  efConstruction?: number | undefined;
  /** Of FTS: keeps positions, for phrases. */
  withPosition?: boolean | undefined;
  /**
   * Of FTS: how a text is cut into words: `simple` (when not given), `whitespace`, `raw` and what else the engine has.
   */
  baseTokenizer?: string | undefined;
  /** Of FTS: whose stems and stop words; English when not given. */
  language?: string | undefined;
  /** Of FTS: longer words are left out, in characters. */
  maxTokenLength?: number | undefined;
  /** Of FTS: finds words whether they are written with capitals. */
  lowerCase?: boolean | undefined;
  /** Of FTS: finds words by their stems: `run` in `running`. */
  stem?: boolean | undefined;
  /** Of FTS: leaves out words such as `the`. */
  removeStopWords?: boolean | undefined;
  /** Of FTS: finds letters with an accent by those without. */
  asciiFolding?: boolean | undefined;
};

/**
 * A table of a catalog. It follows other writers: every read sees the newest version unless one was opened. Every call
 * rejects with a `CatalogError`; a write to a table opened at a version with InvalidInput (13).
 *
 * On a server its name decides: after a rename it is TableNotFound (4). In a directory a table of a namespace stays open
 * after it; open the table by its new name to be sure.
 */
export interface Table {
  readonly name: string;
  readonly namespacePath: NamespacePath;

  /** Its columns, with the metadata of each and of the schema ("DescribeTable"). */
  schema(options?: CallOptions): Promise<Schema>;
  /** The number of the version that is read ("DescribeTable"). */
  version(options?: CallOptions): Promise<number>;
  /**
   * How many rows there are, or those for which the SQL expression `filter` holds ("CountTableRows").
   * @throws CatalogError InvalidInput (13), ColumnNotFound (12) for a bad filter
   */
  countRows(filter?: string, options?: CallOptions): Promise<number>;
  /** All rows, to be narrowed: `table.query().where('price > 10').select(['name']).limit(20)` ("QueryTable"). */
  query(): Query;
  /** The rows nearest to a vector: `table.vectorSearch(vector).limit(10)`; adds the column `_distance`. */
  vectorSearch(vector: ArrayLike<number>, options?: QueryOptions): Query;
  /** The rows that hold words: `table.fullTextSearch('red mug').limit(10)`; adds the column `_score`. */
  fullTextSearch(query: string, options?: FullTextOptions): Query;
  /** The whole table in memory. Prefer `query()` with a limit, or its batches, for large ones. */
  toArrow(options?: CallOptions): Promise<ArrowTable>;

  /**
   * Adds rows, or puts them in the place of all rows (`overwrite`), in one version. Batches are taken as they come; a
   * stream that fails adds nothing ("InsertIntoTable"). In a directory one of more than 256 MiB becomes
   * several versions, once it is whole.
   * @throws CatalogError SchemaValidation (20) for rows that do not fit, InvalidInput (13) for a source that throws,
   * ConcurrentModification (14)
   */
  add(data: TableSource, options?: AddOptions): Promise<InsertResult>;
  /**
   * Matches new rows with those of the table by the values of columns:
   * `table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(rows)` ("MergeInsertIntoTable").
   * @throws CatalogError InvalidInput (13) for no column
   */
  mergeInsert(on: string | readonly string[]): MergeInsert;
  /**
   * Changes rows in place, in one version: `table.update({ where: 'id = 3', values: { name: 'mug' } })` ("UpdateTable").
   * @throws CatalogError InvalidInput (13), ColumnNotFound (12), SchemaValidation (20), ConcurrentModification (14)
   */
  update(spec: UpdateSpec, options?: CallOptions): Promise<UpdateResult>;
  /**
   * Deletes the rows for which the SQL expression holds, in one version ("DeleteFromTable").
   * @throws CatalogError InvalidInput (13), ColumnNotFound (12), ConcurrentModification (14)
   */
  delete(predicate: string, options?: CallOptions): Promise<WriteResult>;

  /** Its versions, oldest first ("ListTableVersions"). */
  listVersions(options?: CallOptions): Promise<VersionInfo[]>;
  /**
   * Makes an earlier version the newest, as a new version ("RestoreTable").
   * @throws CatalogError VersionNotFound (11)
   */
  restore(version: number, options?: CallOptions): Promise<void>;
  /** Names of versions. */
  tags(): Tags;
  /** Lines of versions beside the main one. */
  branches(): Branches;

  /**
   * Makes an index of a column and waits for it; a server may go on making it ("CreateTableIndex",
   * "CreateTableScalarIndex").
   * @throws CatalogError ColumnNotFound (12), InvalidInput (13), IndexAlreadyExists (7) with `replace: false`,
   * Unsupported (0) for a kind that can't be made here
   */
  createIndex(column: string, options?: CreateIndexOptions): Promise<void>;
  /** Its indexes ("ListTableIndices"). */
  listIndices(options?: CallOptions): Promise<IndexInfo[]>;
  /** How much of the table an index covers ("DescribeTableIndexStats"). @throws CatalogError IndexNotFound (6) */
  indexStats(name: string, options?: CallOptions): Promise<IndexStats>;
  /** Drops an index ("DropTableIndex"). @throws CatalogError IndexNotFound (6) */
  dropIndex(name: string, options?: CallOptions): Promise<void>;
  /** Bytes, rows and pieces ("GetTableStats"). */
  stats(options?: CallOptions): Promise<TableStats>;

  /**
   * Adds columns whose values are computed now, or that are null until something fills them ("AlterTableAddColumns").
   * In a directory the latter costs no more than a few bytes.
   * @throws CatalogError InvalidInput (13), ColumnNotFound (12) for a bad expression
   */
  addColumns(columns: readonly NewColumn[], options?: CallOptions): Promise<WriteResult>;
  /**
   * Renames columns, casts them, or lets them hold null ("AlterTableAlterColumns").
   * @throws CatalogError ColumnNotFound (12), InvalidInput (13)
   */
  alterColumns(changes: readonly ColumnChange[], options?: CallOptions): Promise<WriteResult>;
  /** Drops columns ("AlterTableDropColumns"). @throws CatalogError ColumnNotFound (12), InvalidInput (13) */
  dropColumns(names: readonly string[], options?: CallOptions): Promise<WriteResult>;
  /**
   * Computes what a computed column of the engine's own has no value for, or has of inputs that changed since. Columns that
   * `backfill` fills are no such columns.
   * @throws CatalogError InvalidInput (13) for any other column, Unsupported (0) by a server
   */
  refreshColumn(column: string, options?: CallOptions): Promise<RefreshResult>;
  /**
   * Sets entries of the metadata of columns, in one version ("UpdateFieldMetadata"); `schema()` has them.
   * @throws CatalogError ColumnNotFound (12), InvalidInput (13), Unsupported (0) by a server that can't
   */
  updateFieldMetadata(updates: readonly FieldMetadataUpdate[], options?: CallOptions): Promise<WriteResult>;
  /**
   * Sets these entries of the schema's metadata (`null` removes one) and gives all of them as they are now
   * ("UpdateTableSchemaMetadata").
   * @throws CatalogError Unsupported (0) in a directory, where it is given when the table is made
   */
  updateSchemaMetadata(
    metadata: Readonly<Record<string, string | null>>,
    options?: CallOptions,
  ): Promise<Record<string, string>>;

  /**
   * Asks the server to compute a column ("AlterTableBackfillColumns"); follow it by `catalog.jobs`.
   * @throws CatalogError Unsupported (0) where no jobs are run, ColumnNotFound (12)
   */
  backfillColumn(column: string, options?: BackfillColumnOptions): Promise<{ jobId: string }>;

  /**
   * Computes a column by a function, in a job that outlives the notebook: `await table.backfill('length')` by the function
   * that is kept on the column, `{ function: udf(…) }` by another one, which is kept on it from then on.
   * @throws CatalogError Unsupported (0) where nothing runs jobs; what is returned rejects with a JobError when it fails
   */
  backfill(column: string, options?: TableBackfillOptions): BackfillJob;
  /** What `backfill` would do, counted or estimated; changes nothing. Rejects with a JobError. */
  planBackfill(column: string, options?: TableBackfillOptions): Promise<BackfillPlan>;
  /** Computes one fragment and writes it nowhere, to see what the function gives. Rejects with a JobError. */
  tryBackfill(column: string, options?: TableBackfillOptions): Promise<TableTrial>;
}
