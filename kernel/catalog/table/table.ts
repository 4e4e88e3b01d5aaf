import type { DataType, Field, Schema, Table as ArrowTable } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { BackfillPlan } from '#shared/jobs/jobPlan.ts';
import type { NamespacePath } from '#shared/names.ts';
import type { DistanceType } from '#shared/vectorTypes.ts';
import type { BackfillJob, TableBackfillOptions, TableTrial } from '#catalog/backfill.ts';
import type { BackfillColumnOptions } from '#catalog/jobs.ts';
import type { FullTextQuery } from '#catalog/query/fullTextQuery.ts';
import type { LanceDbTableCalls } from '#catalog/lancedb/lanceDbTable.ts';
import { type UnsupportedCalls, type unsupportedTableCalls, unsupportedValue } from '#catalog/lancedb/unsupported.ts';
import type { MergeInsert } from './mergeInsert.ts';
import type { OptimizeOptions, OptimizeResult } from './optimize.ts';
import type { Query } from '#catalog/query/query.ts';
import type { FullTextOptions, QueryOptions } from '#catalog/query/querySpec.ts';
import type { AnyRow, WithDistance, WithScore } from '#catalog/query/rowTypes.ts';
import type { TableSource } from './tableData.ts';
import type { TableViewOptions } from './tableViewOptions.ts';
import type { Branches, Tags } from './tagsBranches.ts';
import type { TakeQuery } from '#catalog/query/takeQuery.ts';
import type { WriteProgress } from './writeProgress.ts';
import type { DeleteResult, InsertResult, RefreshResult, UpdateResult, WriteResult } from './writeResults.ts';

// The interface of tables, with its options and results.

export type VersionInfo = {
  version: number;
  /** The time when the version was created. */
  timestamp: Date;
  /** Metadata that its writer stored with the version. */
  metadata?: Record<string, string>;
  /** Location of the manifest of this version, as the catalog reports it, and the size of the manifest in bytes. */
  manifestPath?: string;
  manifestSize?: number;
};

export type TableStats = {
  /** Bytes of the data files of the table. */
  totalBytes: number;
  numRows: number;
  numIndices: number;
  /** Number of fragments of the table, and how many of them are so small that they should be compacted. */
  numFragments: number;
  numSmallFragments: number;
  /** Rows per fragment. */
  fragmentLengths?: { min: number; max: number; mean: number; p25: number; p50: number; p75: number; p99: number };
  /** The numbers of fragments under the names of LanceDB's package. Outputs and copies leave this property out. */
  readonly fragmentStats: {
    readonly numFragments: number;
    readonly numSmallFragments: number;
    readonly lengths: TableStats['fragmentLengths'];
  };
};

export type AddOptions = CallOptions & {
  /** `append` (default), or `overwrite` to replace all existing rows. */
  mode?: 'append' | 'overwrite' | undefined;
  /** Called each time the write has taken a batch from a stream, and at the end. */
  progress?: ((progress: WriteProgress) => void) | undefined;
};

/** A column that the engine computes by a SQL expression over other columns, when `refreshColumn` is called. */
export type ComputedColumn =
  | { name: string; expression: string; valueSql?: undefined }
  | { name: string; valueSql: string; expression?: undefined };

/** Columns to declare as computed. */
export type ComputedColumns = { computed: readonly ComputedColumn[] };

/** Which text index splits the string of `tokenize`: the index of `column`, or the index that is named `indexName`. */
export type TokenizeOptions = CallOptions &
  ({ column: string; indexName?: undefined } | { indexName: string; column?: undefined });

/** A word as an index of text stores it, and its position among the words that are not ignored. */
export type TextToken = { text: string; position: number };

/**
 * New values of columns: plain ones (`values`) or SQL expressions over the row (`valuesSql`); each column only once.
 */
export type UpdateSpec = {
  /** SQL condition: only rows for which the condition is true are changed. Default: all rows. */
  where?: string | undefined;
  /** Column → value, converted as in `add`. Objects and maps need SQL. */
  values?: ReadonlyMap<string, unknown> | Readonly<Record<string, unknown>> | undefined;
  /** Column → SQL expression. */
  valuesSql?: ColumnsSql | undefined;
};

/** Column → SQL expression. */
export type ColumnsSql = ReadonlyMap<string, string> | Readonly<Record<string, string>>;

export type UpdateOptions = CallOptions & {
  /** SQL condition: only rows for which the condition is true are changed. Default: all rows. */
  where?: string | undefined;
};

/**
 * A column to add. With `expression`, SQL computes the values of the column now from other columns. With `dataType`,
 * the column has this type and only nulls.
 */
export type NewColumn =
  | { name: string; expression: string; dataType?: undefined }
  | { name: string; dataType: DataType; expression?: undefined };

/** A column with values of a SQL expression, as in LanceDB's package. */
export type AddColumnsSql = { name: string; valueSql: string };

/** Columns to add. A field, fields or a schema add columns of nulls. */
export type NewColumns = readonly (NewColumn | AddColumnsSql | Field)[] | Field | Schema;

/**
 * A change to the metadata of a column. `path` is the name of the column, or the path of a field of a struct (`a.b`).
 * The entries in `metadata` are set; an entry with the value `null` is removed.
 */
export type FieldMetadataUpdate = {
  path: string;
  metadata: Readonly<Record<string, string | null>>;
  /** Replaces all existing entries. Default: false. */
  replace?: boolean | undefined;
};

export type ColumnChange = {
  /** The column, `a.b` for a field of a struct. */
  path: string;
  /** The new name of the column. Default: unchanged. */
  rename?: string | undefined;
  /** Whether the column may hold null. Default: unchanged. */
  nullable?: boolean | undefined;
  /**
   * The new type or its name, for instance `float`. The values of the column are cast to this type. Default: unchanged.
   */
  dataType?: DataType | string | undefined;
};

export type IndexInfo = {
  name: string;
  columns: string[];
  type?: string;
  uuid?: string;
  /** The precise type of the index, as the format names it. */
  typeUrl?: string;
  created?: Date;
  numIndexedRows?: number;
  /** Rows added after the index was built, so a search has to compare with each of them. */
  numUnindexedRows?: number;
  /** Bytes of the files of the index. */
  sizeBytes?: number;
  numSegments?: number;
  indexVersion?: number;
  /** Details of the type of the index, as JSON. */
  details?: string;
  /** LanceDB's name of `type`, for instance `IvfPq`. Outputs and copies leave out this property and the next three. */
  readonly indexType?: string | undefined;
  readonly indexUuid?: string | undefined;
  readonly createdAt?: Date | undefined;
  readonly indexDetails?: unknown;
};
export type IndexStats = {
  type?: string;
  distanceType?: string;
  numIndexedRows: number;
  numUnindexedRows: number;
  /** Number of parts of the index. */
  numIndices?: number;
  /** LanceDB's name of `type`; outputs and copies leave it out. */
  readonly indexType?: string | undefined;
};

/** The index types, by the specification's names ("CreateTableIndexRequest"). */
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

export type CreateIndexOptions = CallOptions &
  IndexSettings & {
    /** Default, by the type of the column: IVF_PQ for vectors, BTREE for everything else. */
    type?: IndexType | undefined;
    /** Default: `<column>_idx`. */
    name?: string | undefined;
    /** Replaces an existing index of this name. Default: true. */
    replace?: boolean | undefined;
    /** The type and its settings together, as in LanceDB's package: `Index.ivfPq({ numPartitions: 8 })`. */
    config?: (IndexSettings & { readonly type: IndexType }) | undefined;
    /**
     * Maximum number of seconds to wait until the index has all rows. Default: a directory builds the index during the
     * call; a server may continue after the call.
     */
    waitTimeoutSeconds?: number | undefined;
    /** An index is always built from the rows of the table, so only `true` is allowed. */
    train?: boolean | undefined;
  };

/** Settings of an index. Each setting applies only to the index types that its description names. */
export type IndexSettings = {
  /** IVF: how the distance of two vectors is measured. Default: `l2`. A search must use the same distance type. */
  distanceType?: DistanceType | undefined;
  /** IVF: number of partitions of the vectors. Default: about the square root of the number of rows. */
  numPartitions?: number | undefined;
  /** PQ: number of sub-vectors of a vector, each stored as one code. Default: chosen by the length of the vector. */
  numSubVectors?: number | undefined;
  /** PQ: bits per code (default: 8). RQ: bits per dimension (default: 1). */
  numBits?: number | undefined;
  /** IVF: vectors per partition that are sampled to find the partitions. Default: 256. */
  sampleRate?: number | undefined;
  /** IVF: maximum number of rounds to find the partitions. Default: 50. */
  maxIterations?: number | undefined;
  /** HNSW: neighbors that a vector is linked with. Default: 20. */
  m?: number | undefined;
  /** HNSW: candidates for a neighbor. Default: 300. */
  efConstruction?: number | undefined;
  /** FTS: stores positions, for phrases. */
  withPosition?: boolean | undefined;
  /** FTS: how text is split into words: `simple` (default), `whitespace`, `raw` and others of the engine. */
  baseTokenizer?: string | undefined;
  /** FTS: the language of stems and stop words. Default: English. */
  language?: string | undefined;
  /** FTS: maximum length of a word in characters. Longer words are not indexed. */
  maxTokenLength?: number | undefined;
  /** FTS: ignores upper and lower case. */
  lowerCase?: boolean | undefined;
  /** FTS: finds words by their stems: `run` in `running`. */
  stem?: boolean | undefined;
  /** FTS: ignores words such as `the`. */
  removeStopWords?: boolean | undefined;
  /** FTS: ignores accents. */
  asciiFolding?: boolean | undefined;
  /** FTS with `baseTokenizer: 'ngram'`: minimum length of the parts of words that are indexed. Default: 3. */
  ngramMinLength?: number | undefined;
  /**
   * FTS with `baseTokenizer: 'ngram'`: maximum length of the parts of words. Default: 3, or the minimum if that is
   * larger.
   */
  ngramMaxLength?: number | undefined;
  /** FTS with `baseTokenizer: 'ngram'`: indexes only the beginnings of words. Default: false. */
  prefixOnly?: boolean | undefined;
  /** FTS: words to ignore with `removeStopWords`, instead of the stop words of the language. */
  customStopWords?: readonly string[] | undefined;
  /** FTS: rows in a block of the index, 128 (default) or 256. */
  blockSize?: 128 | 256 | undefined;
};

/**
 * A table of a catalog. Every read sees the newest version, also if another client wrote it. Exception: a table that
 * was opened at a version. A call that fails rejects with a `CatalogError`. A write to a table opened at a version
 * rejects with InvalidInput (13).
 *
 * On a server a table is found by name: after a rename calls fail with TableNotFound (4). In a directory a table in a
 * namespace stays open after a rename; to be sure, open the table by its new name.
 *
 * `Row` is the type of the table's rows. `Bigints` has the columns that `toArray({ int64: 'bigint' })` returns with
 * another type. Both are `any` if the columns are not known.
 */
export interface Table<Row = AnyRow, Bigints = AnyRow>
  extends LanceDbTableCalls<Row, Bigints>, UnsupportedCalls<typeof unsupportedTableCalls> {
  readonly name: string;
  readonly namespacePath: NamespacePath;

  /** Returns the columns of the table, with the metadata of each column and of the schema ("DescribeTable"). */
  schema(options?: CallOptions): Promise<Schema>;
  /** Returns the number of the version that is read ("DescribeTable"). */
  version(options?: CallOptions): Promise<number>;
  /**
   * Counts all rows, or those for which the SQL expression `filter` is true ("CountTableRows").
   * @throws CatalogError InvalidInput (13), ColumnNotFound (12) for a bad filter
   */
  countRows(filter?: string, options?: CallOptions): Promise<number>;
  /** Starts a query of all rows: `table.query().where('price > 10').select(['name']).limit(20)` ("QueryTable"). */
  query(): Query<Row, Bigints>;
  /** Finds the rows nearest to a vector: `table.vectorSearch(vector).limit(10)`; adds the column `_distance`. */
  vectorSearch(
    vector: ArrayLike<number> | readonly ArrayLike<number>[],
    options?: QueryOptions,
  ): Query<WithDistance<Row>, Bigints>;
  /** Finds the rows that contain words: `table.fullTextSearch('red mug').limit(10)`; adds the column `_score`. */
  fullTextSearch(query: string | FullTextQuery, options?: FullTextOptions): Query<WithScore<Row>, Bigints>;
  /**
   * Reads the rows with these ids, in this order: `table.takeRowIds([7, 3]).select(['name'])` ("QueryTable").
   * `withRowId()` returns the ids of rows. Ids of deleted rows are left out. Optimizing a table may change its row ids.
   * @throws CatalogError InvalidInput (13) for values that are not row ids
   */
  takeRowIds(rowIds: readonly (bigint | number)[]): TakeQuery<Row, Bigints>;
  /**
   * Reads the rows at these positions, in the given order ("QueryTable"). The first row of the table has position 0.
   * Positions after the last row are left out.
   * @throws CatalogError InvalidInput (13) for values that are not positions
   */
  takeOffsets(offsets: readonly (bigint | number)[]): TakeQuery<Row, Bigints>;
  /** Reads the whole table into memory. For large tables prefer `query()` with a limit, or its batches. */
  toArrow(options?: CallOptions): Promise<ArrowTable>;

  /**
   * Adds rows, or replaces all rows (`overwrite`), in one version ("InsertIntoTable"). Batches are read as they arrive;
   * a stream that fails adds nothing. In a directory a stream of more than 256 MiB is added as several versions, after
   * the whole stream has arrived.
   * @throws CatalogError SchemaValidation (20) for rows that do not match the schema, InvalidInput (13) for a source
   * that throws, ConcurrentModification (14)
   */
  add(data: TableSource, options?: AddOptions): Promise<InsertResult>;
  /**
   * Starts a merge, which matches new rows with rows of the table by the values of the columns `on`:
   * `table.mergeInsert('id').whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(rows)` ("MergeInsertIntoTable").
   * @throws CatalogError InvalidInput (13) for no column
   */
  mergeInsert(on: string | readonly string[]): MergeInsert;
  /**
   * Changes existing rows in one version: `table.update({ where: 'id = 3', values: { name: 'mug' } })` ("UpdateTable").
   * An object of columns with their SQL does the same as `valuesSql`, as in LanceDB's package: `table.update({ price:
   * 'price * 2' }, { where: 'id = 3' })`.
   * @throws CatalogError InvalidInput (13), ColumnNotFound (12), SchemaValidation (20), ConcurrentModification (14)
   */
  update(spec: UpdateSpec, options?: UpdateOptions): Promise<UpdateResult>;
  update(columns: ColumnsSql, options?: UpdateOptions): Promise<UpdateResult>;
  /**
   * Deletes the rows for which the SQL expression is true, in one version ("DeleteFromTable").
   * @throws CatalogError InvalidInput (13), ColumnNotFound (12), ConcurrentModification (14)
   */
  delete(predicate: string, options?: CallOptions): Promise<DeleteResult>;

  /** Lists the versions of the table, oldest first ("ListTableVersions"). */
  listVersions(options?: CallOptions): Promise<VersionInfo[]>;
  /**
   * Restores an earlier version as a new, newest version ("RestoreTable"). Without `version`, it restores the version
   * that is checked out, and then checks out the newest version.
   * @throws CatalogError VersionNotFound (11), InvalidInput (13) if `version` is missing and no version is checked out
   */
  restore(version?: number, options?: CallOptions): Promise<void>;
  /** Returns the tags of the table. A tag is a name of a version. */
  tags(): Tags;
  /** Returns the branches of the table. A branch is a line of versions separate from the main one. */
  branches(): Branches<Table<Row, Bigints>>;

  /**
   * Creates an index on a column and waits for it, but a server may continue to build the index afterwards
   * ("CreateTableIndex", "CreateTableScalarIndex").
   * @throws CatalogError ColumnNotFound (12), InvalidInput (13), IndexAlreadyExists (7) with `replace: false`,
   * Unsupported (0) for a type that this catalog can't create
   */
  createIndex(column: string, options?: CreateIndexOptions): Promise<void>;
  /** Lists the indexes of the table ("ListTableIndices"). */
  listIndices(options?: CallOptions): Promise<IndexInfo[]>;
  /**
   * Returns how much of the table an index covers ("DescribeTableIndexStats").
   * @throws CatalogError IndexNotFound (6)
   */
  indexStats(name: string, options?: CallOptions): Promise<IndexStats>;
  /**
   * Waits until indexes cover all rows, for instance while a server builds them ("DescribeTableIndexStats").
   * @throws CatalogError after `timeoutSeconds`: IndexNotFound (6) if an index does not exist, ServiceUnavailable (17)
   * if an index lacks rows
   */
  waitForIndex(names: string | readonly string[], timeoutSeconds: number, options?: CallOptions): Promise<void>;
  /**
   * Loads an index into memory, so that the first search is as fast as later ones.
   * @throws CatalogError IndexNotFound (6), Unsupported (0) on a server
   */
  prewarmIndex(name: string, options?: CallOptions): Promise<void>;
  /**
   * Splits a string into words as an index of text does: `table.tokenize('The red mugs', { column: 'name' })`.
   * @throws CatalogError InvalidInput (13) if there is no such index, Unsupported (0) on a server
   */
  tokenize(query: string, options: TokenizeOptions): Promise<TextToken[]>;
  /** Drops an index ("DropTableIndex"). @throws CatalogError IndexNotFound (6) */
  dropIndex(name: string, options?: CallOptions): Promise<void>;
  /**
   * Returns the size of the table in bytes, rows and fragments ("GetTableStats").
   * @throws CatalogError Unsupported (0) on a server, if the table was opened at a version or a tag
   */
  stats(options?: CallOptions): Promise<TableStats>;
  /**
   * Joins small fragments to larger ones, and adds all rows to the indexes, in new versions ("OptimizeTable"): a table
   * that was written in many small parts becomes faster to read. With `olderThan` it also removes old versions.
   * @throws CatalogError ConcurrentModification (14) while a backfill computes a column of the table or other clients
   * keep changing it, InvalidInput (13), Unsupported (0) on a server without this operation
   */
  optimize(options?: OptimizeOptions): Promise<OptimizeResult>;

  /**
   * Adds columns with values computed now, or with null until they are filled ("AlterTableAddColumns"). In a
   * directory a column of nulls takes only a few bytes. `{ name, valueSql }`, fields and schemas are accepted as in
   * LanceDB's package. `{ computed: [{ name, expression }] }` declares columns whose values `refreshColumn` computes,
   * also those of rows that are added later.
   * @throws CatalogError InvalidInput (13), ColumnNotFound (12) for a bad expression, Unsupported (0) for computed
   * columns on a server without them
   */
  addColumns(columns: NewColumns | ComputedColumns, options?: CallOptions): Promise<WriteResult>;
  /**
   * Renames columns, casts them, or lets them hold null ("AlterTableAlterColumns").
   * @throws CatalogError ColumnNotFound (12), InvalidInput (13)
   */
  alterColumns(changes: readonly ColumnChange[], options?: CallOptions): Promise<WriteResult>;
  /** Drops columns ("AlterTableDropColumns"). @throws CatalogError ColumnNotFound (12), InvalidInput (13) */
  dropColumns(names: readonly string[], options?: CallOptions): Promise<WriteResult>;
  /**
   * Computes the missing and outdated values of a computed column of the engine. A column that `backfill` fills is not
   * a computed column of the engine.
   * @throws CatalogError InvalidInput (13) for any other column, Unsupported (0) on a server
   */
  refreshColumn(column: string, options?: CallOptions): Promise<RefreshResult>;
  /**
   * Sets metadata entries of columns, in one version ("UpdateFieldMetadata"); `schema()` returns them.
   * @throws CatalogError ColumnNotFound (12), InvalidInput (13), Unsupported (0) on a server without this operation
   */
  updateFieldMetadata(updates: readonly FieldMetadataUpdate[], options?: CallOptions): Promise<WriteResult>;
  /**
   * Marks a column as the one that identifies rows, in the metadata of the column ("UpdateFieldMetadata"). Nothing
   * checks that the values are unique. The column must hold strings, bytes, or signed integers of at least 32 bits, and
   * must not allow null.
   * @throws CatalogError ColumnNotFound (12), InvalidInput (13) also if the table has such a column already
   */
  setUnenforcedPrimaryKey(column: string | readonly string[], options?: CallOptions): Promise<WriteResult>;
  /**
   * Sets entries of the schema's metadata (`null` removes one) and returns all current entries
   * ("UpdateTableSchemaMetadata").
   * @throws CatalogError Unsupported (0) in a directory, where the metadata is set when the table is created
   */
  updateSchemaMetadata(
    metadata: Readonly<Record<string, string | null>>,
    options?: CallOptions,
  ): Promise<Record<string, string>>;

  /**
   * Starts a job on the server that computes a column ("AlterTableBackfillColumns"); `catalog.jobs` shows its
   * progress.
   * @throws CatalogError Unsupported (0) if the server runs no jobs, ColumnNotFound (12)
   */
  backfillColumn(column: string, options?: BackfillColumnOptions): Promise<{ jobId: string }>;

  /**
   * Computes a column with a function, in a job that outlives the notebook: `await table.backfill('length')`. Without
   * options, it uses the function stored on the column. `{ function: udf(…) }` uses another function, which is then
   * stored on the column.
   * @throws CatalogError Unsupported (0) if this process can't run jobs; the returned job rejects with a JobError if it
   * fails
   */
  backfill(column: string, options?: TableBackfillOptions): BackfillJob;
  /** Returns what `backfill` would do, counted or estimated; changes nothing. Rejects with a JobError. */
  planBackfill(column: string, options?: TableBackfillOptions): Promise<BackfillPlan>;
  /**
   * Computes one fragment, or only its first rows, without writing them, to preview the results of the function.
   * Rejects with a JobError.
   */
  tryBackfill(column: string, options?: TableBackfillOptions): Promise<TableTrial>;

  /**
   * Opens the table panel of VS Code: `await table.view({ where: 'price > 10', orderBy: 'name' })`. Other notebooks show
   * the first rows instead.
   * @throws CatalogError Unsupported (0) outside of notebooks, for a table opened at a tag or a branch, and if the window
   * can't open the catalog; InvalidInput (13) for an unknown option or an invalid value
   */
  view(options?: TableViewOptions): Promise<void>;
}

/** Not supported as a value: in LanceDB's package it is a class. */
export const Table = unsupportedValue('Table', 'Call db.openTable() or db.createTable().');
