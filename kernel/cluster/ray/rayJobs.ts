import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { stringAt } from '#shared/fields.ts';
import { isAtLeast, showVersion, versionIn } from '#cluster/kube/versionNumbers.ts';
import { sleep } from './sleep.ts';
import { badReply, isAlreadyThere, isStillRunning } from './rayErrors.ts';
import type { RayPackage } from './rayPackage.ts';
import { isFinished, readRayJob, readRayRoom, type RayJob, type RayCapacity } from './rayReplies.ts';
import { RayConnection, type RayTarget } from './rayRequest.ts';

/** Older versions lack features of the job API that backfills need. */
export const oldestRay = { major: 2, minor: 43, patch: 0 } as const;

/** Milliseconds to wait for a canceled job that has not started. */
const pendingLimit = 5000;

/**
 * The runtime environment of a job, with Ray's names for its parts. Every user who can see the job can see all of it.
 */
export type RayRuntime = {
  /** `gcs://NAME.zip`: the folder that the job starts in. */
  readonly workingDir?: string | undefined;
  readonly envVars?: Readonly<Record<string, string>> | undefined;
  /** Requirements that Ray installs first, in an environment separate from the cluster's. */
  readonly pip?: readonly string[] | undefined;
};

export type RaySubmission = {
  /** Chosen by the caller, so that a repeated call starts only one job. */
  readonly submissionId: string;
  /** A shell command on the head. */
  readonly entrypoint: string;
  readonly runtime: RayRuntime;
  readonly metadata: Readonly<Record<string, string>>;
  /** CPUs that the command itself reserves. Default: 0, so that it never waits for one. */
  readonly numCpus?: number | undefined;
};

export type RayVersion = {
  /** `2.60.0` */
  readonly version: string;
  /** Id of this run of the cluster; a restart changes it. */
  readonly session: string;
};

/** The jobs of one Ray cluster, over the API of its dashboard. The creator closes this object. */
export class RayJobs {
  readonly #connection: RayConnection;

  /** @throws ClusterError ProfileInvalid if the address is not valid */
  constructor(target: RayTarget) {
    this.#connection = new RayConnection(target);
  }

  /** `Ray at http://127.0.0.1:8265`, for messages. */
  get subject(): string {
    return this.#connection.subject;
  }

  /** @throws ClusterError WrongServer if the server is not Ray, TooOld */
  async version(signal: AbortSignal): Promise<RayVersion> {
    const body = await this.#connection.json({ method: 'GET', path: '/api/version' }, signal);
    const version = stringAt(body, 'ray_version');
    const numbers = versionIn(version);
    if (version === undefined || numbers === undefined) {
      throw new ClusterError(
        'WrongServer',
        `${this.subject} does not report its version.`,
        'Check that the address is that of a Ray dashboard.',
      );
    }
    if (!isAtLeast(numbers, oldestRay)) {
      throw new ClusterError(
        'TooOld',
        `${this.subject} is version ${version}; backfills require ${showVersion(oldestRay)} or newer.`,
        'Start the cluster with a newer Ray image.',
      );
    }
    return { version, session: stringAt(body, 'session_name') ?? '' };
  }

  /** Uploads a package for all nodes of the cluster. @returns its URL for `workingDir` */
  async upload(pack: RayPackage, signal: AbortSignal): Promise<string> {
    // The package is always uploaded, because Ray drops a package when the last job with it ends.
    const path = `/api/packages/gcs/${encodeURIComponent(pack.name)}`;
    await this.#connection.text({ method: 'PUT', path, bytes: pack.bytes }, signal);
    return `gcs://${pack.name}`;
  }

  /**
   * Starts a job, or finds the existing job with the same id.
   * @returns whether the job existed
   */
  async submit(submission: RaySubmission, signal: AbortSignal): Promise<{ readonly wasThere: boolean }> {
    const { submissionId, entrypoint, runtime, metadata, numCpus = 0 } = submission;
    const json = {
      entrypoint,
      submission_id: submissionId,
      entrypoint_num_cpus: numCpus,
      metadata,
      runtime_env: {
        ...(runtime.workingDir !== undefined && { working_dir: runtime.workingDir }),
        ...(runtime.envVars && { env_vars: runtime.envVars }),
        // The check of pip is skipped, because it fails on unrelated packages of an image.
        ...(runtime.pip && runtime.pip.length > 0 && { pip: { packages: runtime.pip, pip_check: false } }),
      },
    };
    try {
      await this.#connection.text({ method: 'POST', path: '/api/jobs/', json }, signal);
      return { wasThere: false };
    } catch (error) {
      if (isClusterError(error) && isAlreadyThere(error)) return { wasThere: true };
      throw error;
    }
  }

  /** @throws ClusterError NotFound if the job does not exist */
  async status(submissionId: string, signal: AbortSignal): Promise<RayJob> {
    const path = pathOf(submissionId);
    const body = await this.#ofJob(submissionId, () => this.#connection.json({ method: 'GET', path }, signal));
    const job = readRayJob(body);
    if (job === undefined) throw badReply(this.subject, `GET ${path}`);
    return job;
  }

  /** Returns the whole output of a job; empty if it has not started. @throws ClusterError NotFound */
  async log(submissionId: string, signal: AbortSignal): Promise<string> {
    const path = `${pathOf(submissionId)}/logs`;
    const body = await this.#ofJob(submissionId, () => this.#connection.json({ method: 'GET', path }, signal));
    const log = (body as { logs?: unknown } | null)?.logs;
    if (typeof log !== 'string') throw badReply(this.subject, `GET ${path}`);
    return log;
  }

  /**
   * Returns the last lines of a job's output. Ray has no other way to skip output that was read before.
   * @param node the node of the job's driver: `driverNode` from `status`
   */
  async lastOfLog(submissionId: string, node: string, lines: number, signal: AbortSignal): Promise<string> {
    // The log is not read by submission id, because releases up to 2.60 return an error for it.
    const filename = `job-driver-${submissionId}.log`;
    // Releases before 2.5x mark each chunk unless plain text is requested.
    const query = new URLSearchParams({ node_id: node, filename, lines: String(lines), format: 'text' });
    return await this.#connection.text({ method: 'GET', path: `/api/v0/logs/file?${query.toString()}` }, signal);
  }

  /** Lists all submitted jobs, also those of other clients. */
  async list(signal: AbortSignal): Promise<readonly RayJob[]> {
    const body = await this.#connection.json({ method: 'GET', path: '/api/jobs/' }, signal);
    if (!Array.isArray(body)) throw badReply(this.subject, 'GET /api/jobs/');
    // Drivers that were started by hand are listed too, without a submission id.
    return body.flatMap((one) => readRayJob(one) ?? []);
  }

  /**
   * Stops a job and waits for its end; a job that has ended stays as it is. Ray cannot stop a job that waits for
   * resources or its environment before it starts: after `pendingLimit` this returns the job with the state `PENDING`.
   * @returns its last state @throws ClusterError NotFound, Timeout if it does not end
   */
  async stop(submissionId: string, signal: AbortSignal, limit = 60_000): Promise<RayJob> {
    await this.#ofJob(submissionId, () =>
      this.#connection.text({ method: 'POST', path: `${pathOf(submissionId)}/stop` }, signal),
    );
    const begun = Date.now();
    for (let wait = 100; ; wait = Math.min(2 * wait, 1000)) {
      const job = await this.status(submissionId, signal);
      if (isFinished(job.state)) return job;
      if (job.state === 'PENDING' && Date.now() > begun + pendingLimit) return job;
      if (Date.now() > begun + limit) {
        throw new ClusterError(
          'Timeout',
          `${this.subject} did not stop job "${submissionId}" within ${limit / 1000} s.`,
          'Check the job in the Ray dashboard.',
        );
      }
      await sleep(wait, signal);
    }
  }

  /** Removes a job that has ended, and its log. @throws ClusterError NotFound, Conflict while it runs */
  async delete(submissionId: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#ofJob(submissionId, () =>
        this.#connection.text({ method: 'DELETE', path: pathOf(submissionId) }, signal),
      );
    } catch (error) {
      if (!isClusterError(error) || !isStillRunning(error)) throw error;
      throw new ClusterError('Conflict', `${this.subject}: job "${submissionId}" is still running.`, 'Stop it first.', {
        cause: error,
      });
    }
  }

  /** Reads the used resources and waiting requests of the cluster; `undefined` if Ray does not report them. */
  async room(signal: AbortSignal): Promise<RayCapacity | undefined> {
    return readRayRoom(await this.#connection.json({ method: 'GET', path: '/api/cluster_status' }, signal));
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async #ofJob<T>(submissionId: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!isClusterError(error) || error.kind !== 'NotFound') throw error;
      throw new ClusterError(
        'NotFound',
        `${this.subject} has no job "${submissionId}".`,
        'The job was deleted, or Ray was restarted.',
        { cause: error, status: error.status },
      );
    }
  }
}

const pathOf = (submissionId: string): string => `/api/jobs/${encodeURIComponent(submissionId)}`;
