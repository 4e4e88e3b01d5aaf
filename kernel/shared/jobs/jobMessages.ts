import type { BackfillRequest, TableReference } from './backfill.ts';
import type { ComputedColumn, ComputedFunction } from './computedFunction.ts';
import type { BackfillPlan, BackfillTrial } from './jobPlan.ts';
import type { JobView } from './jobView.ts';

// The messages between an editor and the process that knows backfills (dist/jobs.cjs), over a framed pipe; the transport is
// `Endpoint` in rpc.ts. Jobs themselves are processes of their own and outlive both.

/** How a function is given by a file or an expression. */
export type FunctionSource = { readonly name?: string | undefined; readonly version?: string | undefined } & (
  | { readonly kind: 'sql'; readonly expression: string }
  | { readonly kind: 'typescript'; readonly file: string; readonly export?: string | undefined }
  | {
      readonly kind: 'python';
      readonly file: string;
      readonly entry: string;
      readonly takes: 'row' | 'batch';
      readonly inputs: readonly string[];
      /** A word such as `int32`, `string`, `float[768]`. */
      readonly output: string;
    }
);

/** What the jobs process answers. */
export type JobsMethods = {
  /** Reads and bundles a function; nothing of it is run. */
  readFunction: [{ table: TableReference; column: string; source: FunctionSource }, ComputedFunction];
  /** Adds the column where it is not there, all null, and keeps the function on it. */
  register: [{ table: TableReference; column: string; function: ComputedFunction }, null];
  computedColumns: [{ table: TableReference }, readonly ComputedColumn[]];
  /** Remembers on this machine that this function may run. */
  accept: [{ hash: string }, null];
  isAccepted: [{ hash: string }, boolean];
  plan: [BackfillRequest, BackfillPlan];
  try: [BackfillRequest, BackfillTrial];
  /** Starts a job, or joins the one that does the same already. */
  start: [BackfillRequest, { id: string; joined: boolean }];
  /** All jobs of this machine's record, newest first. */
  list: [null, readonly JobView[]];
  /** Text of the job's log from a byte offset on, at most 256 KB. */
  log: [{ id: string; from: number }, { text: string; next: number }];
  cancel: [{ id: string }, null];
  /** Goes on where it stopped; `catalog` and tokens are given again, since records hold no secret. */
  resume: [{ id: string; request?: BackfillRequest | undefined; runner?: string | undefined }, { id: string }];
  /** Removes the record of a job that has ended; tables and checkpoints stay. */
  remove: [{ id: string }, null];
  /** From now on `jobsChanged` is called with jobs that changed; at most four times a second. */
  watch: [null, null];
};

/** What the editor answers. */
export type JobsHostMethods = {
  ready: [null, null];
  /** Jobs that are new or changed, and ids of those removed. */
  jobsChanged: [{ changed: readonly JobView[]; removed: readonly string[] }, null];
};
