import type { ClusterProfile } from '#cluster/profile.ts';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import type { RayLink, RayTarget } from '#cluster/ray/rayRequest.ts';
import { DashboardDoor } from './dashboardProxy.ts';
import type { OpenedConnection } from './openRayLink.ts';
import { deleteRayCluster, resumeRayCluster, suspendRayCluster } from './rayClusters.ts';
import type { OnExit } from './rayClusterSpec.ts';

type OpenRayClusterParts = {
  readonly opened: OpenedConnection;
  readonly target: RayTarget;
  readonly profile: ClusterProfile;
  readonly name: string;
  readonly rayVersion: string;
  readonly adopted: boolean;
  readonly onExit: OnExit;
};

/** Milliseconds for removing it, whatever the cluster does. */
const limit = 20_000;

/** A RayCluster that is up, with a way to its Ray. Whoever has it is done with it by `finish`, or leaves it by disposing. */
export class OpenRayCluster implements RayLink {
  readonly #parts: OpenRayClusterParts;
  #door: Promise<DashboardDoor> | undefined;

  constructor(parts: OpenRayClusterParts) {
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

  /** As Ray itself says. */
  get rayVersion(): string {
    return this.#parts.rayVersion;
  }

  /** Whether it was there before. */
  get adopted(): boolean {
    return this.#parts.adopted;
  }

  get target(): RayTarget {
    return this.#parts.target;
  }

  get signal(): AbortSignal {
    return this.#parts.opened.ended.signal;
  }

  /** Opens its dashboard to this machine's browsers. @returns an address with a key: to be opened, and never logged */
  async dashboard(): Promise<string> {
    this.#door ??= this.#openDoor().catch((error: unknown) => {
      // The next one who asks tries again.
      this.#door = undefined;
      throw error;
    });
    return (await this.#door).address;
  }

  async #openDoor(): Promise<DashboardDoor> {
    const door = await DashboardDoor.open(this.#parts.target);
    this.#parts.opened.own(door);
    return door;
  }

  /** Has all its pods removed and keeps what it is; what runs on it is lost. @throws ClusterError */
  suspend(signal: AbortSignal): Promise<void> {
    return suspendRayCluster(this.#parts.opened.connection, this, signal);
  }

  /** @throws ClusterError */
  resume(signal: AbortSignal): Promise<void> {
    return resumeRayCluster(this.#parts.opened.connection, this, signal);
  }

  /** Removes it, whoever made it. @throws ClusterError */
  async delete(signal: AbortSignal): Promise<void> {
    await deleteRayCluster(this.#parts.opened.connection, this, signal);
  }

  /**
   * Ends the way to it, and removes it where it was made for this and `onExit` says so.
   * @param outcome of what it was used for; Ray is asked whether a job has failed where nothing is said
   * @returns whether it is removed
   * @throws ClusterError where it could not be removed
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

  /** What cannot be asked may have failed, and is kept for whoever wants to know. */
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

  /** Ends the way to it, and leaves it as it is. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.opened.close();
  }
}
