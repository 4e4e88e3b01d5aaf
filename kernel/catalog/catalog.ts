import type { Schema } from '#arrow';
import type { CallOptions, CreateMode, DropNamespaceOptions } from '#catalog/arguments/options.ts';
import type { NamespacePath } from '#shared/names.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import type { Operation } from './contract.ts';
import type { Jobs } from './jobs.ts';
import type { Table } from './table.ts';
import type { TableSource } from './tableData.ts';

/** Whether an operation works here; `unknown` until the server has answered one, and then worth trying. */
export type Capability = 'yes' | 'no' | 'unknown';

/** What a catalog can do. A menu leaves out what is `no`. */
export type Capabilities = Readonly<Record<Operation, Capability>>;

export type CapabilityOptions = CallOptions & {
  /** Operations to find out about, by requests that change nothing; those that can't be asked so stay `unknown`. */
  probe?: readonly Operation[] | undefined;
};

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

export type PageOptions = CallOptions & {
  /** The `pageToken` of the page before; none for the first page. */
  pageToken?: string | undefined;
  /** Names in a page, 1-1000; 100 when not given. */
  limit?: number | undefined;
};

export type ListTablesOptions = PageOptions & {
  /**
   * False: without tables whose name is taken ("DeclareTable") and that nobody has written yet. True when not given.
   */
  includeDeclared?: boolean | undefined;
};

export type NamespacePage = { namespaces: string[]; pageToken?: string };
export type TablePage = { tables: string[]; pageToken?: string };

/** Where a table is. Every call that names a table takes it as a named option or as the positional array. */
export type InNamespace = { namespacePath?: NamespacePath | undefined };

export type CreateNamespaceOptions = CallOptions & {
  /** `create` (default) fails on an existing namespace, `exist_ok` keeps it, `overwrite` is not offered by `dir`. */
  mode?: CreateMode | undefined;
  /** What is kept beside the name; none when not given. */
  properties?: Record<string, string> | undefined;
};

export type CreateTableOptions = CallOptions &
  InNamespace & {
    /** `create` (default) fails on an existing table, `exist_ok` keeps it as it is, `overwrite` takes its place. */
    mode?: CreateMode | undefined;
    /** The columns, their order, types and metadata; told from the data when not given. */
    schema?: Schema | undefined;
  };
/** Options that must hold the schema, because there are no rows to infer one from. */
type WithSchema<O extends { schema?: Schema | undefined }> = O & { schema: Schema };
export type CreateEmptyTableOptions = CallOptions &
  InNamespace & {
    /** `create` (default) fails on an existing table, `exist_ok` keeps it as it is, `overwrite` takes its place. */
    mode?: CreateMode | undefined;
  };
export type OpenTableOptions = CallOptions &
  InNamespace & {
    /** Opens the table as it was at this version, read-only; the newest when not given. */
    version?: number | undefined;
    /** Opens the version that this tag names, read-only. Not together with `version`. */
    tag?: string | undefined;
    /** Opens this branch of the table instead of its main line. */
    branch?: string | undefined;
  };
export type DeclareTableOptions = CallOptions &
  InNamespace & {
    /** Where its data will be; the catalog chooses when not given. */
    location?: string | undefined;
    /** What is kept beside the name; none when not given. */
    properties?: Record<string, string> | undefined;
  };
export type RegisterTableOptions = CallOptions &
  InNamespace & {
    /** `create` (default) fails where there is a table of this name, `overwrite` lets the name point elsewhere. */
    mode?: 'create' | 'overwrite' | undefined;
    /** What is kept beside the name; none when not given. */
    properties?: Record<string, string> | undefined;
  };
export type DropTableOptions = CallOptions & InNamespace;
export type RenameTableOptions = CallOptions &
  InNamespace & {
    /** Where it goes, `[]` for the root; where it is when not given. */
    newNamespacePath?: NamespacePath | undefined;
  };

export type TableDescription = {
  name: string;
  namespacePath: NamespacePath;
  version: number;
  columns: ColumnInfo[];
  /** Rows of that version. */
  numRows: number;
  /** Where its files are, as the catalog writes it; a server may keep that to itself. */
  location?: string;
};

/**
 * A catalog of tables in nested namespaces: a directory (`dir`) or a server (`rest`), the same calls on either side.
 * Names that are made are checked before anything is sent (letters, digits, `_`, `-` and `.`); names that exist already
 * are listed, opened and dropped whatever they are.
 *
 * Every call rejects with a `CatalogError`: its `code` is one of the Lance Namespace specification's (0-23), `operation`
 * the specification's name of what was asked, `identifier` what it was asked of.
 */
export interface Catalog {
  readonly implementation: 'dir' | 'rest';
  /** The root directory or the address, for people to read. */
  readonly location: string;

  /**
   * What this catalog can do, as far as is known: from the engine for `dir`, for `rest` from what the server has answered
   * so far. `probe` asks the server about operations by requests that change nothing.
   */
  capabilities(options?: CapabilityOptions): Promise<Capabilities>;

  /**
   * Makes a namespace in a parent that is there ("CreateNamespace").
   * @throws CatalogError InvalidInput (13) for a name that can't be made, NamespaceAlreadyExists (2),
   * NamespaceNotFound (1) for a missing parent
   */
  createNamespace(namespacePath: NamespacePath, options?: CreateNamespaceOptions): Promise<void>;
  /**
   * Names of the namespaces directly under `namespacePath` (the root when not given), a page at a time
   * ("ListNamespaces"). A page without a `pageToken` is the last.
   * @throws CatalogError NamespaceNotFound (1)
   */
  listNamespaces(namespacePath?: NamespacePath, options?: PageOptions): Promise<NamespacePage>;
  /** The properties of a namespace ("DescribeNamespace"). @throws CatalogError NamespaceNotFound (1) */
  describeNamespace(
    namespacePath: NamespacePath,
    options?: CallOptions,
  ): Promise<{ properties: Record<string, string> }>;
  /** Whether there is such a namespace ("NamespaceExists"). */
  namespaceExists(namespacePath: NamespacePath, options?: CallOptions): Promise<boolean>;
  /**
   * Drops a namespace ("DropNamespace"); with `cascade` all that is in it, one after the other, for good.
   * @throws CatalogError NamespaceNotFound (1) unless `skip`, NamespaceNotEmpty (3) unless `cascade`
   */
  dropNamespace(namespacePath: NamespacePath, options?: DropNamespaceOptions): Promise<void>;

  /**
   * Names of the tables directly in `namespacePath` (the root when not given), a page at a time ("ListTables"). A page
   * without a `pageToken` is the last.
   * @throws CatalogError NamespaceNotFound (1)
   */
  listTables(namespacePath?: NamespacePath, options?: ListTablesOptions): Promise<TablePage>;
  /**
   * Names of all tables directly in `namespacePath`, of all pages ("ListTables").
   * @throws CatalogError NamespaceNotFound (1)
   */
  tableNames(namespacePath?: NamespacePath, options?: CallOptions): Promise<string[]>;
  /**
   * Columns, rows and version of a table ("DescribeTable").
   * @throws CatalogError TableNotFound (4), NamespaceNotFound (1), VersionNotFound (11), TagNotFound (8),
   * BranchNotFound (22)
   */
  describeTable(name: string, options?: OpenTableOptions): Promise<TableDescription>;
  describeTable(
    name: string,
    namespacePath: NamespacePath,
    options?: Omit<OpenTableOptions, 'namespacePath'>,
  ): Promise<TableDescription>;

  /** Whether there is such a table ("TableExists"). */
  tableExists(name: string, options?: CallOptions & InNamespace): Promise<boolean>;
  tableExists(name: string, namespacePath: NamespacePath, options?: CallOptions): Promise<boolean>;

  /**
   * Whether a table is only declared: its name is taken and nobody has written it, so that there is nothing to read
   * ("DescribeTable" with `check_declared`). False too where a server does not tell. In an object store a table whose files
   * somebody has deleted looks the same.
   * @throws CatalogError TableNotFound (4), NamespaceNotFound (1)
   */
  isOnlyDeclared(name: string, options?: CallOptions & InNamespace): Promise<boolean>;
  isOnlyDeclared(name: string, namespacePath: NamespacePath, options?: CallOptions): Promise<boolean>;

  /**
   * Makes a table of rows, of an Arrow table, or of batches as they come. In rows, whole numbers become Int64, number
   * arrays FixedSizeList<Float32>, `Date` a Timestamp in microseconds UTC, `Uint8Array` Binary; `schema` overrides, and
   * is needed for batches that may be none. Without data (`undefined`) the option `schema` makes an empty table. Batches
   * are sent as they come; a stream that fails leaves no table ("CreateTable").
   * @throws CatalogError TableAlreadyExists (5), NamespaceNotFound (1), InvalidInput (13) for a name that can't be made
   * and for a source that throws, SchemaValidation (20) for rows that do not fit
   */
  createTable(name: string, data: TableSource, options?: CreateTableOptions): Promise<Table>;
  createTable(name: string, data: undefined, options: WithSchema<CreateTableOptions>): Promise<Table>;
  createTable(
    name: string,
    data: TableSource,
    namespacePath: NamespacePath,
    options?: Omit<CreateTableOptions, 'namespacePath'>,
  ): Promise<Table>;
  createTable(
    name: string,
    data: undefined,
    namespacePath: NamespacePath,
    options: WithSchema<Omit<CreateTableOptions, 'namespacePath'>>,
  ): Promise<Table>;
  /** Makes a table without rows ("CreateTable"). @throws CatalogError as `createTable` */
  createEmptyTable(name: string, schema: Schema, options?: CreateEmptyTableOptions): Promise<Table>;
  createEmptyTable(
    name: string,
    schema: Schema,
    namespacePath: NamespacePath,
    options?: Omit<CreateEmptyTableOptions, 'namespacePath'>,
  ): Promise<Table>;
  /**
   * Reserves a name and a place for a table whose data another client writes ("DeclareTable").
   * @throws CatalogError TableAlreadyExists (5), NamespaceNotFound (1), InvalidInput (13)
   */
  declareTable(name: string, options?: DeclareTableOptions): Promise<{ location: string }>;
  declareTable(
    name: string,
    namespacePath: NamespacePath,
    options?: Omit<DeclareTableOptions, 'namespacePath'>,
  ): Promise<{ location: string }>;
  /**
   * Gives a name to a table that is at `location` already ("RegisterTable").
   * @throws CatalogError TableAlreadyExists (5), NamespaceNotFound (1), InvalidInput (13),
   * Unsupported (0)
   */
  registerTable(name: string, location: string, options?: RegisterTableOptions): Promise<void>;
  registerTable(
    name: string,
    location: string,
    namespacePath: NamespacePath,
    options?: Omit<RegisterTableOptions, 'namespacePath'>,
  ): Promise<void>;
  /** Forgets a table and leaves its data where it is ("DeregisterTable"). @throws CatalogError TableNotFound (4) */
  deregisterTable(name: string, options?: CallOptions & InNamespace): Promise<{ location?: string }>;
  deregisterTable(name: string, namespacePath: NamespacePath, options?: CallOptions): Promise<{ location?: string }>;
  /**
   * A table to read and write ("DescribeTable"); one that is opened at a version or a tag can be read alone.
   * @throws CatalogError TableNotFound (4), NamespaceNotFound (1), VersionNotFound (11), TagNotFound (8),
   * BranchNotFound (22)
   */
  openTable(name: string, options?: OpenTableOptions): Promise<Table>;
  openTable(
    name: string,
    namespacePath: NamespacePath,
    options?: Omit<OpenTableOptions, 'namespacePath'>,
  ): Promise<Table>;
  /**
   * Drops a table with its data, for good ("DropTable").
   * @throws CatalogError TableNotFound (4), NamespaceNotFound (1)
   */
  dropTable(name: string, options?: DropTableOptions): Promise<void>;
  dropTable(
    name: string,
    namespacePath: NamespacePath,
    options?: Omit<DropTableOptions, 'namespacePath'>,
  ): Promise<void>;
  /**
   * Gives a table another name, in another namespace where one is named ("RenameTable"). There is never a moment with
   * both or none. The name and the namespace that a table already has change nothing.
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
   * Copies a table, or a namespace with all that is in it, to another place of this catalog or of another one:
   * `db.copy(['shop'], { catalog: company, path: ['shop'] })`. Streams, goes on where an earlier try stopped, makes the
   * indexes again, and compares row counts and checksums at the end. Not of the specification.
   * @throws CatalogError TableAlreadyExists (5) for a table that is there and no copy of this one, without `overwrite`;
   * TableNotFound (4), NamespaceNotFound (1), InvalidInput (13)
   */
  copy(from: readonly string[], to: CopyTarget, options?: CopyOptions): Promise<CopyResult>;

  /** Jobs that the server runs, a backfill for instance. Rejects with Unsupported (0) where there are none. */
  readonly jobs: Jobs;

  /** Lets go of connections; the catalog is not usable afterwards. */
  close(): Promise<void>;
}
