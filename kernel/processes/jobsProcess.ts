import { CatalogError, isCatalogErrorKind } from '#shared/errors.ts';
import { jobsHostChecks } from '#shared/jobs/jobShapes.ts';
import { isJobErrorKind, JobError } from '#shared/jobs/jobErrors.ts';
import type { JobsHostMethods, JobsMethods } from '#shared/jobs/jobMessages.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { RemoteError } from '#shared/protocol/rpc.ts';
import { callListener } from './calls.ts';
import type { NodeRuntime } from './childProcess.ts';
import { PipedProcess } from './pipedProcess.ts';

export type JobsStart = {
  /** The bundle, `dist/jobs.cjs`. */
  entry: string;
  node: NodeRuntime;
  /** Called with new or changed jobs and the ids of removed jobs, after `watch` was requested. */
  onChanged: (changed: readonly JobView[], removed: readonly string[]) => void;
  /** Variables for the jobs process, in addition to the environment of this process. Jobs inherit them. */
  env?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * The process for backfills, one per window: it plans and tries them, starts jobs and watches their records. It ends
 * with this process; jobs continue.
 */
export class JobsProcess {
  readonly #process: PipedProcess<JobsHostMethods, JobsMethods>;

  /**
   * Starts the process and waits until it listens.
   * @throws CatalogError ServiceUnavailable (17) if it ends or does not report in time; AbortError if cancelled
   */
  static async start(options: JobsStart): Promise<JobsProcess> {
    options.signal?.throwIfAborted();
    const started = new JobsProcess(options);
    try {
      await started.#process.listening((reason) => unavailable('did not start', reason), options.signal);
      return started;
    } catch (error) {
      started.dispose();
      throw error;
    }
  }

  private constructor({ node, entry, env, onChanged }: JobsStart) {
    this.#process = new PipedProcess({
      node,
      entry,
      env,
      handlers: (markReady) => ({
        ready: () => (markReady(), null),
        jobsChanged: (params) => {
          if (jobsHostChecks.jobsChanged(params)) callListener(() => onChanged(params.changed, params.removed));
          return null;
        },
      }),
    });
  }

  /** The process id, for measurements. */
  get pid(): number | undefined {
    return this.#process.pid;
  }

  /**
   * Calls a method of the process.
   * @throws JobError or CatalogError of the method; CatalogError ServiceUnavailable (17) if the process has ended;
   * AbortError if `signal` is aborted
   */
  async request<K extends keyof JobsMethods>(
    method: K,
    params: JobsMethods[K][0],
    signal?: AbortSignal,
  ): Promise<JobsMethods[K][1]> {
    try {
      return await this.#process.request(method, params, signal);
    } catch (error) {
      throw error instanceof RemoteError ? this.#failureOf(error) : error;
    }
  }

  /** Called once with the reason when the process has ended, or immediately if it has ended. */
  onDidExit(listener: (reason: string) => void): { dispose(): void } {
    return this.#process.onDidExit(listener);
  }

  /** Ends the process but no job. */
  dispose(): void {
    this.#process.dispose();
  }

  /** Recreates an error of the other process, because the class is not sent. The message sent includes the hint. */
  #failureOf(error: RemoteError): Error {
    const { code, message } = error;
    if (code === 'closed') return unavailable('has ended', this.#process.end ?? 'its pipe closed');
    // Kinds that both classes have, such as Internal, are job errors here.
    if (isJobErrorKind(code)) return new JobError(code, message, '', { cause: error });
    if (isCatalogErrorKind(code)) return new CatalogError(code, message, '', { cause: error });
    return error;
  }
}

const unavailable = (what: string, reason: string): CatalogError =>
  new CatalogError(
    'ServiceUnavailable',
    `The backfill process ${what}: ${reason}.`,
    'Check the setting lanceCatalog.nodePath.',
  );
