import type { RecordBatch, Schema, Table as ArrowTable } from '#arrow';
import type { NamespacePath } from '#shared/names.ts';
import type { ColumnInfo } from '#shared/messages.ts';
import type { Query } from './query.ts';

/** Options that every call takes. */
export type CallOptions = {
  /** Cancels the call, down to the socket where there is one. */
  signal?: AbortSignal | undefined;
};

export type PageOptions = CallOptions & {
  /** The `pageToken` of the page before; none for the first page. */
  pageToken?: string | undefined;
  /** Names in a page, 1-1000; 100 when not given. */
  limit?: number | undefined;
};

export type NamespacePage = { namespaces: string[]; pageToken?: string };
export type TablePage = { tables: string[]; pageToken?: string };

/** Where a table is. Every call that names a table takes it as a named option or as the positional array. */
export type InNamespace = { namespacePath?: NamespacePath | undefined };

export type CreateMode = 'create' | 'exist_ok' | 'overwrite';

export type CreateNamespaceOptions = CallOptions & {
  /** `create` (default) fails on an existing namespace, `exist_ok` keeps it, `overwrite` is not offered by `dir`. */
  mode?: CreateMode | undefined;
  properties?: Record<string, string> | undefined;
};

export type DropNamespaceOptions = CallOptions & {
  /** `fail` (default) or `skip` when the namespace is not there. */
  mode?: 'fail' | 'skip' | undefined;
  /** `restrict` (default) refuses a namespace that holds something, `cascade` drops what it holds first. */
  behavior?: 'restrict' | 'cascade' | undefined;
};

export type CreateTableOptions = CallOptions &
  InNamespace & { mode?: CreateMode | undefined; schema?: Schema | undefined };
export type CreateEmptyTableOptions = CallOptions & InNamespace & { mode?: CreateMode | undefined };
export type OpenTableOptions = CallOptions &
  InNamespace & {
    /** Opens the table as it was at this version, read-only; the newest when not given. */
    version?: number | undefined;
  };
export type DropTableOptions = CallOptions & InNamespace;
export type RenameTableOptions = CallOptions & InNamespace & { newNamespacePath?: NamespacePath | undefined };

/** Rows as objects, or an Arrow table made by any copy of apache-arrow. */
export type TableData = readonly Record<string, unknown>[] | ArrowTable;

export type TableDescription = {
  name: string;
  namespacePath: NamespacePath;
  version: number;
  columns: ColumnInfo[];
  numRows: number;
};

export type VersionInfo = { version: number; timestamp: Date };

/**
 * A catalog of tables in nested namespaces: a directory (`dir`) or a server (`rest`), the same calls on either side.
 * Names are checked before anything is sent: letters, digits, `_`, `-` and `.`.
 *
 * Every call rejects with a `CatalogError`, whose `code` is one of the Lance Namespace specification's (0-21).
 */
export interface Catalog {
  readonly implementation: 'dir' | 'rest';
  /** The root directory or the address, for people to read. */
  readonly location: string;

  createNamespace(namespacePath: NamespacePath, options?: CreateNamespaceOptions): Promise<void>;
  /** Names of the namespaces directly under `namespacePath`, a page at a time. */
  listNamespaces(namespacePath?: NamespacePath, options?: PageOptions): Promise<NamespacePage>;
  describeNamespace(
    namespacePath: NamespacePath,
    options?: CallOptions,
  ): Promise<{ properties: Record<string, string> }>;
  dropNamespace(namespacePath: NamespacePath, options?: DropNamespaceOptions): Promise<void>;

  /** Names of the tables directly in `namespacePath`, a page at a time. */
  listTables(namespacePath?: NamespacePath, options?: PageOptions): Promise<TablePage>;
  /** Names of all tables directly in `namespacePath`. */
  tableNames(namespacePath?: NamespacePath, options?: CallOptions): Promise<string[]>;
  describeTable(name: string, options?: OpenTableOptions): Promise<TableDescription>;
  describeTable(
    name: string,
    namespacePath: NamespacePath,
    options?: Omit<OpenTableOptions, 'namespacePath'>,
  ): Promise<TableDescription>;

  /**
   * Makes a table of rows or of an Arrow table. In rows, whole numbers become Int64, number arrays FixedSizeList<Float32>,
   * `Date` a Timestamp in microseconds UTC, `Uint8Array` Binary; `schema` overrides.
   */
  createTable(name: string, data: TableData, options?: CreateTableOptions): Promise<Table>;
  createTable(
    name: string,
    data: TableData,
    namespacePath: NamespacePath,
    options?: Omit<CreateTableOptions, 'namespacePath'>,
  ): Promise<Table>;
  createEmptyTable(name: string, schema: Schema, options?: CreateEmptyTableOptions): Promise<Table>;
  createEmptyTable(
    name: string,
    schema: Schema,
    namespacePath: NamespacePath,
    options?: Omit<CreateEmptyTableOptions, 'namespacePath'>,
  ): Promise<Table>;
  openTable(name: string, options?: OpenTableOptions): Promise<Table>;
  openTable(
    name: string,
    namespacePath: NamespacePath,
    options?: Omit<OpenTableOptions, 'namespacePath'>,
  ): Promise<Table>;
  dropTable(name: string, options?: DropTableOptions): Promise<void>;
  dropTable(
    name: string,
    namespacePath: NamespacePath,
    options?: Omit<DropTableOptions, 'namespacePath'>,
  ): Promise<void>;
  /** Rejects with Unsupported (0) on `dir`, whose engine can't rename. */
  renameTable(name: string, newName: string, options?: RenameTableOptions): Promise<void>;
  renameTable(
    name: string,
    newName: string,
    namespacePath: NamespacePath,
    options?: Omit<RenameTableOptions, 'namespacePath'>,
  ): Promise<void>;

  /** Lets go of connections; the catalog is not usable afterwards. */
  close(): Promise<void>;
}

/** A table of a catalog. It follows other writers: every read sees the newest version unless one was opened. */
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
  vectorSearch(vector: ArrayLike<number>, options?: { column?: string; distanceType?: DistanceType }): Query;
  add(data: TableData, options?: CallOptions & { mode?: 'append' | 'overwrite' | undefined }): Promise<void>;
  /** Deletes the rows for which the SQL expression holds. */
  delete(predicate: string, options?: CallOptions): Promise<void>;
  listVersions(options?: CallOptions): Promise<VersionInfo[]>;
  /** The whole table in memory. Prefer `query()` with a limit, or its batches, for large ones. */
  toArrow(options?: CallOptions): Promise<ArrowTable>;
}

export type DistanceType = 'l2' | 'cosine' | 'dot';

/** What a query asks for; plain data, the same for every implementation. */
export type QuerySpec = {
  columns?: readonly string[];
  filter?: string;
  limit?: number;
  offset?: number;
  vector?: { values: readonly number[]; column?: string; distanceType?: DistanceType };
};

/** Runs a query: a stream of record batches, the schema even where there is no row. */
export type QueryRunner = (
  spec: QuerySpec,
  signal?: AbortSignal,
) => Promise<{ schema: Schema; batches: AsyncIterable<RecordBatch> }>;
