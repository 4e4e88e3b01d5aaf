import type { RecordBatch } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';

export type JobState = 'queued' | 'running' | 'finished' | 'failed' | 'cancelled';

export type JobSummary = {
  id: string;
  /** What kind of work, in the server's words: `backfill_column`, … */
  type: string;
  state: JobState;
  /** The identifier of the table that it works on, as the server writes it. */
  table?: string;
  created?: Date;
};

export type JobDescription = JobSummary & {
  /** What was asked, as the server keeps it. */
  spec?: unknown;
  result?: unknown;
  failure?: { phase?: string; message: string; retryable?: boolean };
};

/** Jobs that the server of a catalog runs. Every call rejects with Unsupported (0) where it runs none. */
export interface Jobs {
  /** A page of jobs, in the order of the server; one without a `pageToken` is the last ("ListJobs"). */
  list(options?: CallOptions & { pageToken?: string | undefined }): Promise<{ jobs: JobSummary[]; pageToken?: string }>;
  /**
   * State, result and failure of a job ("DescribeJob").
   * @throws CatalogError as the server for a job that is not there
   */
  describe(id: string, options?: CallOptions): Promise<JobDescription>;
  /** Asks for its end, which comes when the server has seen to it ("CancelJob"). */
  cancel(id: string, options?: CallOptions): Promise<void>;
  /** What has happened so far, as record batches of whatever columns the server keeps ("QueryJobEvents"). */
  events(id: string, options?: CallOptions): AsyncIterable<RecordBatch>;
}

/**
 * What the server is asked to compute; the specification's names in camelCase ("AlterTableBackfillColumnsRequest"). It
 * gives the sizes no unit: what is counted, and what is done when one is not given, is up to the server.
 */
export type BackfillColumnOptions = CallOptions & {
  /** SQL: only rows for which it holds. */
  where?: string | undefined;
  /** How much is worked on at once. */
  concurrency?: number | undefined;
  /** The same within one worker. */
  intraApplierConcurrency?: number | undefined;
  /** How much lies between two points where the job can go on: at least, and at most. */
  minCheckpointSize?: number | undefined;
  maxCheckpointSize?: number | undefined;
  /** Seconds after which what is done is kept. */
  batchCheckpointFlushIntervalSeconds?: number | undefined;
  /** The version of the table that is read. */
  readVersion?: number | undefined;
  /** How much a task computes. */
  taskSize?: number | undefined;
  /** Fragments to compute. */
  numFrags?: number | undefined;
  /** How much a checkpoint holds. */
  checkpointSize?: number | undefined;
  /** How much is committed at once. */
  commitGranularity?: number | undefined;
  /** The name of the cluster that it runs on. */
  cluster?: string | undefined;
  /** The name of the environment that it runs in. */
  manifest?: string | undefined;
};
