import type { RecordBatch } from '#arrow';
import type { CallOptions } from './callOptions.ts';

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
  list(options?: CallOptions & { pageToken?: string | undefined }): Promise<{ jobs: JobSummary[]; pageToken?: string }>;
  describe(id: string, options?: CallOptions): Promise<JobDescription>;
  cancel(id: string, options?: CallOptions): Promise<void>;
  /** What has happened so far, as record batches of whatever columns the server keeps. */
  events(id: string, options?: CallOptions): AsyncIterable<RecordBatch>;
}

/** What the server is asked to compute; the specification's names in camelCase ("AlterTableBackfillColumnsRequest"). */
export type BackfillColumnOptions = CallOptions & {
  /** SQL: only rows for which it holds. */
  where?: string | undefined;
  concurrency?: number | undefined;
  intraApplierConcurrency?: number | undefined;
  minCheckpointSize?: number | undefined;
  maxCheckpointSize?: number | undefined;
  batchCheckpointFlushIntervalSeconds?: number | undefined;
  readVersion?: number | undefined;
  taskSize?: number | undefined;
  numFrags?: number | undefined;
  checkpointSize?: number | undefined;
  commitGranularity?: number | undefined;
  cluster?: string | undefined;
  manifest?: string | undefined;
};
