import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { BackfillPlan, BackfillTrial } from '#shared/jobs/jobPlan.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import type { ResumeOptions } from './resumeRequest.ts';

/** The jobs API for notebooks, the command line and the editor's jobs process. */
export interface Jobs {
  /** Plans a run; changes nothing. @throws JobError, CatalogError */
  plan(request: BackfillRequest, signal: AbortSignal): Promise<BackfillPlan>;
  /**
   * Computes one fragment without writing it.
   * @param rows maximum rows; default: `maxTrialRows`
   * @throws JobError, CatalogError
   */
  try(request: BackfillRequest, signal: AbortSignal, rows?: number): Promise<BackfillTrial>;
  /**
   * Starts a job in a separate process, which continues after this process has ended. If a running job does the same,
   * the call joins that job instead.
   * @throws JobError Busy if another job computes this column
   */
  start(request: BackfillRequest, signal: AbortSignal): Promise<{ readonly id: string; readonly joined: boolean }>;
  /** Jobs of this user on this machine, newest first. */
  list(signal: AbortSignal): Promise<readonly JobView[]>;
  /** @throws JobError JobMissing */
  view(id: string, signal: AbortSignal): Promise<JobView>;
  /** Yields at most four views a second, the final one last. */
  follow(id: string, signal: AbortSignal): AsyncIterable<JobView>;
  /** Reports changes until the signal aborts. */
  watch(
    onChange: (changed: readonly JobView[], removed: readonly string[]) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** Reads at most 256 KB from a byte offset. */
  log(id: string, from: number, signal: AbortSignal): Promise<{ readonly text: string; readonly next: number }>;
  /** Cancels a job and waits until it has ended. */
  cancel(id: string, signal: AbortSignal): Promise<void>;
  /**
   * Continues from the checkpoints, optionally with another runner or error handling. If the job needs secrets, `how`
   * must contain the request with them, because records hold no secrets.
   */
  resume(id: string, how: ResumeOptions, signal: AbortSignal): Promise<{ readonly id: string }>;
  /** Removes the record, but not the table and the checkpoints. @throws JobError JobRunning */
  remove(id: string, signal: AbortSignal): Promise<void>;
}
