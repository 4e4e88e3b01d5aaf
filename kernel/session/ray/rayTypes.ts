// What a notebook sees of `ray`. The declarations of this file are part of what cells are checked against.
import type { RayPlace } from '#shared/jobs/backfill.ts';
import type { ClusterSettings, EitherSpelling } from '#session/cluster/clusterTypes.ts';

/** A Ray that was reached. `await table.backfill('column', { ray })` runs on it. */
export interface RayConnection extends AsyncDisposable {
  /** As Ray itself says. */
  readonly version: string;
  /** What backfills find it by, also in a process of their own. May hold the token: it is left out where the value is shown. */
  readonly place: RayPlace;
  /**
   * Opens its dashboard to browsers of this machine for as long as the connection is there, and gives the address. What comes
   * through the API server has a key in it that is good until then.
   */
  dashboard(): Promise<string>;
}

/** A RayCluster in Kubernetes that is up. */
export interface RayCluster extends RayConnection {
  readonly name: string;
  readonly namespace: string;
  /** Whether it was there before; it stays then, whatever `onExit` says. */
  readonly adopted: boolean;
  /** Has its pods removed and keeps what it is. What runs on it is lost. */
  suspend(): Promise<void>;
  resume(): Promise<void>;
  /** Removes it, whoever made it. */
  delete(): Promise<void>;
}

/** What is done with a RayCluster when its block ends: `delete` when nothing is said. */
type OnExit = 'delete' | 'retain' | 'retain-on-failure';

type RayClusterOptions = EitherSpelling<{
  /** Of the RayCluster; that of the profile when nothing is said. */
  name?: string;
  /** `retain-on-failure` keeps it where a job on it has failed. */
  onExit?: OnExit;
  /** Image of head and workers that name none; Ray's own when nothing is said. */
  image?: string;
  /** Seconds without work after which a worker is let go; 60 when nothing is said. */
  idleTimeoutSeconds?: number;
}>;

export type RayClusterSettings = RayClusterOptions & ({ profile: string } | ClusterSettings);

export type RayWaitOptions = {
  /** Ends the wait, as an interrupt of the cell does. */
  signal?: AbortSignal | undefined;
  /** Whether the cluster is checked first; it is when nothing is said. */
  verify?: boolean | undefined;
};

export type Ray = {
  /**
   * Makes a RayCluster, or takes the one of this name that is as asked for, waits until it is up, and tells on the way what it
   * waits for: `await using cluster = await ray.cluster({ name: 'backfills', namespace: 'geneva', headGroup: { memory: '8Gi' } })`.
   * Names in snake_case, such as `head_group`, mean the same.
   * Rejects with a ClusterError: Conflict with every difference where one of this name is otherwise, NotReady where a check
   * fails, Timeout with the reason in the words of who is in the way.
   */
  cluster(settings: RayClusterSettings, options?: RayWaitOptions): Promise<RayCluster>;
  /**
   * Reaches a Ray that is there: by the address of its dashboard, `ray.connect('http://127.0.0.1:8265')`, with the token that it
   * wants; or a RayCluster of a profile, `ray.connect({ profile: 'prod', rayCluster: 'backfills' })`.
   */
  connect(
    place: string | EitherSpelling<{ profile: string; rayCluster?: string }>,
    options?: { token?: string; signal?: AbortSignal },
  ): Promise<RayConnection>;
};
