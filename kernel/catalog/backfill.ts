import type { Table as ArrowTable } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { BackfillOptions, RayPlace } from '#shared/jobs/backfill.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import type { RowError } from '#shared/jobs/jobEvents.ts';
import type { JobView } from '#shared/jobs/jobView.ts';

/** A function as an expression of SQL, or as one in a file; what `udf()` gives is one already. */
export type FunctionGiven =
  | { sql: string; name?: string; version?: string }
  /** Of TypeScript, made by `udf()`: its default export when none is named. */
  | { file: string; export?: string; name?: string; version?: string }
  /** Of Python, with the columns that it reads and the type that it gives, such as `int32` or `float[768]`. */
  | {
      file: string;
      export: string;
      inputs: readonly string[];
      output: string;
      takes?: 'row' | 'batch';
      name?: string;
      version?: string;
    };

export type TableBackfillOptions = Omit<BackfillOptions, 'ray'> &
  CallOptions & {
    /** What computes the column, in place of what is kept on it: `udf(…)`, `{ sql: 'length(caption)' }` or a file. */
    function?: ComputedFunction | FunctionGiven | undefined;
    /** The Ray to run on: `await ray.connect(…)`, `await ray.cluster(…)`, or the address of its dashboard. */
    ray?: RayPlace | { readonly place: RayPlace } | string | undefined;
    /** Hashes of functions found on tables that may run without being asked about. */
    allowStoredCode?: readonly string[] | undefined;
  };

/** What a backfill has done. */
export type BackfillResult = {
  readonly id: string;
  /** Rows that were computed, those of an earlier run among them. */
  readonly rows: number;
  /** Rows that the function threw for, and some of them. */
  readonly errors: number;
  readonly errorSamples: readonly RowError[];
  /** Rows that were left to the next run. */
  readonly skipped: number;
  readonly bytesWritten: number;
  readonly seconds: number;
  /** The latest version of the table that it made. */
  readonly version: number | undefined;
};

/**
 * A backfill that is under way, in a process of its own. `await job` waits for its end; it goes on when nobody waits, when
 * the cell is interrupted and when the notebook is closed.
 */
export interface BackfillJob extends PromiseLike<BackfillResult> {
  /** Settles when it is over. Rejects with a JobError when it failed or was cancelled. */
  readonly done: Promise<BackfillResult>;
  /** Its id, known once it has begun. */
  readonly id: Promise<string>;
  /** How far it is. */
  view(): Promise<JobView>;
  /** Ends it, and waits until it has. What was computed is kept. */
  cancel(): Promise<void>;
}

/** One fragment computed and written nowhere. */
export type TableTrial = {
  readonly fragment: number;
  readonly rows: number;
  readonly seconds: number;
  readonly errors: number;
  /** The inputs and the column, as they are and as they would be. */
  readonly before: ArrowTable;
  readonly after: ArrowTable;
};
