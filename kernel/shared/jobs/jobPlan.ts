import type { BackfillOptions, RunnerName } from './backfill.ts';
import type { ComputedFunction } from './computedFunction.ts';

/** A figure of a plan: counted, or estimated from what `basis` says. */
export type Figure = { readonly value: number; readonly basis: 'counted' | { readonly estimatedFrom: string } };

/** What a run would do; nothing was changed for it. */
export type BackfillPlan = {
  readonly column: string;
  readonly function: ComputedFunction;
  readonly runner: RunnerName;
  readonly runnerReason: string;
  /** Other runners, and why they are not there or not picked. */
  readonly others: readonly { readonly runner: RunnerName; readonly isPossible: boolean; readonly reason: string }[];
  readonly options: BackfillOptions;
  readonly readVersion: number;
  readonly rows: { readonly total: Figure; readonly toCompute: Figure; readonly done: Figure; readonly reused: Figure };
  readonly fragments: { readonly total: Figure; readonly toCompute: Figure; readonly done: Figure };
  readonly bytes: { readonly read: Figure; readonly written: Figure; readonly rewritten: Figure };
  /** Rows a second and seconds, once a trial has measured them. */
  readonly rowsPerSecond: Figure | undefined;
  readonly seconds: Figure | undefined;
  /** In sentences: what may conflict meanwhile, what is stale, what the person ought to know or confirm. */
  readonly notes: readonly { readonly level: 'info' | 'warning'; readonly text: string }[];
};

/** One fragment computed, and written nowhere. Both tables are Arrow IPC streams in base64, with the inputs in front. */
export type BackfillTrial = {
  readonly fragment: number;
  readonly rows: number;
  readonly seconds: number;
  readonly errors: number;
  readonly before: string;
  readonly after: string;
};
