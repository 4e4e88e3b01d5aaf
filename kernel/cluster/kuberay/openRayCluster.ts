import type { ClusterProfile } from '#cluster/profile.ts';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import type { RayLink, RayTarget } from '#cluster/ray/rayRequest.ts';
import { DashboardProxy } from './dashboardProxy.ts';
import type { OpenedConnection } from './openRayLink.ts';
import { deleteRayCluster, resumeRayCluster, suspendRayCluster } from './rayClusters.ts';
import type { OnExit } from './rayClusterSpec.ts';

type OpenRayClusterDeps = {
  readonly opened: OpenedConnection;
  readonly target: RayTarget;
  readonly profile: ClusterProfile;
  readonly name: string;
  readonly rayVersion: string;
  readonly adopted: boolean;
  readonly onExit: OnExit;
};

/** Milliseconds to delete the cluster, or to list its jobs. */
const limit = 20_000;

/**
 * A running RayCluster, with a connection to Ray on it. The owner calls `finish`, or disposes of it to leave the
 * cluster running.
 */
export class OpenRayCluster implements RayLink {
  readonly #parts: OpenRayClusterDeps;
  #door: Promise<DashboardProxy> | undefined;

  constructor(parts: OpenRayClusterDeps) {
    this.#parts = parts;
  }

  get name(): string {
    return this.#parts.name;
  }

  get namespace(): string {
    return this.#parts.profile.namespace;
  }

  get profile(): ClusterProfile {
    return this.#parts.profile;
  }

  /** The version of Ray, as Ray reports it. */
  get rayVersion(): string {
    return this.#parts.rayVersion;
  }

  /** Whether the RayCluster existed before. */
  get adopted(): boolean {
    return this.#parts.adopted;
  }

  get target(): RayTarget {
    return this.#parts.target;
  }

  get signal(): AbortSignal {
    return this.#parts.opened.ended.signal;
  }

  /** Opens the dashboard to this machine's browsers. @returns a URL with a key; callers open it, but never log it */
  async dashboard(): Promise<string> {
    this.#door ??= this.#openDoor().catch((error: unknown) => {
      // Forgets the failed proxy, so that the next call tries again.
      this.#door = undefined;
      throw error;
    });
    return (await this.#door).address;
  }

  async #openDoor(): Promise<DashboardProxy> {
    const door = await DashboardProxy.open(this.#parts.target);
    this.#parts.opened.own(door);
    return door;
  }

  /** Has the operator remove all pods but keep the RayCluster; running jobs are lost. @throws ClusterError */
  suspend(signal: AbortSignal): Promise<void> {
    return suspendRayCluster(this.#parts.opened.connection, this, signal);
  }

  /** @throws ClusterError */
  resume(signal: AbortSignal): Promise<void> {
    return resumeRayCluster(this.#parts.opened.connection, this, signal);
  }

  /** Deletes the cluster, even if it existed before. @throws ClusterError */
  async delete(signal: AbortSignal): Promise<void> {
    await deleteRayCluster(this.#parts.opened.connection, this, signal);
  }

  /**
   * Closes the connection, and deletes the cluster if it was created here and `onExit` requires it.
   * @param outcome whether the work on the cluster failed. Default: whether Ray lists a failed job
   * @returns whether the cluster is deleted
   * @throws ClusterError if it could not be deleted
   */
  async finish(outcome?: { readonly failed: boolean }): Promise<boolean> {
    const { adopted, onExit } = this.#parts;
    try {
      if (adopted || onExit === 'retain') return false;
      if (onExit === 'retain-on-failure' && (outcome?.failed ?? (await this.#hasFailedJob()))) return false;
      await this.delete(AbortSignal.timeout(limit));
      return true;
    } finally {
      await this.#parts.opened.close();
    }
  }

  /** If Ray does not respond, a job may have failed, so the cluster is kept for analysis. */
  async #hasFailedJob(): Promise<boolean> {
    const jobs = new RayJobs(this.#parts.target);
    try {
      return (await jobs.list(AbortSignal.timeout(limit))).some(({ state }) => state === 'FAILED');
    } catch {
      return true;
    } finally {
      await jobs.close();
    }
  }

  /** Closes the connection, and leaves the cluster as it is. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.opened.close();
  }
}
