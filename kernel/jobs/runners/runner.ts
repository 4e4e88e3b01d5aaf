import type { BackfillRequest, RunnerName } from '#shared/jobs/backfill.ts';
import type { JobEvent } from '#shared/jobs/jobEvents.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';

/** An event before `emit` sets its time. */
export type NewEvent = JobEvent extends infer E ? (E extends unknown ? Omit<E, 'at'> : never) : never;

/** What a runner receives for a job. Valid as long as the process of the job. */
export type RunContext = {
  readonly spec: JobSpec;
  /** The request including its secrets: keep it in memory only. */
  readonly request: BackfillRequest;
  readonly emit: (event: NewEvent) => void;
  /** Writes to the job's log, for instance output of the function or of a driver. */
  readonly log: (text: string) => void;
  /** Private folder of this job, removed with its record. */
  readonly folder: string;
  /** Values for the next process that resumes the job, such as the id of a job on a cluster. No secrets. */
  readonly kept: { get(name: string): string | undefined; set(name: string, value: string): void };
  /** Aborts when the job is cancelled. Results computed before stay. */
  readonly signal: AbortSignal;
};

export type Availability = { readonly isPossible: boolean; readonly reason: string };

/** A way to run jobs. For a given spec, all runners emit the same events and write the same checkpoints and rows. */
export interface Runner {
  readonly name: RunnerName;
  /** Whether it could run this request, and why or why not, in a sentence. Leaves nothing running. */
  availability(request: BackfillRequest, signal: AbortSignal): Promise<Availability>;
  /**
   * Runs a job to its end, starting from existing checkpoints, and emits its events, `succeeded` last.
   * @throws JobError if the job fails; an AbortError if it was cancelled
   */
  run(context: RunContext): Promise<void>;
}
