import type { Data as ArrowData, Field, RecordBatch, Schema, Table as ArrowTable } from '#arrow';
import type { TimedCallOptions } from '#catalog/arguments/timeLimit.ts';
import type { Catalog, NamespacePage, PageOptions, TablePage } from '#catalog/catalog.ts';
import type { ConnectOptions, DirConfig, RestConfig } from '#catalog/connect.ts';
import type { JobDescription } from '#catalog/jobs.ts';
import type { FullTextOptions } from '#catalog/query/querySpec.ts';
import type { OptimizeResult } from '#catalog/table/optimize.ts';
import type { AddOptions, CreateIndexOptions, IndexSettings, TableStats } from '#catalog/table/table.ts';
import type {
  DeleteResult as DeletedRows,
  InsertResult,
  RefreshResult,
  WriteResult,
} from '#catalog/table/writeResults.ts';
import type { noLsm, noViews, NotSupported, unsupportedBranchCalls } from './unsupported.ts';
import type { blob, OAuthFlowType, PermutationBuilder, Scannable } from './unsupportedModules.ts';

// Types under the names that LanceDB's package exports, for code that imports them. Each is a type of this client, or a
// type whose errors name what to use instead.

export type AddColumnsResult = WriteResult;
export type AddDataOptions = AddOptions;
export type AddResult = InsertResult;
export type AlterColumnsResult = WriteResult;
export type BaseTokenizer = NonNullable<IndexSettings['baseTokenizer']>;
export type CompactionStats = OptimizeResult['compaction'];
export type ConnectNamespaceOptions = ConnectOptions;
export type DataLike = ArrowData;
export type DeleteResult = DeletedRows;
export type DescribeNamespaceResponse = Awaited<ReturnType<Catalog['describeNamespace']>>;
export type DirNamespaceConfig = DirConfig;
export type DropColumnsResult = WriteResult;
export type FieldLike = Field;
export type FragmentStatistics = TableStats['fragmentStats'];
export type FragmentSummaryStats = NonNullable<TableStats['fragmentLengths']>;
export type FullTextSearchOptions = FullTextOptions;
export type IndexOptions = CreateIndexOptions;
/** A value of `update({ values })`. */
export type IntoSql = string | number | bigint | boolean | Date | Uint8Array | null | readonly IntoSql[];
export type IntoVector = ArrayLike<number>;
export type JobFailureInfo = NonNullable<JobDescription['failure']>;
export type ListNamespacesOptions = PageOptions;
export type ListNamespacesResponse = NamespacePage;
export type ListTablesResponse = TablePage;
export type MultiVector = readonly ArrayLike<number>[];
export type OptimizeStats = OptimizeResult;
export type RecordBatchLike = RecordBatch;
export type RefreshColumnResult = RefreshResult;
export type RemovalStats = OptimizeResult['prune'];
export type RestNamespaceConfig = RestConfig;
export type SchemaLike = Schema;
export type TableLike = ArrowTable;
export type UpdateFieldMetadataResult = WriteResult;
export type WriteExecutionOptions = TimedCallOptions;

type NoBranchDiff = NotSupported<(typeof unsupportedBranchCalls)['diff']>;
type NoCherryPick = NotSupported<(typeof unsupportedBranchCalls)['cherryPick']>;
type NoLsm = NotSupported<typeof noLsm>;
type NoView = NotSupported<typeof noViews>;

export type AnalyzePlanDistributedMetrics =
  NotSupported<'Call analyzePlan() without an argument: this client has no metrics of distributed queries.'>;
export type BlobOptions = typeof blob;
export type BranchColumnChange = NoBranchDiff;
export type BranchColumnSummary = NoBranchDiff;
export type BranchDiff = NoBranchDiff;
export type BranchIndexSummary = NoBranchDiff;
export type BranchRowCountSummary = NoBranchDiff;
export type BucketStats = NoLsm;
export type CherryPickError = NoCherryPick;
export type CherryPickPreview = NoCherryPick;
export type CherryPickResult = NoCherryPick;
export type ClientConfig =
  NotSupported<'Write headers, retries, timeouts and ca in connectNamespace("rest", { uri, … }).'>;
export type CreateNamespaceResponse =
  NotSupported<'createNamespace() returns nothing: read the properties with describeNamespace().'>;
export type DropNamespaceResponse =
  NotSupported<'dropNamespace() returns nothing: read the properties first, with describeNamespace().'>;
export type GenerationStats = NoLsm;
export type JobEventsOptions = NotSupported<'Iterate over db.jobs.events(id): it takes only a signal.'>;
export type JobInfo = NotSupported<'Use JobSummary: db.jobs.list() returns its id, type, state, table and created.'>;
export type LsmStats = NoLsm;
export type LsmWriteSpec = NoLsm;
export type MaterializedViewDefinition = NoView;
export type MaterializedViewSelect = NoView;
export type MemtableStats = NoLsm;
export type NativeOAuthConfig = OAuthFlowType;
export type OAuthConfig = OAuthFlowType;
export type RefreshMaterializedViewResult = NoView;
export type RetryConfig = NotSupported<'Write the number of retries in connectNamespace("rest", { uri, retries }).'>;
export type ScannableOptions = Scannable;
export type ShuffleOptions = PermutationBuilder;
export type SplitCalculatedOptions = PermutationBuilder;
export type SplitHashOptions = PermutationBuilder;
export type SplitRandomOptions = PermutationBuilder;
export type SplitSequentialOptions = PermutationBuilder;
export type TimeoutConfig =
  NotSupported<'Write milliseconds in connectNamespace("rest", { uri, timeouts: { connect, headers, body } }).'>;
export type TlsConfig = NotSupported<'Write the CA certificates in PEM in connectNamespace("rest", { uri, ca }).'>;
export type TokenResponse = OAuthFlowType;
