import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import { rayPackage } from '#cluster/ray/rayPackage.ts';
import { isFinished } from '#cluster/ray/rayReplies.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { inRoot } from '../../scripts/paths.ts';
import { RayHead } from '../cluster/parts/rayHead.ts';
import { runOnRay } from '../cluster/parts/rayRun.ts';
import { newestRay } from '../harness/needs/rayNeeds.ts';

/**
 * A running Ray. Our backfill and lance-ray are sent to it as jobs. The measured time is from sending a job until its
 * end is known.
 */
export class WarmRay implements AsyncDisposable {
  readonly #head: RayHead;
  readonly #jobs: RayJobs;
  readonly #concurrency: number;
  readonly #delays: number[] = [];

  static async start(concurrency: number): Promise<WarmRay> {
    return new WarmRay(await RayHead.start(newestRay, { processors: concurrency }), concurrency);
  }

  private constructor(head: RayHead, concurrency: number) {
    this.#head = head;
    this.#jobs = new RayJobs(head.target);
    this.#concurrency = concurrency;
  }

  /** Milliseconds from an event of the driver until this process received it, the maximum of each run. */
  get delays(): readonly number[] {
    return this.#delays;
  }

  /**
   * Runs a backfill with the runner `ray`. Runs another backfill of the same table before, because the capabilities of
   * Ray are checked once per table.
   * @returns milliseconds from sending the job until its end is known
   */
  async backfill(uri: string, fn: ComputedFunction): Promise<number> {
    const ray = this.#head.target;
    await runOnRay({ ray, uri, column: 'before', function: fn, more: { numFrags: 1 } }).ended;
    let longest = 0;
    const begun = performance.now();
    const run = runOnRay({
      ray,
      uri,
      column: 'c',
      function: fn,
      more: { concurrency: this.#concurrency },
      onEvent: (event) => {
        // The driver runs on this machine, so the times of its events can be compared with the time here.
        if ('at' in event && typeof event.at === 'number') longest = Math.max(longest, Date.now() - event.at);
      },
    });
    await run.ended;
    this.#delays.push(longest);
    return performance.now() - begun;
  }

  /** Runs `add_columns` of lance-ray. Its packages are in an environment of the same Ray release. */
  async lanceRay(uri: string, packages: string): Promise<number> {
    const signal = AbortSignal.timeout(300_000);
    const begun = performance.now();
    const script = readFileSync(inRoot('test/bench/python/backfillPeers.py'));
    const submissionId = `lance-ray-${randomUUID().slice(0, 8)}`;
    const argument = JSON.stringify({ uri, concurrency: this.#concurrency });
    await this.#jobs.submit(
      {
        submissionId,
        entrypoint: `python3 backfillPeers.py lance_ray '${argument}'`,
        runtime: {
          workingDir: await this.#jobs.upload(rayPackage({ 'backfillPeers.py': script }), signal),
          envVars: { PYTHONPATH: packages },
        },
        metadata: {},
      },
      signal,
    );
    let job = await this.#jobs.status(submissionId, signal);
    while (!isFinished(job.state)) {
      await pause(150);
      job = await this.#jobs.status(submissionId, signal);
    }
    if (job.state !== 'SUCCEEDED') throw new Error(`lance-ray failed: ${job.message}`);
    return performance.now() - begun;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#jobs.close();
    await this.#head.stop();
  }
}
