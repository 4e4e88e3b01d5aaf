import type { Schema, Table as ArrowTable } from '#arrow';
import type { CallOptions, CreateMode, DropNamespaceOptions } from '#catalog/arguments/options.ts';
import type { NamespacePath } from '#shared/names.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import type { Operation } from './contract.ts';
import type { Jobs } from './jobs.ts';
import type { ExportCompression, ExportFormat } from './export/exportFormats.ts';
import type { LanceDbCatalogCalls, TableNamesOptions } from './lancedb/lanceDbCatalog.ts';
import type { UnsupportedCalls, unsupportedCatalogCalls } from './lancedb/unsupported.ts';
import type { ColumnOrdering, Ordering } from './query/querySpec.ts';
import type { Table } from './table/table.ts';
import type { TableSource } from './table/tableData.ts';
import type { NearestSpec } from './view/nearestSpec.ts';

/**
 * Whether a catalog supports an operation. `unknown`: the server has not yet answered a request for the operation, so
 * callers may try it.
 */
export type Capability = 'yes' | 'no' | 'unknown';

/** What is known about each operation of a catalog. Menus leave out operations that are `no`. */
export type Capabilities = Readonly<Record<Operation, Capability>>;

export type CapabilityOptions = CallOptions & {
  /**
   * Operations to test on the server. Only reading operations are tested. Other operations stay `unknown` until their
   * first use.
   */
  probe?: readonly Operation[] | undefined;
};

/** Target of a copy: a path in this catalog, or a path in another catalog. */
export type CopyTarget = readonly string[] | { catalog?: Catalog; path: readonly string[] };

export type CopyProgress = {
  /** The current table, as `shop/eu/orders`. */
  table: string;
  rowsDone: number;
  rowsTotal: number;
};

export type CopyOptions = CallOptions & {
  /** What the path names. Needed only if a table and a namespace have the same path. */
  kind?: 'table' | 'namespace' | undefined;
  /** Replaces existing tables once their copy is complete. Without it an existing table is an error. */
  overwrite?: boolean | undefined;
  /** Bytes that the rows of one chunk take up in memory. A copy can resume after each chunk. Default: 64 MiB. */
  chunkBytes?: number | undefined;
  onProgress?: ((progress: CopyProgress) => void) | undefined;
};

export type CopiedTable = {
  from: string;
  to: string;
  /** The version of the source that was copied. */
  version: number;
  rows: number;
  /**
   * `copied`: this call copied all rows. `resumed`: this call continued an earlier try. `there`: an earlier try had
   * already copied this version.
   */
  how: 'copied' | 'resumed' | 'there';
  indexes: string[];
  /** What could not be copied, one sentence each. */
  warnings: string[];
};

/**
 * A table that was not copied. `declared`: it has no data yet, which is not a failure. `failed`: any other reason,
 * for instance that it is itself an unfinished copy.
 */
export type SkippedTable = { from: string; reason: string; why: 'declared' | 'failed' };

export type CopyResult = { tables: CopiedTable[]; skipped: SkippedTable[] };

/** Progress of an export: the number of rows that are written. */
export type ExportProgress = { rows: number };

export type ExportOptions = CallOptions & {
  /** Only rows for which this SQL expression is true. */
  where?: string | undefined;
  /**
   * Columns to sort by, as in `query().orderBy`. Rows with equal values are in the order of the table. NaN is larger than
   * every number; nulls are last.
   */
  orderBy?: string | Ordering | ColumnOrdering | readonly (string | Ordering | ColumnOrdering)[] | undefined;
  /**
   * Only the rows nearest to a vector, with their distances in the column `_distance`; in the order of the distance unless
   * `orderBy` is set. `where` is applied before the search.
   */
  nearest?: NearestSpec | undefined;
  /** Only these columns, in this order. Default: all. */
  columns?: readonly string[] | undefined;
  /** Maximum number of rows. */
  limit?: number | undefined;
  /** Reads this version of the table. Default: the newest. */
  version?: number | undefined;
  /** Reads the version of this tag. Not together with `version`. */
  tag?: string | undefined;
  /** Reads this branch of the table instead of the main one. */
  branch?: string | undefined;
  /** Default: the one that the ending of the file stands for, such as `.csv` or `.csv.gz`. */
  format?: ExportFormat | undefined;
  /** Compresses CSV and JSON. Default: by the ending `.gz` or `.zst`, otherwise none. */
  compression?: ExportCompression | undefined;
  /**
   * In CSV, puts `'` before text that spreadsheets would run as a formula. Default: false, because the values are then
   * not exact.
   */
  escapeFormulas?: boolean | undefined;
  /** Replaces an existing file. Default: false. */
  overwrite?: boolean | undefined;
  onProgress?: ((progress: ExportProgress) => void) | undefined;
};

export type ExportResult = {
  /** The absolute path of the file. */
  file: string;
  format: ExportFormat;
  rows: number;
  bytes: number;
  /** The version of the table whose rows were written. Missing if a server reports no versions. */
  version?: number;
};

/**
 * A table of a comparison: its path in this catalog, or also its version, tag or branch, or another catalog. Without a
 * version it is the newest one.
 */
export type ComparedTable =
  | readonly string[]
  | {
      path: readonly string[];
      version?: number | undefined;
      tag?: string | undefined;
      branch?: string | undefined;
      catalog?: Catalog | undefined;
    };

/** Progress of a comparison: the differing rows so far, and the number of rows that were read of both tables. */
export type CompareProgress = { added: number; removed: number; changed: number; rows: number };

export type CompareOptions = CallOptions & {
  /**
   * The columns that identify a row in both tables. Default for two versions of a table: its row ids, if they are
   * stable.
   */
  key?: string | readonly string[] | undefined;
  /** The columns that are compared, in addition to the key. Default: all that both tables have. */
  columns?: readonly string[] | undefined;
  /** Return only rows of this kind; all are counted. Default: all kinds. */
  kind?: 'added' | 'removed' | 'changed' | undefined;
  /** Maximum number of differing rows in the result; all are counted. Default: 1,000. */
  limit?: number | undefined;
  onProgress?: ((progress: CompareProgress) => void) | undefined;
};

export type CompareResult = {
  /** Rows that only the second table has. */
  added: number;
  /** Rows that only the first table has. */
  removed: number;
  /** Rows of both tables with different values. */
  changed: number;
  /** Rows that at least one of the tables has. */
  compared: number;
  /** Columns that only one of the tables has, or that have two types. Their values are not compared. */
  columnChanges: { name: string; before?: string; after?: string }[];
  /** The columns that identify a row. Missing if row ids do. */
  key?: string[];
  /**
   * The differing rows in the order of the key or of their row ids. The column `change` is `added`, `removed` or
   * `changed`; `_rowid` has the row id, if there is no key. The other columns have the values of the second table, or those of a removed row. `changed` lists the
   * columns with other values, and columns such as `price_before` have their earlier values, otherwise null.
   */
  rows: ArrowTable;
  /** Whether `rows` has all differing rows, or all of the kind. */
  isWhole: boolean;
  /** The compared versions. Missing if a server reports no versions. */
  before?: number;
  after?: number;
};

export type PageOptions = CallOptions & {
  /** The `pageToken` of the previous page; leave out for the first page. */
  pageToken?: string | undefined;
  /** Names in a page, 1-1000. Default: 100. */
  limit?: number | undefined;
};

export type ListTablesOptions = PageOptions & {
  /** False: omits tables whose name is reserved ("DeclareTable") but which have no data yet. Default: true. */
  includeDeclared?: boolean | undefined;
};

export type NamespacePage = { namespaces: string[]; pageToken?: string };
export type TablePage = { tables: string[]; pageToken?: string };

/**
 * The namespace of a table. Every call that names a table takes the namespace as a named option or as a positional
 * array.
 */
export type InNamespace = { namespacePath?: NamespacePath | undefined };

export type CreateNamespaceOptions = CallOptions & {
  /**
   * `create` (default) fails on an existing namespace, `exist_ok` keeps it, `overwrite` is not supported by `dir`.
   */
  mode?: CreateMode | undefined;
  /** Properties to store with the name. Default: none. */
  properties?: Record<string, string> | undefined;
};

export type CreateTableOptions = CallOptions &
  InNamespace & {
    /** `create` (default) fails on an existing table, `exist_ok` keeps it unchanged, `overwrite` replaces it. */
    mode?: CreateMode | undefined;
    /** True: like `mode: 'exist_ok'`, as in LanceDB's package. */
    existOk?: boolean | undefined;
    /** The columns, their order, types and metadata. Default: inferred from the data. */
    schema?: Schema | undefined;
  };
/** Options that require a schema, because there are no rows to infer the schema from. */
type WithSchema<O extends { schema?: Schema | undefined }> = O & { schema: Schema };
export type CreateEmptyTableOptions = CallOptions &
  InNamespace & {
    /** `create` (default) fails on an existing table, `exist_ok` keeps it unchanged, `overwrite` replaces it. */
    mode?: CreateMode | undefined;
    /** True: like `mode: 'exist_ok'`, as in LanceDB's package. */
    existOk?: boolean | undefined;
  };
export type OpenTableOptions = CallOptions &
  InNamespace & {
    /** Opens this version of the table, read-only. Default: the newest. */
    version?: number | undefined;
    /** Opens the version of this tag, read-only. Not together with `version`. */
    tag?: string | undefined;
    /** Opens this branch of the table instead of the main one. */
    branch?: string | undefined;
  };
export type DeclareTableOptions = CallOptions &
  InNamespace & {
    /** The location for the data of the table. Default: chosen by the catalog. */
    location?: string | undefined;
    /** Properties to store with the name. Default: none. */
    properties?: Record<string, string> | undefined;
  };
export type RegisterTableOptions = CallOptions &
  InNamespace & {
    /** `create` (default) fails on an existing table, `overwrite` changes the location of the name. */
    mode?: 'create' | 'overwrite' | undefined;
    /** Properties to store with the name. Default: none. */
    properties?: Record<string, string> | undefined;
  };
export type DropTableOptions = CallOptions & InNamespace;
export type RenameTableOptions = CallOptions &
  InNamespace & {
    /** The new namespace, `[]` for the root. Default: the current one. */
    newNamespacePath?: NamespacePath | undefined;
  };

export type TableDescription = {
  name: string;
  namespacePath: NamespacePath;
  /** Missing if a server reports no versions. */
  version?: number;
  columns: ColumnInfo[];
  /** Number of rows in `version`. Missing if a server does not count rows. */
  numRows?: number;
  /** Location of the table's files, as the catalog reports it. Missing if a server withholds the location. */
  location?: string;
};

/**
 * A catalog of tables in nested namespaces: a directory (`dir`) or a server (`rest`), with the same calls. New names
 * consist of letters, digits, `_`, `-` and `.`; the client checks them before it sends a request. Tables and namespaces
 * that exist already are listed, opened and dropped whatever characters their names have.
 *
 * Every call rejects with a `CatalogError`: its `code` is one of the codes of the Lance Namespace specification (0-23),
 * `operation` is the specification's name of the operation, and `identifier` is the table or namespace of the call.
 */
export interface Catalog extends LanceDbCatalogCalls, UnsupportedCalls<typeof unsupportedCatalogCalls> {
  readonly implementation: 'dir' | 'rest';
  /** The root directory or the URL, for display. */
  readonly location: string;

  /**
   * Returns what is known about each operation of this catalog. For `dir` this is what the engine supports. For `rest`
   * this is what the server's responses have shown so far; `probe` also tests reading operations on the server.
   */
  capabilities(options?: CapabilityOptions): Promise<Capabilities>;

  /**
   * Creates a namespace in an existing parent ("CreateNamespace").
   * @throws CatalogError InvalidInput (13) for an invalid name, NamespaceAlreadyExists (2), NamespaceNotFound (1) for
   * a missing parent
   */
  createNamespace(namespacePath: NamespacePath, options?: CreateNamespaceOptions): Promise<void>;
  /**
   * Lists the namespaces directly in `namespacePath` (default: the root), one page at a time ("ListNamespaces"). The
   * last page has no `pageToken`.
   * @throws CatalogError NamespaceNotFound (1)
   */
  listNamespaces(namespacePath?: NamespacePath, options?: PageOptions): Promise<NamespacePage>;
  /** Returns the properties of a namespace ("DescribeNamespace"). @throws CatalogError NamespaceNotFound (1) */
  describeNamespace(
    namespacePath: NamespacePath,
    options?: CallOptions,
  ): Promise<{ properties: Record<string, string> }>;
  /** Returns whether a namespace exists ("NamespaceExists"). */
  namespaceExists(namespacePath: NamespacePath, options?: CallOptions): Promise<boolean>;
  /**
   * Drops a namespace ("DropNamespace"). `cascade` drops its content first, one item after another; this can't be
   * undone.
   * @throws CatalogError NamespaceNotFound (1) unless `skip`, NamespaceNotEmpty (3) unless `cascade`
   */
  dropNamespace(namespacePath: NamespacePath, options?: DropNamespaceOptions): Promise<void>;

  /**
   * Lists the tables directly in `namespacePath` (default: the root), one page at a time ("ListTables"). The last
   * page has no `pageToken`.
   * @throws CatalogError NamespaceNotFound (1)
   */
  listTables(namespacePath?: NamespacePath | ListTablesOptions, options?: ListTablesOptions): Promise<TablePage>;
  /**
   * Returns the names of all tables directly in `namespacePath`, from all pages ("ListTables"). With `limit` or
   * `startAfter`, returns only some of the names, sorted by their characters.
   * @throws CatalogError NamespaceNotFound (1)
   */
  tableNames(namespacePath?: NamespacePath | TableNamesOptions, options?: TableNamesOptions): Promise<string[]>;
  /**
   * Returns columns, rows and version of a table ("DescribeTable").
   * @throws CatalogError TableNotFound (4), NamespaceNotFound (1), VersionNotFound (11), TagNotFound (8),
   * BranchNotFound (22)
   */
  describeTable(name: string, options?: OpenTableOptions): Promise<TableDescription>;
  describeTable(
    name: string,
    namespacePath: NamespacePath,
    options?: Omit<OpenTableOptions, 'namespacePath'>,
  ): Promise<TableDescription>;

  /** Returns whether a table exists ("TableExists"). */
  tableExists(name: string, options?: CallOptions & InNamespace): Promise<boolean>;
  tableExists(name: string, namespacePath: NamespacePath, options?: CallOptions): Promise<boolean>;

  /**
   * Returns whether a table is only declared: its name is reserved, but it has no data to read yet ("DescribeTable"
   * with `check_declared`). Also false if the server does not report whether a table is declared. In an object store, a
   * table whose files were deleted looks like a declared table.
   * @throws CatalogError TableNotFound (4), NamespaceNotFound (1)
   */
  isOnlyDeclared(name: string, options?: CallOptions & InNamespace): Promise<boolean>;
  isOnlyDeclared(name: string, namespacePath: NamespacePath, options?: CallOptions): Promise<boolean>;

  /**
   * Creates a table from rows, from an Arrow table, or from batches as they arrive ("CreateTable").
   *
   * In rows, numbers become Float64, bigints become Int64, `Date` values become Timestamp in microseconds UTC, and
   * `Uint8Array` values become Binary. Arrays become List. Arrays of numbers become FixedSizeList<Float32> if three
   * conditions hold: the column name contains "vector" or "embedding", all arrays have the same length, and a Float32
   * changes no whole number in them. The option `schema` overrides these types.
   *
   * `schema` is required if a batch source may yield no batch. Without data (`undefined`), `schema` defines an empty
   * table. Batches are sent as they arrive; if their source fails, no table is created.
   * @throws CatalogError TableAlreadyExists (5), NamespaceNotFound (1), InvalidInput (13) for an invalid name and for a
   * source that throws, SchemaValidation (20) for rows that do not match the schema
   */
  createTable(name: string, data: TableSource, options?: CreateTableOptions): Promise<Table>;
  createTable(name: string, data: undefined, options: WithSchema<CreateTableOptions>): Promise<Table>;
  createTable(
    name: string,
    data: TableSource,
    namespacePath: NamespacePath | undefined,
    options?: Omit<CreateTableOptions, 'namespacePath'>,
  ): Promise<Table>;
  createTable(
    name: string,
    data: undefined,
    namespacePath: NamespacePath | undefined,
    options: WithSchema<Omit<CreateTableOptions, 'namespacePath'>>,
  ): Promise<Table>;
  createTable(
    table: { name: string; data: TableSource } & CreateTableOptions,
    namespacePath?: NamespacePath,
  ): Promise<Table>;
  /** Creates a table without rows ("CreateTable"). @throws CatalogError like `createTable` */
  createEmptyTable(name: string, schema: Schema, options?: CreateEmptyTableOptions): Promise<Table>;
  createEmptyTable(
    name: string,
    schema: Schema,
    namespacePath: NamespacePath | undefined,
    options?: Omit<CreateEmptyTableOptions, 'namespacePath'>,
  ): Promise<Table>;
  /**
   * Reserves a name and a location for a table whose data another client writes later ("DeclareTable").
   * @throws CatalogError TableAlreadyExists (5), NamespaceNotFound (1), InvalidInput (13)
   */
  declareTable(name: string, options?: DeclareTableOptions): Promise<{ location: string }>;
  declareTable(
    name: string,
    namespacePath: NamespacePath,
    options?: Omit<DeclareTableOptions, 'namespacePath'>,
  ): Promise<{ location: string }>;
  /**
   * Gives a name to existing table data at `location` ("RegisterTable").
   * @throws CatalogError TableAlreadyExists (5), NamespaceNotFound (1), InvalidInput (13), Unsupported (0)
   */
  registerTable(name: string, location: string, options?: RegisterTableOptions): Promise<void>;
  registerTable(
    name: string,
    location: string,
    namespacePath: NamespacePath,
    options?: Omit<RegisterTableOptions, 'namespacePath'>,
  ): Promise<void>;
  /**
   * Removes a table from the catalog but keeps its data ("DeregisterTable").
   * @throws CatalogError TableNotFound (4)
   */
  deregisterTable(name: string, options?: CallOptions & InNamespace): Promise<{ location?: string }>;
  deregisterTable(name: string, namespacePath: NamespacePath, options?: CallOptions): Promise<{ location?: string }>;
  /**
   * Opens a table to read and write ("DescribeTable"). A table that is opened at a version or a tag is read-only.
   * @throws CatalogError TableNotFound (4), NamespaceNotFound (1), VersionNotFound (11), TagNotFound (8),
   * BranchNotFound (22)
   */
  openTable(name: string, options?: OpenTableOptions): Promise<Table>;
  openTable(
    name: string,
    namespacePath: NamespacePath | undefined,
    options?: Omit<OpenTableOptions, 'namespacePath'>,
  ): Promise<Table>;
  /**
   * Drops a table with its data; this can't be undone ("DropTable").
   * @throws CatalogError TableNotFound (4), NamespaceNotFound (1)
   */
  dropTable(name: string, options?: DropTableOptions): Promise<void>;
  dropTable(
    name: string,
    namespacePath: NamespacePath | undefined,
    options?: Omit<DropTableOptions, 'namespacePath'>,
  ): Promise<void>;
  /**
   * Renames a table, also into another namespace ("RenameTable"). At any moment exactly one of the two names exists.
   * Renaming a table to its current name and namespace has no effect.
   * @throws CatalogError TableNotFound (4), TableAlreadyExists (5), NamespaceNotFound (1), InvalidInput (13),
   * Unsupported (0)
   */
  renameTable(name: string, newName: string, options?: RenameTableOptions): Promise<void>;
  renameTable(
    name: string,
    newName: string,
    namespacePath: NamespacePath,
    options?: Omit<RenameTableOptions, 'namespacePath'>,
  ): Promise<void>;

  /**
   * Copies a table, or a namespace with its content, within this catalog or to another one: `db.copy(['shop'], {
   * catalog: company, path: ['shop'] })`. Streams the rows, resumes an earlier try, recreates the indexes, and compares
   * row counts and checksums. Not part of the specification.
   * @throws CatalogError TableAlreadyExists (5) if `overwrite` is not set and the target has a table that is neither an
   * unfinished copy of this table nor an unchanged copy of its newest version; TableNotFound (4), NamespaceNotFound
   * (1), InvalidInput (13)
   */
  copy(from: readonly string[], to: CopyTarget, options?: CopyOptions): Promise<CopyResult>;

  /**
   * Writes rows of a table to a file: `db.export(['shop', 'orders'], 'orders.parquet', { where: 'amount > 400' })`. The
   * rows are those of one version, and memory does not grow with their number. The file appears when it is complete.
   * Not part of the specification.
   * @throws CatalogError TableNotFound (4), NamespaceNotFound (1), ColumnNotFound (12), VersionNotFound (11);
   * InvalidInput (13) for a wrong filter, an unknown ending, or an existing file without `overwrite`; PermissionDenied
   * (15) if the file can't be written; Unsupported (0) for a column that has no order or is not in the format
   */
  export(path: readonly string[], file: string, options?: ExportOptions): Promise<ExportResult>;

  /**
   * Compares two versions of a table, or two tables: `db.compare({ path: ['shop', 'orders'], version: 3 }, ['shop',
   * 'orders'])`. Returns the number of rows that were added, removed and changed, the first of them, and the columns
   * that differ. Memory does not grow with the number of rows. Not part of the specification.
   * @throws CatalogError TableNotFound (4), NamespaceNotFound (1), ColumnNotFound (12), VersionNotFound (11),
   * TagNotFound (8); InvalidInput (13) for a key that several rows have, and for two tables without a key; Unsupported
   * (0) without a key if row ids are not stable, and for a column that has no order or can't be compared
   */
  compare(before: ComparedTable, after: ComparedTable, options?: CompareOptions): Promise<CompareResult>;

  /**
   * Jobs that the server runs, for instance backfills. Each call rejects with Unsupported (0) if the server runs no
   * jobs.
   */
  readonly jobs: Jobs;

  /** Closes the connections; the catalog can't be used afterwards. */
  close(): Promise<void>;
}
