import type { RecordBatch } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';

export type JobState = 'queued' | 'running' | 'finished' | 'failed' | 'cancelled';

export type JobSummary = {
  id: string;
  /** The type of job, as named by the server: `backfill_column`, … */
  type: string;
  state: JobState;
  /** The identifier of the job's table, as the server reports it. */
  table?: string;
  created?: Date;
};

export type JobDescription = JobSummary & {
  /** The job's request, as the server stores it. */
  spec?: unknown;
  result?: unknown;
  failure?: { phase?: string; message: string; retryable?: boolean };
};

/** Jobs that the server of a catalog runs. Every call rejects with Unsupported (0) if the server runs no jobs. */
export interface Jobs {
  /** Lists a page of jobs in the server's order; the last page has no `pageToken` ("ListJobs"). */
  list(options?: CallOptions & { pageToken?: string | undefined }): Promise<{ jobs: JobSummary[]; pageToken?: string }>;
  /**
   * Returns state, result and failure of a job ("DescribeJob").
   * @throws CatalogError of the server if the job does not exist
   */
  describe(id: string, options?: CallOptions): Promise<JobDescription>;
  /** Requests the cancellation of a job; the server may take a while to end it ("CancelJob"). */
  cancel(id: string, options?: CallOptions): Promise<void>;
  /** Returns the events of a job so far as record batches; the server chooses the columns ("QueryJobEvents"). */
  events(id: string, options?: CallOptions): AsyncIterable<RecordBatch>;
}

/**
 * Options of a backfill on the server, with the specification's names in camelCase
 * ("AlterTableBackfillColumnsRequest"). The specification gives no units and no defaults for sizes: each server chooses
 * them.
 */
export type BackfillColumnOptions = CallOptions & {
  /** SQL condition: the job computes only rows for which the condition is true. */
  where?: string | undefined;
  /** How much is processed at once. */
  concurrency?: number | undefined;
  /** How much one worker processes at once. */
  intraApplierConcurrency?: number | undefined;
  /** Minimum and maximum amount between two points where the job can resume. */
  minCheckpointSize?: number | undefined;
  maxCheckpointSize?: number | undefined;
  /** Seconds after which finished work is saved. */
  batchCheckpointFlushIntervalSeconds?: number | undefined;
  /** The version of the table to read. */
  readVersion?: number | undefined;
  /** How much a task computes. */
  taskSize?: number | undefined;
  /** Number of fragments to compute. */
  numFrags?: number | undefined;
  /** How much a checkpoint holds. */
  checkpointSize?: number | undefined;
  /** How much is committed at once. */
  commitGranularity?: number | undefined;
  /** The name of the cluster to run on. */
  cluster?: string | undefined;
  /** The name of the environment to run in. */
  manifest?: string | undefined;
};
