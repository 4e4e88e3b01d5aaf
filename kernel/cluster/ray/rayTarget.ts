/** Where a Ray answers. */
export type RayTarget = {
  /** Of its dashboard, `http://127.0.0.1:8265`; a path stays in front. */
  readonly address: string;
  /** What it wants of who asks. A secret. */
  readonly token?: string | undefined;
  /** A Unix socket or named pipe that leads there, in place of the host of the address. */
  readonly socketPath?: string | undefined;
};

/** A way to a Ray that somebody keeps up; whoever opened it disposes of it. */
export type RayLink = AsyncDisposable & {
  readonly target: RayTarget;
  /** Aborts when it can't be kept up any more. A connection that drops says nothing here: the next one may succeed. */
  readonly signal: AbortSignal;
};
