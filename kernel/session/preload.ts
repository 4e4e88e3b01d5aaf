// The names that every notebook has before its first cell and that cells can import from 'lance-catalog'. Cells are
// checked against the declarations that the build creates from this file, so the file declares no other names.
import type { Cluster } from '#session/cluster/clusterTypes.ts';
import type { Comms } from '#session/comms/commTypes.ts';
import type { CellSignal } from '#session/core/cellWork.ts';
import type { Display, Progress } from '#session/display/displayTypes.ts';
import type { Udf } from '#session/functions/functionTypes.ts';
import type { Confirm, Input, Prompt } from '#session/input/askUser.ts';
import type { Ray } from '#session/ray/rayTypes.ts';
import type { Sql } from '#session/sql/sqlTypes.ts';

export * as arrow from '#arrow';
export { connect, connectNamespace } from '#catalog/connect.ts';
export type { ConnectOptions, DirConfig, RestConfig } from '#catalog/connect.ts';
export type { CallOptions, CreateMode, DropNamespaceOptions } from '#catalog/arguments/options.ts';
export type {
  Capabilities,
  Capability,
  CapabilityOptions,
  Catalog,
  CopiedTable,
  CopyOptions,
  CopyProgress,
  CopyResult,
  CopyTarget,
  CreateEmptyTableOptions,
  CreateNamespaceOptions,
  CreateTableOptions,
  DeclareTableOptions,
  DropTableOptions,
  InNamespace,
  ListTablesOptions,
  NamespacePage,
  OpenTableOptions,
  PageOptions,
  RegisterTableOptions,
  RenameTableOptions,
  TableDescription,
  TablePage,
} from '#catalog/catalog.ts';
export type {
  BackfillJob,
  BackfillResult,
  FunctionGiven,
  TableBackfillOptions,
  TableTrial,
} from '#catalog/backfill.ts';
export type { BackfillColumnOptions, JobDescription, Jobs, JobState, JobSummary } from '#catalog/jobs.ts';
export type { MergeInsert } from '#catalog/table/mergeInsert.ts';
export type { OptimizeOptions, OptimizeResult } from '#catalog/table/optimize.ts';
export type { Operation } from '#catalog/contract.ts';
export { Query } from '#catalog/query/query.ts';
export {
  BooleanQuery,
  BoostQuery,
  FullTextQueryType,
  MatchQuery,
  MultiMatchQuery,
  Occur,
  Operator,
  PhraseQuery,
} from '#catalog/query/fullTextQuery.ts';
export type {
  BoostQueryOptions,
  FullTextQuery,
  MatchQueryOptions,
  MultiMatchQueryOptions,
  PhraseQueryOptions,
} from '#catalog/query/fullTextQuery.ts';
export { RRFReranker, rerankers, rrf } from '#catalog/query/rerankers.ts';
export type { Reranker } from '#catalog/query/rerankers.ts';
export { Decimal } from '#catalog/values/decimal.ts';
export { Duration } from '#catalog/values/duration.ts';
export { Time } from '#catalog/values/time.ts';
export { Timestamp } from '#catalog/values/timestamp.ts';
export type { TimeUnitName } from '#catalog/values/timeUnits.ts';
export type { RowOptions } from '#catalog/arrow/rowValues.ts';
// LanceDB's names of types, for code that imports them from its package.
export type { ConnectOptions as ConnectionOptions } from '#catalog/connect.ts';
export { MergeInsert as MergeInsertBuilder } from '#catalog/table/mergeInsert.ts';
export { Query as AutoQuery, Query as QueryBase, Query as VectorQuery } from '#catalog/query/query.ts';
export type { Query as ExecutableQuery } from '#catalog/query/query.ts';
export type {
  ColumnChange as ColumnAlteration,
  IndexInfo as IndexConfig,
  IndexStats as IndexStatistics,
  TableStats as TableStatistics,
  TextToken as FtsToken,
  TokenizeOptions as TokenizeTableOptions,
  VersionInfo as Version,
} from '#catalog/table/table.ts';
export type { TableData as Data } from '#catalog/table/tableData.ts';
export type {
  AddColumnsResult,
  AddDataOptions,
  AddResult,
  AlterColumnsResult,
  BaseTokenizer,
  CompactionStats,
  ConnectNamespaceOptions,
  DataLike,
  DeleteResult,
  DescribeNamespaceResponse,
  DirNamespaceConfig,
  DropColumnsResult,
  FieldLike,
  FragmentStatistics,
  FragmentSummaryStats,
  FullTextSearchOptions,
  IndexOptions,
  IntoSql,
  IntoVector,
  JobFailureInfo,
  ListNamespacesOptions,
  ListNamespacesResponse,
  ListTablesResponse,
  MultiVector,
  OptimizeStats,
  RecordBatchLike,
  RefreshColumnResult,
  RemovalStats,
  RestNamespaceConfig,
  SchemaLike,
  TableLike,
  UpdateFieldMetadataResult,
  WriteExecutionOptions,
  AnalyzePlanDistributedMetrics,
  BlobOptions,
  BranchColumnChange,
  BranchColumnSummary,
  BranchDiff,
  BranchIndexSummary,
  BranchRowCountSummary,
  BucketStats,
  CherryPickError,
  CherryPickPreview,
  CherryPickResult,
  ClientConfig,
  CreateNamespaceResponse,
  DropNamespaceResponse,
  GenerationStats,
  JobEventsOptions,
  JobInfo,
  LsmStats,
  LsmWriteSpec,
  MaterializedViewDefinition,
  MaterializedViewSelect,
  MemtableStats,
  NativeOAuthConfig,
  OAuthConfig,
  RefreshMaterializedViewResult,
  RetryConfig,
  ScannableOptions,
  ShuffleOptions,
  SplitCalculatedOptions,
  SplitHashOptions,
  SplitRandomOptions,
  SplitSequentialOptions,
  TimeoutConfig,
  TlsConfig,
  TokenResponse,
} from '#catalog/lancedb/packageTypes.ts';
export {
  blob,
  BlobFile,
  BranchContents,
  Connection,
  embedding,
  HeaderProvider,
  instrumentLanceDbMetrics,
  isBlobField,
  Job,
  MakeArrowTableOptions,
  MaterializedView,
  NativeJsHeaderProvider,
  OAuthFlowType,
  OAuthHeaderProvider,
  permutationBuilder,
  PermutationBuilder,
  RecordBatchIterator,
  Scannable,
  Session,
  StaticHeaderProvider,
  TagContents,
  tokenize,
  VectorColumnOptions,
} from '#catalog/lancedb/unsupportedModules.ts';
export type {
  BatchStream,
  ColumnOrdering,
  FullTextOptions,
  Ordering,
  QueryExecutionOptions,
  QueryOptions,
  QueryResult,
  RunningQuery,
  Selection,
} from '#catalog/query/querySpec.ts';
export type { DistanceType } from '#shared/vectorTypes.ts';
export type { SearchType } from '#catalog/lancedb/lanceDbTable.ts';
export { Index } from '#catalog/lancedb/indexConfig.ts';
export type {
  FtsOptions,
  HnswPqOptions,
  HnswSqOptions,
  IvfFlatOptions,
  IvfPqOptions,
  IvfRqOptions,
} from '#catalog/lancedb/indexConfig.ts';
export { packBits } from '#catalog/lancedb/packBits.ts';
export { makeArrowTable } from '#catalog/lancedb/makeArrowTable.ts';
export type { TableNamesOptions } from '#catalog/lancedb/lanceDbCatalog.ts';
export type { NamedEntries } from '#catalog/lancedb/namedEntries.ts';
export type {
  AddColumnsSql,
  AddOptions,
  ColumnChange,
  ColumnsSql,
  ComputedColumn,
  ComputedColumns,
  CreateIndexOptions,
  FieldMetadataUpdate,
  IndexInfo,
  IndexSettings,
  IndexStats,
  IndexType,
  NewColumn,
  NewColumns,
  TableStats,
  TextToken,
  TokenizeOptions,
  UpdateOptions,
  UpdateSpec,
  VersionInfo,
} from '#catalog/table/table.ts';
export { Table } from '#catalog/table/table.ts';
export type { WriteProgress } from '#catalog/table/writeProgress.ts';
export type {
  InsertResult,
  MergeResult,
  RefreshResult,
  UpdateResult,
  WriteResult,
} from '#catalog/table/writeResults.ts';
export type { BatchSource, TableData, TableSource } from '#catalog/table/tableData.ts';
export { TakeQuery } from '#catalog/query/takeQuery.ts';
export { Branches, Tags } from '#catalog/table/tagsBranches.ts';
export type { BranchInfo, CreateBranchOptions, TagInfo } from '#catalog/table/tagsBranches.ts';
export type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
export type { OnErrorOption, Udf, UdfOptions, UdfRow, UdfValue } from '#session/functions/functionTypes.ts';
export { CatalogError, isCatalogError } from '#shared/errors.ts';
export type { CatalogErrorCode, CatalogErrorKind, ErrorContext } from '#shared/errors.ts';
export type { RayPlace, RunnerName } from '#shared/jobs/backfill.ts';
export type { BackfillPlan, Figure } from '#shared/jobs/jobPlan.ts';
export type { JobView } from '#shared/jobs/jobView.ts';
export type { NamespacePath } from '#shared/names.ts';
export type {
  Display,
  DisplayOptions,
  DisplayValueOptions,
  Progress,
  ProgressOptions,
} from '#session/display/displayTypes.ts';
export type {
  Cluster,
  ClusterCheckOptions,
  ClusterCheckResult,
  ClusterGroup,
  ClusterMend,
  ClusterReport,
  ClusterSettings,
} from '#session/cluster/clusterTypes.ts';
export type { CheckCategory, CheckId } from '#cluster/checkIds.ts';
export type { Ray, RayCluster, RayClusterSettings, RayConnection, RayWaitOptions } from '#session/ray/rayTypes.ts';
export type { Sql, SqlValue } from '#session/sql/sqlTypes.ts';
export type { Comm, CommEvent, CommOptions, Comms } from '#session/comms/commTypes.ts';

/**
 * Shows a value in the output of the cell at once: tables and queries as tables, images as images, objects as trees.
 * `display(value, { id: 'here' })` replaces the output that was shown with the id `here`. `{ limit: 5000 }` shows more
 * of a large value.
 */
export declare const display: Display;

/**
 * Shows the progress of a loop: `for (const x of progress(xs)) { … }`, or `for await` over an async iterable. Set
 * `total` if the iterable does not know its length.
 */
export declare const progress: Progress;

/**
 * Returns the signal of the running cell, which aborts when the cell is interrupted. Pass it to your own work:
 * `exec('make', { signal: cellSignal() })`. Catalog calls, `fetch` and timers of cells are cancelled even if you do not
 * pass the signal.
 */
export declare const cellSignal: CellSignal;

/**
 * Prompts the user for a line of text: `const name = await input('Your name? ')`. With `{ password: true }` the input
 * is hidden. Rejects if the user cancels, or if the client can't prompt.
 */
export declare const input: Input;

/**
 * Like `input`, but blocks instead of returning a promise: no other code runs meanwhile. Returns `null` if the user
 * cancels.
 */
export declare const prompt: Prompt;

/** Shows a yes/no question and blocks until the user answers. */
export declare const confirm: Confirm;

/**
 * Queries tables of `db` by SQL in the dialect of DuckDB:
 * `` await sql`select kind, avg(price) from shop.products group by kind` `` returns an Arrow table, and
 * `` await sql`…`.toArray() `` returns rows. `${…}` are values, never text of the query; after `from`, an Arrow table or
 * a list of rows. Tables in deeper namespaces are written `"shop/eu".orders`. Reads tables of any size, with the columns
 * that the query needs. `create table … as select …` and `insert into … select …` write the rows of a query.
 * Rejects with a CatalogError: TableNotFound (4), InvalidInput (13) if the SQL is invalid.
 */
export declare const sql: Sql;

/**
 * Exchanges messages with the client outside of cells, as widgets do: `comms.open('my-target', { value: 1 })` opens a
 * comm to the client's target `my-target`, `comms.register('my-target', (comm) => …)` accepts comms that the client
 * opens. Comms stay open after their cell has finished. An editor has no targets and closes them at once.
 */
export declare const comms: Comms;

/**
 * Checks whether a Kubernetes cluster can run backfills: `await cluster.check('prod')` checks the cluster, its cloud
 * and its catalog, shows a report that updates during the run, and returns it as data: `report.failed`.
 * `cluster.profiles()` lists the clusters in your settings; `cluster.check({ context: 'my-cluster', namespace: 'geneva'
 * })` describes one inline.
 */
export declare const cluster: Cluster;

/**
 * Creates a function that computes a column, for backfills:
 * `const size = udf({ name: 'size', input: ['text'], output: new arrow.Int32() }, ({ text }) => text.length)`.
 * It runs in other processes, possibly on other machines, together with its imports and the functions and constants
 * of cells that it uses. Values that can't be sent there, such as `db` or a variable declared by `let`, are rejected
 * here by name. The code is stored with the table and visible to others: read keys from `process.env` within the
 * function.
 * Throws a JobError: FunctionNotPortable, FunctionInvalid.
 */
export declare const udf: Udf;

/**
 * Connects to Ray, for backfills that are too large for this machine:
 * `await using cluster = await ray.cluster({ profile: 'prod', name: 'backfills' })` creates a RayCluster of KubeRay and
 * waits until it is ready. `await ray.connect('http://127.0.0.1:8265')` reaches an existing Ray.
 * `table.backfill('column', { ray: cluster })` runs on either.
 */
export declare const ray: Ray;
