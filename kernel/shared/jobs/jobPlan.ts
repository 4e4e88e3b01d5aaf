import type { BackfillOptions, RunnerName } from './backfill.ts';
import type { ComputedFunction } from './computedFunction.ts';

/** A figure of a plan: counted, or estimated from the data in `basis`. */
export type Figure = { readonly value: number; readonly basis: 'counted' | { readonly estimatedFrom: string } };

/** A preview of a run, which changes nothing. */
export type BackfillPlan = {
  readonly column: string;
  readonly function: ComputedFunction;
  readonly runner: RunnerName;
  readonly runnerReason: string;
  /** The other runners, and why they are unavailable or not picked. */
  readonly others: readonly { readonly runner: RunnerName; readonly isPossible: boolean; readonly reason: string }[];
  readonly options: BackfillOptions;
  readonly readVersion: number;
  readonly rows: { readonly total: Figure; readonly toCompute: Figure; readonly done: Figure; readonly reused: Figure };
  readonly fragments: { readonly total: Figure; readonly toCompute: Figure; readonly done: Figure };
  readonly bytes: { readonly read: Figure; readonly written: Figure; readonly rewritten: Figure };
  /** Maximum number of new versions if no other client writes meanwhile. Unknown for a job that a server runs. */
  readonly versions: Figure | undefined;
  /** Rows per second, and the duration in seconds. Known after a trial has measured them. */
  readonly rowsPerSecond: Figure | undefined;
  readonly seconds: Figure | undefined;
  /** Sentences about possible conflicts, stale values, and what the user should know or confirm. */
  readonly notes: readonly { readonly level: 'info' | 'warning'; readonly text: string }[];
};

/** Maximum rows of a trial. */
export const maxTrialRows = 10_000;
/** Rows of the sample beside a plan. */
export const sampleRows = 5;

/** A few rows with the values of a trial, as text. */
export type PlanSample = {
  /** Names of the columns that the function reads. */
  readonly inputs: readonly string[];
  readonly rows: readonly {
    readonly inputs: readonly string[];
    readonly before: string;
    readonly after: string;
    /** Why the function failed; empty if it did not. */
    readonly error: string;
  }[];
};

/**
 * Rows of one fragment, computed but not written. `before` and `after` are base64 Arrow IPC streams. Each has the input
 * columns first, then the computed column.
 */
export type BackfillTrial = {
  readonly fragment: number;
  readonly rows: number;
  readonly seconds: number;
  readonly errors: number;
  readonly before: string;
  readonly after: string;
};
