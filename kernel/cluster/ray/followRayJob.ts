import { type ClusterError, isClusterError } from '#cluster/errors.ts';
import { sleep } from './sleep.ts';
import type { RayJobs } from './rayJobs.ts';
import { isFinished, type RayJob } from './rayReplies.ts';

/** Characters. Reading a log up to this size again as a whole is cheap. */
const short = 512 * 1024;
/**
 * Number of characters to keep of the end of the known text. The end is searched in the last lines of the log, to find
 * where the new text starts.
 */
const seam = 2048;
/** Lines to request from a long log, at first and at most. */
const lines = { few: 500, many: 8000 } as const;

/**
 * Reads the new output of a job.
 * Ray returns only the whole log or its last lines. If the log is long, this class reads the last lines and searches
 * them for the end of the known text. The new text starts there.
 */
class RayLog {
  readonly #jobs: RayJobs;
  readonly #submissionId: string;
  #known: number;
  #end = '';

  /** @param known how many characters were already read, by this or another process */
  constructor(jobs: RayJobs, submissionId: string, known = 0) {
    this.#jobs = jobs;
    this.#submissionId = submissionId;
    this.#known = known;
  }

  /** Characters read so far. */
  get known(): number {
    return this.#known;
  }

  /** Returns the new text since the last call. @throws ClusterError */
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
    // The known part was read by another process, so its end is taken from the whole log.
    if (this.#end === '') this.#end = all.slice(0, this.#known).slice(-seam);
    return fresh;
  }
}

/** Returns the text after a part; `undefined` if the part is missing or occurs twice. */
function after(text: string, part: string): string | undefined {
  const index = text.indexOf(part);
  return index < 0 || text.includes(part, index + 1) ? undefined : text.slice(index + part.length);
}

type FollowRayJob = {
  readonly submissionId: string;
  /** Characters of the log that were read before. */
  readonly known: number;
  /** Receives new output, and how many characters of the log are now known. */
  readonly onText: (text: string, known: number) => void;
  /** Receives the job after each poll; the next poll waits for the promise. */
  readonly onJob: (job: RayJob) => void | Promise<void>;
  /** Called once when Ray stops responding. */
  readonly onLost?: ((error: ClusterError) => void) | undefined;
  /** Called when Ray responds again, with the reason of the outage. */
  readonly onReturn: (reason: string) => void;
  /** Milliseconds without a response until the job is no longer followed. */
  readonly patience: number;
};

/**
 * Milliseconds between polls. The pause grows with the duration of a poll, so that polls take at most a quarter of the
 * time.
 */
const looks = { least: 150, most: 2000, share: 3 } as const;
const retries = { first: 250, longest: 10_000 } as const;

/**
 * Follows a job until its state shows that it has ended. Retries after a lost connection.
 * @returns the job's last state
 * @throws ClusterError NotFound if Ray has lost the job, Unreachable and the like after `patience`
 */
export async function followRayJob(jobs: RayJobs, options: FollowRayJob, signal: AbortSignal): Promise<RayJob> {
  const { submissionId, onText, onJob, onReturn, patience } = options;
  const log = new RayLog(jobs, submissionId, options.known);
  let lost: { readonly since: number; readonly reason: string; wait: number } | undefined;
  for (;;) {
    const begun = Date.now();
    try {
      // The state is read before the log, because the log of an ended job is complete.
      const job = await jobs.status(submissionId, signal);
      const text = await log.next(job, signal);
      if (lost) onReturn(lost.reason);
      lost = undefined;
      if (text !== '') onText(text, log.known);
      await onJob(job);
      if (isFinished(job.state)) return job;
    } catch (error) {
      if (!isClusterError(error) || !error.isTransient || signal.aborted) throw error;
      if (!lost) options.onLost?.(error);
      lost ??= { since: Date.now(), reason: error.what, wait: retries.first };
      if (Date.now() - lost.since > patience) throw error;
      await sleep(lost.wait, signal);
      lost.wait = Math.min(2 * lost.wait, retries.longest);
      continue;
    }
    await sleep(Math.min(Math.max(looks.share * (Date.now() - begun), looks.least), looks.most), signal);
  }
}
