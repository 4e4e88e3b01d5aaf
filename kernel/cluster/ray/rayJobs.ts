import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { textAt } from '#cluster/kube/fields.ts';
import { isAtLeast, showVersion, versionIn } from '#cluster/kube/versionNumbers.ts';
import { pauseFor } from './pauseFor.ts';
import { badReply, isAlreadyThere, isStillRunning } from './rayErrors.ts';
import type { RayPackage } from './rayPackage.ts';
import { isOver, readRayJob, readRayRoom, type RayJob, type RayRoom } from './rayReplies.ts';
import { RayConnection } from './rayRequest.ts';
import type { RayTarget } from './rayRequest.ts';

/** Older ones lack what jobs need of their interface. */
export const oldestRay = { major: 2, minor: 43, patch: 0 } as const;

/** Milliseconds after which a job that was told to end, and has not begun, is no longer waited for. */
const pendingLimit = 5000;

/** What a job is run with beside its command; in Ray's own names, and anybody who may see the job sees it. */
export type RayRuntime = {
  /** `gcs://NAME.zip`: the folder that it starts in. */
  readonly workingDir?: string | undefined;
  readonly envVars?: Readonly<Record<string, string>> | undefined;
  /** Requirements that Ray installs first, into an environment beside the cluster's own. */
  readonly pip?: readonly string[] | undefined;
};

export type RaySubmission = {
  /** Chosen by whoever submits, so that asking twice starts one job. */
  readonly submissionId: string;
  /** A line for the shell of the head. */
  readonly entrypoint: string;
  readonly runtime: RayRuntime;
  readonly metadata: Readonly<Record<string, string>>;
  /** Processors that the command itself takes; none where nothing is said, so that it never waits for one. */
  readonly numCpus?: number | undefined;
};

export type RayVersion = {
  /** `2.60.0` */
  readonly version: string;
  /** Of this run of the cluster; another after it was started anew. */
  readonly session: string;
};

/** The jobs of one Ray, by the interface of its dashboard. Whoever makes one closes it. */
export class RayJobs {
  readonly #connection: RayConnection;

  /** @throws ClusterError ProfileInvalid for what is no address */
  constructor(target: RayTarget) {
    this.#connection = new RayConnection(target);
  }

  /** `Ray at http://127.0.0.1:8265`, for sentences. */
  get subject(): string {
    return this.#connection.subject;
  }

  /** @throws ClusterError WrongServer for another server, TooOld */
  async version(signal: AbortSignal): Promise<RayVersion> {
    const body = await this.#connection.json({ method: 'GET', path: '/api/version' }, signal);
    const version = textAt(body, 'ray_version');
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
    return { version, session: textAt(body, 'session_name') ?? '' };
  }

  /** Puts a package where all nodes of the cluster get it. @returns its address for `workingDir` */
  async upload(pack: RayPackage, signal: AbortSignal): Promise<string> {
    // Without asking first whether it is there: Ray drops a package when the last job that used it ends.
    const path = `/api/packages/gcs/${encodeURIComponent(pack.name)}`;
    await this.#connection.text({ method: 'PUT', path, bytes: pack.bytes }, signal);
    return `gcs://${pack.name}`;
  }

  /**
   * Starts a job, or finds the one that was started by that id before.
   * @returns whether it was there already
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
        // Without its check, which stumbles over what an image has installed beside us.
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

  /** @throws ClusterError NotFound for a job that is not there */
  async status(submissionId: string, signal: AbortSignal): Promise<RayJob> {
    const path = pathOf(submissionId);
    const body = await this.#ofJob(submissionId, () => this.#connection.json({ method: 'GET', path }, signal));
    const job = readRayJob(body);
    if (job === undefined) throw badReply(this.subject, `GET ${path}`);
    return job;
  }

  /** All that the job has printed; empty for one that has not begun. @throws ClusterError NotFound */
  async log(submissionId: string, signal: AbortSignal): Promise<string> {
    const path = `${pathOf(submissionId)}/logs`;
    const body = await this.#ofJob(submissionId, () => this.#connection.json({ method: 'GET', path }, signal));
    const log = (body as { logs?: unknown } | null)?.logs;
    if (typeof log !== 'string') throw badReply(this.subject, `GET ${path}`);
    return log;
  }

  /**
   * The last lines of what the job has printed: Ray has no other way to leave out what was read before.
   * @param node where its driver runs, as `status` says
   */
  async lastOfLog(submissionId: string, node: string, lines: number, signal: AbortSignal): Promise<string> {
    // Not by the id of the submission, which releases up to 2.60 answer with an error of their own.
    const filename = `job-driver-${submissionId}.log`;
    // Releases before 2.5x mark each piece of it unless they are asked for plain text.
    const query = new URLSearchParams({ node_id: node, filename, lines: String(lines), format: 'text' });
    return await this.#connection.text({ method: 'GET', path: `/api/v0/logs/file?${query.toString()}` }, signal);
  }

  /** Those that were submitted, by whomever. */
  async list(signal: AbortSignal): Promise<readonly RayJob[]> {
    const body = await this.#connection.json({ method: 'GET', path: '/api/jobs/' }, signal);
    if (!Array.isArray(body)) throw badReply(this.subject, 'GET /api/jobs/');
    // Drivers that somebody started by hand are listed too, and have no such id.
    return body.flatMap((one) => readRayJob(one) ?? []);
  }

  /**
   * Ends a job and waits until it has ended; one that is over stays as it is. One that waits for its room or environment
   * cannot be ended by Ray before it is about to begin: after a moment it is given back as it is, `PENDING`.
   * @returns its last state @throws ClusterError NotFound, Timeout where it does not end
   */
  async stop(submissionId: string, signal: AbortSignal, limit = 60_000): Promise<RayJob> {
    await this.#ofJob(submissionId, () =>
      this.#connection.text({ method: 'POST', path: `${pathOf(submissionId)}/stop` }, signal),
    );
    const begun = Date.now();
    for (let wait = 100; ; wait = Math.min(2 * wait, 1000)) {
      const job = await this.status(submissionId, signal);
      if (isOver(job.state)) return job;
      if (job.state === 'PENDING' && Date.now() > begun + pendingLimit) return job;
      if (Date.now() > begun + limit) {
        throw new ClusterError(
          'Timeout',
          `${this.subject} did not stop job "${submissionId}" within ${limit / 1000} s.`,
          'Check the job in the Ray dashboard.',
        );
      }
      await pauseFor(wait, signal);
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

  /** What is used of the cluster, and what waits for room. `undefined` where Ray does not say. */
  async room(signal: AbortSignal): Promise<RayRoom | undefined> {
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
