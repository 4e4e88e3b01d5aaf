import type { RayJob } from './rayReplies.ts';
import type { RayJobs } from './rayJobs.ts';

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
export class RayLog {
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
