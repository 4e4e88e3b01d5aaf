import type { NamespacePath } from '#shared/names.ts';
import type { BackfillOptions, RunnerName } from './backfill.ts';
import type { RowError } from './jobEvents.ts';

/**
 * `interrupted`: the process is gone (killed, closed laptop) without an end event; the job can be resumed. The states
 * after `interrupted` are ends that the process has reported.
 */
export type JobState = 'queued' | 'starting' | 'running' | 'interrupted' | 'succeeded' | 'failed' | 'cancelled';

export type JobPhase = 'computing' | 'writing';

/** The table of a job, for display; without secrets. */
export type JobTable = {
  /** Name of the connection, else the root or URL of the catalog. */
  readonly catalog: string;
  readonly implementation: 'dir' | 'rest';
  readonly namespacePath: NamespacePath;
  readonly name: string;
};

/** A job for views: its record with all of its events folded in. */
export type JobView = {
  readonly id: string;
  readonly table: JobTable;
  readonly column: string;
  readonly functionName: string;
  readonly functionHash: string;
  readonly runner: RunnerName;
  /** Why this runner was chosen, as a sentence. */
  readonly runnerReason: string;
  readonly options: BackfillOptions;
  readonly state: JobState;
  /** One sentence about what the job does now, what it waits for, or how it ended. */
  readonly sentence: string;
  readonly failure: { readonly code: string; readonly message: string; readonly hint: string } | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  /** What the run does now. Unknown before the plan and after the end, and for jobs of servers. */
  readonly phase?: JobPhase | undefined;
  /** Rows of this run that are in the table. Known if the runner writes rows in a separate step. */
  readonly written?: number | undefined;
  /** Finished share of computing and writing, from 0 to 1. Known if the runner writes rows in a separate step. */
  readonly share?: number | undefined;
  readonly rows: { readonly done: number; readonly total: number | undefined; readonly reused: number };
  readonly fragments: { readonly done: number; readonly total: number | undefined };
  readonly rowsPerSecond: number | undefined;
  /** Estimated seconds until the end, from the rate of the last half minute. */
  readonly secondsLeft: number | undefined;
  readonly errors: { readonly count: number; readonly samples: readonly RowError[] };
  readonly skipped: number;
  readonly conflicts: number;
  readonly bytesWritten: number;
  /** The latest table version that the job created. */
  readonly version: number | undefined;
  /** The current bottleneck, if any is known. */
  readonly bottleneck: string | undefined;
  readonly can: {
    readonly cancel: boolean;
    readonly resume: boolean;
    readonly retry: boolean;
    readonly remove: boolean;
  };
};
