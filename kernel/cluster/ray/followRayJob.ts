import { type ClusterError, isClusterError } from '#cluster/errors.ts';
import { pauseFor } from './pauseFor.ts';
import type { RayJobs } from './rayJobs.ts';
import { isOver, type RayJob } from './rayReplies.ts';

/** Characters of a log up to which reading all of it again costs nothing to speak of. */
const short = 512 * 1024;
/** Characters at the end of what is known, by which it is found again in the last lines. */
const seam = 2048;
/** Lines that are asked for of a long log, first and at last. */
const lines = { few: 500, many: 8000 } as const;

/**
 * What a job prints, piece by piece. Ray gives out the whole log or its last lines and nothing in between, so of a long one the
 * last lines are read, and what is new in them begins where the end of what is known ends.
 */
class RayLog {
  readonly #jobs: RayJobs;
  readonly #submissionId: string;
  #known: number;
  #end = '';

  /** @param known characters that were read before, by another process too */
  constructor(jobs: RayJobs, submissionId: string, known = 0) {
    this.#jobs = jobs;
    this.#submissionId = submissionId;
    this.#known = known;
  }

  /** Characters read so far. */
  get known(): number {
    return this.#known;
  }

  /** What is new since the last call. @throws ClusterError */
  async next(job: RayJob, signal: AbortSignal): Promise<string> {
    const fresh = await this.#read(job, signal);
    this.#known += fresh.length;
    this.#end = (this.#end + fresh).slice(-seam);
    return fresh;
  }

  async #read({ driverNode }: RayJob, signal: AbortSignal): Promise<string> {
    if (this.#known > short && this.#end.length === seam && driverNode !== undefined) {
      for (let count: number = lines.few; count <= lines.many; count *= 4) {
        const fresh = after(await this.#jobs.lastOfLog(this.#submissionId, driverNode, count, signal), this.#end);
        if (fresh !== undefined) return fresh;
      }
    }
    const all = await this.#jobs.log(this.#submissionId, signal);
    const fresh = all.slice(this.#known);
    // For a process that has read none of what is in front.
    if (this.#end === '') this.#end = all.slice(0, this.#known).slice(-seam);
    return fresh;
  }
}

/** The text behind a part of it; `undefined` where the part is not there, or more than once. */
function after(text: string, part: string): string | undefined {
  const index = text.indexOf(part);
  return index < 0 || text.includes(part, index + 1) ? undefined : text.slice(index + part.length);
}

type FollowRayJob = {
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
