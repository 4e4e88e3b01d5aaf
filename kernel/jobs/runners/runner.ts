import type { BackfillRequest, RunnerName } from '#shared/jobs/backfill.ts';
import type { JobEvent } from '#shared/jobs/jobEvents.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';

/** An event before it is told, which is when it gets its time. */
export type NewEvent = JobEvent extends infer E ? (E extends unknown ? Omit<E, 'at'> : never) : never;

/** What a runner is given. It lives as long as the process of the job does. */
export type RunContext = {
  readonly spec: JobSpec;
  /** As it was asked, with its secrets: in memory alone. */
  readonly request: BackfillRequest;
  readonly emit: (event: NewEvent) => void;
  /** Text for the job's log: what the function printed, what a driver said. */
  readonly log: (text: string) => void;
  /** Folder of this job alone, for files of its own; it goes with the record. */
  readonly folder: string;
  /** What the runner keeps of itself for the next process that takes the job up: the id of a job on a cluster. No secret. */
  readonly kept: { get(name: string): string | undefined; set(name: string, value: string): void };
  /** Aborts when the job is cancelled. What was computed by then stays. */
  readonly signal: AbortSignal;
};

export type Availability = { readonly isPossible: boolean; readonly reason: string };

/** A way to run jobs. The same spec gives the same events, checkpoints and rows with each. */
export interface Runner {
  readonly name: RunnerName;
  /** Whether it could run this, and in a sentence why, or why not. Starts nothing that stays. */
  availability(request: BackfillRequest, signal: AbortSignal): Promise<Availability>;
  /**
   * Runs a job to its end, from the checkpoints that there are. Tells all that happens, `succeeded` last.
   * @throws JobError for what ends it; an AbortError when it was cancelled
   */
  run(context: RunContext): Promise<void>;
}
