import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { BackfillPlan, BackfillTrial } from '#shared/jobs/jobPlan.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import type { How } from './resumeRequest.ts';

/** What every place from which jobs are started and watched goes by: notebook, terminal, and the editor's jobs process. */
export interface Jobs {
  /** What a run would do; changes nothing. @throws JobError, CatalogError */
  plan(request: BackfillRequest, signal: AbortSignal): Promise<BackfillPlan>;
  /** Computes one fragment and writes it nowhere. @throws JobError, CatalogError */
  try(request: BackfillRequest, signal: AbortSignal): Promise<BackfillTrial>;
  /**
   * Starts a job in a process of its own, which outlives this one; or joins the one that does the same.
   * @throws JobError Busy when another is at this column
   */
  start(request: BackfillRequest, signal: AbortSignal): Promise<{ readonly id: string; readonly joined: boolean }>;
  /** All jobs of this person on this machine, newest first. */
  list(signal: AbortSignal): Promise<readonly JobView[]>;
  /** @throws JobError JobMissing */
  view(id: string, signal: AbortSignal): Promise<JobView>;
  /** A job as it changes, at most four times a second; ends after the view of its end. */
  follow(id: string, signal: AbortSignal): AsyncIterable<JobView>;
  /** All jobs as they change, until the signal aborts. */
  watch(
    onChange: (changed: readonly JobView[], removed: readonly string[]) => void,
    signal: AbortSignal,
  ): Promise<void>;
  /** The log from a byte on, at most 256 KB of it. */
  log(id: string, from: number, signal: AbortSignal): Promise<{ readonly text: string; readonly next: number }>;
  /** Asks for its end and waits until it has come. */
  cancel(id: string, signal: AbortSignal): Promise<void>;
  /**
   * Goes on from its checkpoints, perhaps by another runner, or with something else done with rows that fail. Records hold no
   * secrets: the request brings them again.
   */
  resume(id: string, how: How, signal: AbortSignal): Promise<{ readonly id: string }>;
  /** Removes the record of a job that has ended; no table and no checkpoint. @throws JobError JobRunning */
  remove(id: string, signal: AbortSignal): Promise<void>;
}
