import type { BackfillRequest, RunnerName } from '#shared/jobs/backfill.ts';
import type { JobEvent } from '#shared/jobs/jobEvents.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';

export type NewEvent = JobEvent extends infer E ? (E extends unknown ? Omit<E, 'at'> : never) : never;

/** Valid as long as the process of the job runs. */
export type RunContext = {
  readonly spec: JobSpec;
  /** Contains secrets, so keep it in memory only. */
  readonly request: BackfillRequest;
  readonly emit: (event: NewEvent) => void;
  /** Writes to the job's log. */
  readonly log: (text: string) => void;
  /** Private folder of this job, removed with its record. */
  readonly folder: string;
  /** Values that are kept for resuming the job later, such as its id on a cluster. They must not be secrets. */
  readonly kept: { get(name: string): string | undefined; set(name: string, value: string): void };
  /** Aborts when the job is cancelled. Earlier results stay. */
  readonly signal: AbortSignal;
};

export type Availability = { readonly isPossible: boolean; readonly reason: string };

/** Runs jobs. All runners emit the same kinds of events. All except `rest` write checkpoints of one format. */
export interface Runner {
  readonly name: RunnerName;
  /** Returns whether the runner could run this request, and why. Leaves nothing running. */
  availability(request: BackfillRequest, signal: AbortSignal): Promise<Availability>;
  /**
   * Runs a job to its end. Continues from existing checkpoints. Emits the events of the job, with `succeeded` as the
   * last.
   * @throws JobError if the job fails; an AbortError if it was cancelled
   */
  run(context: RunContext): Promise<void>;
}
