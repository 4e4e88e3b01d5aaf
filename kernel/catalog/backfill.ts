import type { Table as ArrowTable } from '#arrow';
import type { CallOptions } from '#catalog/arguments/options.ts';
import type { BackfillOptions, RayPlace } from '#shared/jobs/backfill.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import type { RowError } from '#shared/jobs/jobEvents.ts';
import type { JobView } from '#shared/jobs/jobView.ts';

/** A function as a SQL expression or in a file; `udf()` returns a `ComputedFunction` instead. */
export type FunctionGiven =
  | { sql: string; name?: string; version?: string }
  /** A TypeScript function made by `udf()` in a file. `export` is the name of the export (default: `default`). */
  | { file: string; export?: string; name?: string; version?: string }
  /** A Python function, with the columns it reads and the type it returns, such as `int32` or `float[768]`. */
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
    /**
     * Computes the column with this function instead of the function stored on the column: `udf(…)`, `{ sql:
     * 'length(caption)' }` or a file.
     */
    function?: ComputedFunction | FunctionGiven | undefined;
    /** The Ray cluster to run on: `await ray.connect(…)`, `await ray.cluster(…)`, or the URL of its dashboard. */
    ray?: RayPlace | { readonly place: RayPlace } | string | undefined;
    /** Hashes of functions stored on tables that may run without a confirmation. */
    allowStoredCode?: readonly string[] | undefined;
  };

export type BackfillResult = {
  readonly id: string;
  /** Computed rows, including those of an earlier run. */
  readonly rows: number;
  /** Number of rows for which the function threw, and samples of them. */
  readonly errors: number;
  readonly errorSamples: readonly RowError[];
  /** Number of rows that were left for the next run. */
  readonly skipped: number;
  readonly bytesWritten: number;
  readonly seconds: number;
  /** The newest table version that the backfill created. */
  readonly version: number | undefined;
};

/**
 * A running backfill, in a separate process. `await job` waits until the job has ended. The job continues if it is not
 * awaited, if the cell is interrupted and if the notebook is closed.
 */
export interface BackfillJob extends PromiseLike<BackfillResult> {
  /** Settles when the job ends. Rejects with a JobError if it failed or was cancelled. */
  readonly done: Promise<BackfillResult>;
  /** The id of the job, known once the job has started. */
  readonly id: Promise<string>;
  /** Returns the current progress of the job. */
  view(): Promise<JobView>;
  /** Cancels the job and waits until it has ended. Computed rows are kept. */
  cancel(): Promise<void>;
}

/** Rows of one fragment, computed but not written. */
export type TableTrial = {
  readonly fragment: number;
  readonly rows: number;
  readonly seconds: number;
  readonly errors: number;
  /** The inputs and the column, before and after the computation. */
  readonly before: ArrowTable;
  readonly after: ArrowTable;
};
