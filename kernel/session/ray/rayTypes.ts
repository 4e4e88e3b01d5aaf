// The types of `ray` in a notebook. The type checker of cells reads the declarations of this file.
import type { RayPlace } from '#shared/jobs/backfill.ts';
import type { ClusterSettings, EitherSpelling } from '#session/cluster/clusterTypes.ts';

/** A connection to Ray. `await table.backfill('column', { ray })` runs on it. */
export interface RayConnection extends AsyncDisposable {
  /** Version of Ray, as Ray reports it. */
  readonly version: string;
  /**
   * How backfills find this Ray, even from another process. The place may contain a token, so it is hidden when the
   * connection is shown.
   */
  readonly place: RayPlace;
  /**
   * Makes the dashboard available to browsers on this machine until the connection is closed, and returns its URL. A
   * URL that goes through the API server, or to a Ray with a token, contains a key. The key expires an hour after its
   * last use. Call `dashboard` again for a URL with a new key.
   */
  dashboard(): Promise<string>;
}

/** A running RayCluster in Kubernetes. */
export interface RayCluster extends RayConnection {
  readonly name: string;
  readonly namespace: string;
  /** Whether the RayCluster existed before. If so, it is kept, regardless of `onExit`. */
  readonly adopted: boolean;
  /** Removes the pods but keeps the RayCluster. Jobs that run on the RayCluster are lost. */
  suspend(): Promise<void>;
  resume(): Promise<void>;
  /** Deletes the RayCluster, even if it was adopted. */
  delete(): Promise<void>;
}

/** What happens to a RayCluster at the end of its block. Default: `delete`. */
type OnExit = 'delete' | 'retain' | 'retain-on-failure';

type RayClusterOptions = EitherSpelling<{
  /** Name of the RayCluster. Default: the name in the profile. */
  name?: string;
  /** `retain-on-failure` keeps the RayCluster if a job on it has failed. */
  onExit?: OnExit;
  /** Image of head and workers that set none. Default: Ray's own image. */
  image?: string;
  /** Seconds without work after which a worker is removed. Default: 60. */
  idleTimeoutSeconds?: number;
}>;

export type RayClusterSettings = RayClusterOptions & ({ profile: string } | ClusterSettings);

export type RayWaitOptions = {
  /** Cancels the wait, like an interrupt of the cell. */
  signal?: AbortSignal | undefined;
  /** Whether to check the cluster first. Default: true. */
  verify?: boolean | undefined;
};

export type Ray = {
  /**
   * Creates a RayCluster, or uses the existing one of this name if its settings match, and waits until it runs, with
   * the progress in the output: `await using cluster = await ray.cluster({ name: 'backfills', namespace: 'geneva',
   * headGroup: { memory: '8Gi' } })`. Names in snake_case, such as `head_group`, mean the same.
   * Rejects with a ClusterError: Conflict with every difference if a RayCluster of this name has other settings,
   * NotReady if a check fails, Timeout with the reason that Kubernetes reports.
   */
  cluster(settings: RayClusterSettings, options?: RayWaitOptions): Promise<RayCluster>;
  /**
   * Connects to a running Ray: by the URL of its dashboard, `ray.connect('http://127.0.0.1:8265')`, with a token if it
   * needs one; or by a RayCluster of a profile, `ray.connect({ profile: 'prod', rayCluster: 'backfills' })`.
   */
  connect(
    place: string | EitherSpelling<{ profile: string; rayCluster?: string }>,
    options?: { token?: string; signal?: AbortSignal },
  ): Promise<RayConnection>;
};
