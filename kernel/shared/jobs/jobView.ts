import type { NamespacePath } from '#shared/names.ts';
import type { BackfillOptions, RunnerName } from './backfill.ts';
import type { RowError } from './jobEvents.ts';

/**
 * `interrupted`: what ran it is gone (killed, closed laptop) and has not said how it ended; it can be resumed. All others
 * but the first three are ends that were told.
 */
export type JobState = 'queued' | 'starting' | 'running' | 'interrupted' | 'succeeded' | 'failed' | 'cancelled';

/** Where a job is, as a person names it; no secret in it. */
export type JobTable = {
  /** Name of the connection, else the root or address of the catalog. */
  readonly catalog: string;
  readonly implementation: 'dir' | 'rest';
  readonly namespacePath: NamespacePath;
  readonly name: string;
};

/** A job as views draw it: what its record says, with all of its events folded into it. */
export type JobView = {
  readonly id: string;
  readonly table: JobTable;
  readonly column: string;
  readonly functionName: string;
  readonly functionHash: string;
  readonly runner: RunnerName;
  /** Why this one, where `auto` picked it. */
  readonly runnerReason: string;
  readonly options: BackfillOptions;
  readonly state: JobState;
  /** One sentence of what it does now, waits for, or how it ended. */
  readonly sentence: string;
  readonly failure: { readonly code: string; readonly message: string; readonly hint: string } | undefined;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly rows: { readonly done: number; readonly total: number | undefined; readonly reused: number };
  readonly fragments: { readonly done: number; readonly total: number | undefined };
  readonly rowsPerSecond: number | undefined;
  /** Estimated from the rate of the last half minute. */
  readonly secondsLeft: number | undefined;
  readonly errors: { readonly count: number; readonly samples: readonly RowError[] };
  readonly skipped: number;
  readonly conflicts: number;
  readonly bytesWritten: number;
  /** The latest version of the table that it made. */
  readonly version: number | undefined;
  /** What holds it up, in words; `undefined` where nothing does. */
  readonly bottleneck: string | undefined;
  readonly can: {
    readonly cancel: boolean;
    readonly resume: boolean;
    readonly retry: boolean;
    readonly remove: boolean;
  };
};
