/** Where the dashboard of a Ray answers, which takes its jobs. */
export type RayTarget = {
  /** `http://127.0.0.1:8265`; a path stays in front of those of Ray. */
  readonly address: string;
  /** A secret. Of a Ray that wants one ("token authentication"). */
  readonly token?: string | undefined;
  /** A Unix socket or named pipe to connect to in place of the host of the address: the near end of a port-forward. */
  readonly socketPath?: string | undefined;
};

/** A way to a Ray that somebody keeps open, such as a port-forward. It is mended in silence for as long as that can be done. */
export interface RayLink extends AsyncDisposable {
  readonly target: RayTarget;
  /** Aborts, with a ClusterError as its reason, once it cannot be mended any more. */
  readonly signal: AbortSignal;
}
