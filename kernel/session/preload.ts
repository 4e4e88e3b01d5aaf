// What every notebook has before its first cell, and what `import … from 'lance-catalog'` gives in one. The declarations
// made of this file are what cells are checked against, so it holds nothing else.
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
export type { Capabilities, Capability, CapabilityOptions } from '#catalog/catalog.ts';
export type {
  Catalog,
  CreateEmptyTableOptions,
  CreateNamespaceOptions,
  CreateTableOptions,
  DeclareTableOptions,
  DropTableOptions,
  InNamespace,
  NamespacePage,
  OpenTableOptions,
  PageOptions,
  RegisterTableOptions,
  RenameTableOptions,
  TableDescription,
  TablePage,
} from '#catalog/catalog.ts';
export type { CopiedTable, CopyOptions, CopyProgress, CopyResult, CopyTarget } from '#catalog/catalog.ts';
export type {
  BackfillJob,
  BackfillResult,
  FunctionGiven,
  TableBackfillOptions,
  TableTrial,
} from '#catalog/backfill.ts';
export type { BackfillColumnOptions, JobDescription, Jobs, JobState, JobSummary } from '#catalog/jobs.ts';
export type { MergeInsert } from '#catalog/mergeInsert.ts';
export type { Operation } from '#catalog/contract.ts';
export { Query } from '#catalog/query.ts';
export type { BatchStream, DistanceType, FullTextOptions, Ordering, QueryOptions } from '#catalog/querySpec.ts';
export type {
  AddOptions,
  ColumnChange,
  CreateIndexOptions,
  FieldMetadataUpdate,
  IndexInfo,
  IndexStats,
  IndexType,
  NewColumn,
  Table,
  UpdateSpec,
} from '#catalog/table.ts';
export type { TableStats, VersionInfo } from '#catalog/table.ts';
export type { InsertResult, MergeResult, RefreshResult, UpdateResult, WriteResult } from '#catalog/writeResults.ts';
export type { BatchSource, TableData, TableSource } from '#catalog/tableData.ts';
export type { Branches, BranchInfo, TagInfo, Tags } from '#catalog/tagsBranches.ts';
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
 * Shows a value in the output of the cell at once: tables and queries as tables, pictures as pictures, objects as trees.
 * `display(value, { id: 'here' })` shows it where `here` was shown before, `{ limit: 5000 }` shows more of a large one.
 */
export declare const display: Display;

/**
 * Shows how far a loop is: `for (const x of progress(xs)) { … }`, and `for await` over what is asynchronous. Give `total`
 * where the number of rounds is known to you only.
 */
export declare const progress: Progress;

/**
 * The signal of the cell that runs, for work of your own that an interrupt is to end: `exec('make', { signal:
 * cellSignal() })`. It aborts when the cell is interrupted. What cells ask of catalogs, their `fetch` and their timers end
 * without it.
 */
export declare const cellSignal: CellSignal;

/**
 * Asks who runs the notebook for a line of text: `const name = await input('Your name? ')`. With `{ password: true }` the
 * answer is not shown. Rejects when the person cancels, or when what runs the notebook can't ask anybody.
 */
export declare const input: Input;

/** Like `input`, but waits without `await`: nothing else runs meanwhile. `null` when the person cancels. */
export declare const prompt: Prompt;

/** Asks a question and waits for yes or no. */
export declare const confirm: Confirm;

/**
 * Asks tables of `db` by SQL, that of SQLite: `` await sql`select kind, avg(price) from shop.products group by kind` ``
 * gives an Arrow table. `${…}` are values, never text of the query. Tables in deeper namespaces are written
 * `"shop/eu".orders`. Reads only, the columns that the query needs, of tables of two million rows together at most.
 * Rejects with a CatalogError: TableNotFound (4), InvalidInput (13) for SQL that is wrong or too large.
 */
export declare const sql: Sql;

/**
 * Talks with the front outside of cells, as widgets do: `comms.open('my-target', { value: 1 })` opens a line to what the
 * front knows as `my-target`, `comms.register('my-target', (comm) => …)` takes the lines that the front opens. Comms stay
 * open when their cell is done. In an editor, which knows no targets, they are closed at once.
 */
export declare const comms: Comms;

/**
 * Verifies a Kubernetes cluster for backfills: `await cluster.check('prod')` asks the cluster, its cloud and its catalog all
 * that is needed, shows a report that fills in, and gives it as data: `report.failed`. `cluster.profiles()` names the
 * clusters of your settings; `cluster.check({ context: 'my-cluster', namespace: 'geneva' })` describes one here.
 */
export declare const cluster: Cluster;

/**
 * Makes a function that computes a column, for backfills:
 * `const size = udf({ name: 'size', input: ['text'], output: new arrow.Int32() }, ({ text }) => text.length)`. It runs in
 * other processes, perhaps on other machines, so it travels with what it imports and with the functions and constants of
 * cells that it uses. What can't travel, such as `db` or a variable declared by `let`, is refused here, by its name.
 * The code is kept on the table and shown to others: read keys from `process.env` within the function.
 * Throws a JobError: FunctionNotPortable, FunctionInvalid.
 */
export declare const udf: Udf;

/**
 * Where backfills run that are too much for this machine: `await using cluster = await ray.cluster({ profile: 'prod', name:
 * 'backfills' })` makes a RayCluster of KubeRay and waits until it is up, `await ray.connect('http://127.0.0.1:8265')` reaches a
 * Ray that is there. `table.backfill('column', { ray: cluster })` runs on what they give.
 */
export declare const ray: Ray;
