import { CatalogError } from '#shared/errors.ts';

// Definitions that both ends of the REST contract share.

// The operations of the Lance Namespace specification by the names in the specification ("operationId"). Releases 0.11.1
// to 0.13 have the same ones. The operations of jobs are not in the specification; upstream's service has them.
// "OptimizeTable" is our own. The client, the server, errors and capabilities use this table.

type Method = 'GET' | 'POST';
/** What `{id}` in the path names. */
type Subject = 'namespace' | 'table' | 'none';

const at = <const P extends string, const S extends Subject>(method: Method, path: P, subject: S) => ({
  method,
  path,
  subject,
});

export const operations = {
  CreateNamespace: at('POST', '/v1/namespace/{id}/create', 'namespace'),
  ListNamespaces: at('GET', '/v1/namespace/{id}/list', 'namespace'),
  DescribeNamespace: at('POST', '/v1/namespace/{id}/describe', 'namespace'),
  DropNamespace: at('POST', '/v1/namespace/{id}/drop', 'namespace'),
  NamespaceExists: at('POST', '/v1/namespace/{id}/exists', 'namespace'),
  ListTables: at('GET', '/v1/namespace/{id}/table/list', 'namespace'),
  ListAllTables: at('GET', '/v1/table', 'none'),
  CreateTable: at('POST', '/v1/table/{id}/create', 'table'),
  DeclareTable: at('POST', '/v1/table/{id}/declare', 'table'),
  RegisterTable: at('POST', '/v1/table/{id}/register', 'table'),
  DeregisterTable: at('POST', '/v1/table/{id}/deregister', 'table'),
  DescribeTable: at('POST', '/v1/table/{id}/describe', 'table'),
  TableExists: at('POST', '/v1/table/{id}/exists', 'table'),
  DropTable: at('POST', '/v1/table/{id}/drop', 'table'),
  RenameTable: at('POST', '/v1/table/{id}/rename', 'table'),
  CountTableRows: at('POST', '/v1/table/{id}/count_rows', 'table'),
  QueryTable: at('POST', '/v1/table/{id}/query', 'table'),
  InsertIntoTable: at('POST', '/v1/table/{id}/insert', 'table'),
  MergeInsertIntoTable: at('POST', '/v1/table/{id}/merge_insert', 'table'),
  UpdateTable: at('POST', '/v1/table/{id}/update', 'table'),
  DeleteFromTable: at('POST', '/v1/table/{id}/delete', 'table'),
  ListTableVersions: at('POST', '/v1/table/{id}/version/list', 'table'),
  DescribeTableVersion: at('POST', '/v1/table/{id}/version/describe', 'table'),
  CreateTableVersion: at('POST', '/v1/table/{id}/version/create', 'table'),
  BatchDeleteTableVersions: at('POST', '/v1/table/{id}/version/delete', 'table'),
  BatchCreateTableVersions: at('POST', '/v1/table/version/batch-create', 'none'),
  BatchCommitTables: at('POST', '/v1/table/batch-commit', 'none'),
  RestoreTable: at('POST', '/v1/table/{id}/restore', 'table'),
  GetTableStats: at('POST', '/v1/table/{id}/stats', 'table'),
  OptimizeTable: at('POST', '/v1/table/{id}/optimize', 'table'),
  CreateTableIndex: at('POST', '/v1/table/{id}/create_index', 'table'),
  CreateTableScalarIndex: at('POST', '/v1/table/{id}/create_scalar_index', 'table'),
  ListTableIndices: at('POST', '/v1/table/{id}/index/list', 'table'),
  DescribeTableIndexStats: at('POST', '/v1/table/{id}/index/{index_name}/stats', 'table'),
  DropTableIndex: at('POST', '/v1/table/{id}/index/{index_name}/drop', 'table'),
  ListTableTags: at('POST', '/v1/table/{id}/tags/list', 'table'),
  GetTableTagVersion: at('POST', '/v1/table/{id}/tags/version', 'table'),
  CreateTableTag: at('POST', '/v1/table/{id}/tags/create', 'table'),
  UpdateTableTag: at('POST', '/v1/table/{id}/tags/update', 'table'),
  DeleteTableTag: at('POST', '/v1/table/{id}/tags/delete', 'table'),
  ListTableBranches: at('POST', '/v1/table/{id}/branches/list', 'table'),
  CreateTableBranch: at('POST', '/v1/table/{id}/branches/create', 'table'),
  DeleteTableBranch: at('POST', '/v1/table/{id}/branches/delete', 'table'),
  ExplainTableQueryPlan: at('POST', '/v1/table/{id}/explain_plan', 'table'),
  AnalyzeTableQueryPlan: at('POST', '/v1/table/{id}/analyze_plan', 'table'),
  AlterTableAddColumns: at('POST', '/v1/table/{id}/add_columns', 'table'),
  AlterTableAlterColumns: at('POST', '/v1/table/{id}/alter_columns', 'table'),
  AlterTableDropColumns: at('POST', '/v1/table/{id}/drop_columns', 'table'),
  AlterTableBackfillColumns: at('POST', '/v1/table/{id}/backfill_column', 'table'),
  UpdateTableSchemaMetadata: at('POST', '/v1/table/{id}/schema_metadata/update', 'table'),
  UpdateFieldMetadata: at('POST', '/v1/table/{id}/update_field_metadata', 'table'),
  CreateMaterializedView: at('POST', '/v1/materialized_view/{id}/create', 'table'),
  RefreshMaterializedView: at('POST', '/v1/materialized_view/{id}/refresh', 'table'),
  DescribeTransaction: at('POST', '/v1/transaction/{id}/describe', 'none'),
  AlterTransaction: at('POST', '/v1/transaction/{id}/alter', 'none'),
  ListJobs: at('POST', '/v1/jobs/list', 'none'),
  DescribeJob: at('POST', '/v1/jobs/describe', 'none'),
  CancelJob: at('POST', '/v1/jobs/cancel', 'none'),
  QueryJobEvents: at('POST', '/v1/jobs/query_events', 'none'),
} as const;

/** The name of an operation, in the specification and in `CatalogError.operation`. */
export type Operation = keyof typeof operations;

/**
 * Operations that change nothing: a read key allows them, and they may be repeated if a response was lost. Operations
 * not named here count as changes and are never repeated: a repeated create, drop or rename fails although the first
 * request succeeded, an insert or merge adds rows twice, and an update, deletion or restore may undo a concurrent
 * change.
 */
const reading = [
  'ListNamespaces',
  'DescribeNamespace',
  'NamespaceExists',
  'ListTables',
  'ListAllTables',
  'DescribeTable',
  'TableExists',
  'CountTableRows',
  'QueryTable',
  'ListTableVersions',
  'DescribeTableVersion',
  'GetTableStats',
  'ListTableIndices',
  'DescribeTableIndexStats',
  'ListTableTags',
  'GetTableTagVersion',
  'ListTableBranches',
  'ExplainTableQueryPlan',
  'AnalyzeTableQueryPlan',
  'DescribeTransaction',
  'ListJobs',
  'DescribeJob',
  'QueryJobEvents',
] as const satisfies readonly Operation[];

/** The name of an operation that changes nothing. */
export type ReadingOperation = (typeof reading)[number];

export const readingOperations: ReadonlySet<Operation> = new Set<Operation>(reading);

export const isReading = (operation: Operation): operation is ReadingOperation => readingOperations.has(operation);

/** @throws CatalogError InvalidInput (13) naming the unknown operation */
export function checkOperations(asked: readonly unknown[] | undefined): void {
  const wrong = (asked ?? []).find((name) => typeof name !== 'string' || !Object.hasOwn(operations, name));
  if (wrong === undefined) return;
  const hint = 'Use the names of the specification, for instance "RenameTable".';
  throw new CatalogError('InvalidInput', `The contract has no operation ${JSON.stringify(wrong)}.`, hint);
}

/**
 * The `Host` that the engine process requires. Clients reach the process through a socket path, so this can be any name
 * that a web page can't send.
 */
export const engineHost = 'lance-engine';

/** Header with the root directory of the catalog, encoded with `encodeURIComponent`. */
export const rootHeader = 'x-lance-root';

/**
 * Header with the namespace that is the root for a request to the engine process: a JSON list of names, encoded with
 * `encodeURIComponent`.
 */
export const namespaceHeader = 'x-lance-namespace';

/** Header with the settings of the root's object store, as JSON encoded with `encodeURIComponent`. */
export const storageOptionsHeader = 'x-lance-storage-options';

/**
 * Path that the engine process offers its parent in addition to the contract: GET inspects a catalog, POST repairs
 * it. The response is a `RepairResult` as JSON, or an error of the contract.
 */
export const repairPath = '/repair';

/**
 * Path that the engine process offers its parent in addition to the contract: reads blobs of a table. The request is a
 * `BlobRequest` as JSON. The response is an Arrow stream with sizes and first bytes, or bytes of one blob, or an error of
 * the contract.
 */
export const blobsPath = '/blobs';

/** The `k` that requests all rows. The contract requires a number for `k`, and servers read this number as 32 bits. */
export const noLimit = 2_147_483_647;

/**
 * What our client requests from a server beyond the specification (`Prefer`, RFC 7240). Other servers ignore these
 * preferences, so the client also works without them.
 */
export const preference = {
  /** Sorted rows. The specification has no order, so a server must confirm that it sorted the rows. */
  order: 'order_by',
  /**
   * A search by each of several vectors. Some servers search only by the first vector, so a server must confirm that it
   * used all vectors.
   */
  severalVectors: 'multi_vector',
  /**
   * Options of text indexes beyond the specification, such as lengths of n-grams. Before the client sends such options,
   * it requests the list of indexes. A server that knows the options confirms this preference in its response.
   */
  textIndexOptions: 'text_index_options',
  /**
   * A description of a table with `num_rows` and `arrow_schema` (a base64 Arrow IPC stream without rows), both of one
   * version. Such a description has no `schema`.
   */
  arrowDescription: 'arrow_description',
  /**
   * A response to a query with every row that the query requests. Some servers limit the rows of a response, so the
   * client compares a response without this confirmation with the number of rows in the table.
   */
  completeRows: 'complete_rows',
  /** The response ends with the batch that reaches this many bytes: `max_bytes=1000000`. */
  maxBytes: 'max_bytes',
  /**
   * A list of namespaces without tables. Clients of upstream's service expect the list to contain tables too, but
   * finding the tables costs a server more than finding the namespaces.
   */
  namespacesOnly: 'namespaces_only',
  /**
   * A response to "CreateTable" without credentials for the storage. The requests of other operations have a field for
   * this in the specification, `vend_credentials`.
   */
  noCredentials: 'no_credentials',
} as const;
