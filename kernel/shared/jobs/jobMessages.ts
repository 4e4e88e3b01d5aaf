import type { BackfillRequest, RunnerName, TableReference } from './backfill.ts';
import type { ComputedColumn, ComputedFunction } from './computedFunction.ts';
import type { BackfillPlan, BackfillTrial } from './jobPlan.ts';
import type { JobView } from './jobView.ts';

// The messages between an editor and the jobs process (dist/jobs.cjs), over a framed pipe; the transport is `Endpoint`
// in rpc.ts. Each job is a separate process and outlives the editor and the jobs process.

/** A function given as a file or an expression. */
export type FunctionSource = { readonly name?: string | undefined; readonly version?: string | undefined } & (
  | { readonly kind: 'sql'; readonly expression: string }
  | { readonly kind: 'typescript'; readonly file: string; readonly export?: string | undefined }
  | {
      readonly kind: 'python';
      readonly file: string;
      readonly entry: string;
      readonly takes: 'row' | 'batch';
      readonly inputs: readonly string[];
      /** A type such as `int32`, `string`, `float[768]`. */
      readonly output: string;
    }
);

/** Requests to the jobs process. */
export type JobsMethods = {
  /** Reads and bundles a function without running it. */
  readFunction: [{ table: TableReference; column: string; source: FunctionSource }, ComputedFunction];
  /** Stores the function on the column. A missing column is added with nulls. */
  register: [{ table: TableReference; column: string; function: ComputedFunction }, null];
  computedColumns: [{ table: TableReference }, readonly ComputedColumn[]];
  /** Records on this machine that this function may run. */
  accept: [{ hash: string }, null];
  isAccepted: [{ hash: string }, boolean];
  plan: [BackfillRequest, BackfillPlan];
  try: [BackfillRequest, BackfillTrial];
  /** A trial of a few rows, to show beside a plan. */
  sample: [BackfillRequest, BackfillTrial];
  /** Starts a job, or joins a running job that does the same. */
  start: [BackfillRequest, { id: string; joined: boolean }];
  /** All recorded jobs of this machine, newest first. */
  list: [null, readonly JobView[]];
  /** Text of the job's log from a byte offset, at most 256 KB. */
  log: [{ id: string; from: number }, { text: string; next: number }];
  cancel: [{ id: string }, null];
  /** Continues a stopped job; `request` contains the secrets again, because records hold no secrets. */
  resume: [{ id: string; request?: BackfillRequest | undefined; runner?: RunnerName | undefined }, { id: string }];
  /** Removes the record of a finished job; tables and checkpoints stay. */
  remove: [{ id: string }, null];
  /** Enables `jobsChanged`, sent at most four times a second. */
  watch: [null, null];
};

/** Requests to the editor. */
export type JobsHostMethods = {
  ready: [null, null];
  /** New or changed jobs, and the ids of removed jobs. */
  jobsChanged: [{ changed: readonly JobView[]; removed: readonly string[] }, null];
};
