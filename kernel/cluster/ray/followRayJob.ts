import { isClusterError, type ClusterError } from '#cluster/errors.ts';
import { pauseFor } from './pauseFor.ts';
import { RayLog } from './rayLog.ts';
import { isOver, type RayJob } from './rayReplies.ts';
import type { RayJobs } from './rayJobs.ts';

export type FollowRayJob = {
  readonly submissionId: string;
  /** Characters of its log that were followed before. */
  readonly known: number;
  /** Told what it printed, and how much of its log that makes. */
  readonly onText: (text: string, known: number) => void;
  /** Told of it each time that it was looked at; the next look waits for what comes of it. */
  readonly onJob: (job: RayJob) => void | Promise<void>;
  /** Told once when Ray does not answer any more. */
  readonly onLost?: ((error: ClusterError) => void) | undefined;
  /** Told when Ray is reached again, with why it was not. */
  readonly onReturn: (reason: string) => void;
  /** Milliseconds without an answer after which Ray is given up. */
  readonly patience: number;
};

/** Milliseconds between two looks: a look costs what reading the log costs, so it takes a quarter of the time at most. */
const looks = { least: 150, most: 2000, share: 3 } as const;
const retries = { first: 250, longest: 10_000 } as const;

/**
 * Follows a job to its end. Its state alone says that it has ended; a connection that is lost says nothing, and is made again.
 * @returns what Ray says of it at last
 * @throws ClusterError NotFound where Ray has lost it, Unreachable and its like once the patience is over
 */
export async function followRayJob(jobs: RayJobs, options: FollowRayJob, signal: AbortSignal): Promise<RayJob> {
  const { submissionId, onText, onJob, onReturn, patience } = options;
  const log = new RayLog(jobs, submissionId, options.known);
  let lost: { readonly since: number; readonly reason: string; wait: number } | undefined;
  for (;;) {
    const begun = Date.now();
    try {
      // The state first: the log of a job that is over by then is whole.
      const job = await jobs.status(submissionId, signal);
      const text = await log.next(job, signal);
      if (lost) onReturn(lost.reason);
      lost = undefined;
      if (text !== '') onText(text, log.known);
      await onJob(job);
      if (isOver(job.state)) return job;
    } catch (error) {
      if (!isClusterError(error) || !error.isTransient || signal.aborted) throw error;
      if (!lost) options.onLost?.(error);
      lost ??= { since: Date.now(), reason: error.what, wait: retries.first };
      if (Date.now() - lost.since > patience) throw error;
      await pauseFor(lost.wait, signal);
      lost.wait = Math.min(2 * lost.wait, retries.longest);
      continue;
    }
    await pauseFor(Math.min(Math.max(looks.share * (Date.now() - begun), looks.least), looks.most), signal);
  }
}
