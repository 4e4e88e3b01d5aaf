/** Every way in which talking to a cluster or a cloud fails, and whether it may pass by itself. */
const kinds = {
  ProfileInvalid: { transient: false },
  KubeconfigMissing: { transient: false },
  KubeconfigUnreadable: { transient: false },
  KubeconfigInvalid: { transient: false },
  ContextMissing: { transient: false },
  NotInCluster: { transient: false },
  ExecPluginMissing: { transient: false },
  ExecPluginFailed: { transient: false },
  ExecPluginTimeout: { transient: false },
  /** No name, no route, nobody listening, or the connection went away. */
  Unreachable: { transient: true },
  Timeout: { transient: true },
  TlsUntrusted: { transient: false },
  /** Something answers there, but not what was looked for. */
  WrongServer: { transient: false },
  /** What answers is what was looked for, of a version that lacks what is needed of it. */
  TooOld: { transient: false },
  CredentialsMissing: { transient: false },
  CredentialsExpired: { transient: false },
  CredentialsRefused: { transient: false },
  /** Who asks is known, and may not. */
  Forbidden: { transient: false },
  NotFound: { transient: false },
  Conflict: { transient: false },
  /** The cluster lacks what is needed, by its checks. */
  NotReady: { transient: false },
  InvalidRequest: { transient: false },
  Throttled: { transient: true },
  Unavailable: { transient: true },
  /** A reply that cannot be what the interface says it is. */
  BadReply: { transient: false },
  Aborted: { transient: false },
} as const satisfies Record<string, { readonly transient: boolean }>;

export type ClusterErrorKind = keyof typeof kinds;

export const clusterErrorKinds: readonly string[] = Object.keys(kinds);

// Editor, kernel and command line are bundles of their own: `instanceof` would tell their copies of the class apart.
const brand = Symbol.for('lance-catalog.ClusterError');

/**
 * Every failure of a cluster or a cloud. `message` is one sentence that names the thing and what is wrong; `hint` says what
 * to do next and is part of `message` too, so that a place that shows only the message still shows it.
 */
export class ClusterError extends Error {
  readonly kind: ClusterErrorKind;
  /** What is wrong, without what to do. */
  readonly what: string;
  readonly hint: string;
  /** The HTTP status of the reply that said so. */
  readonly status: number | undefined;

  static {
    // Of the class and not of each error: a notebook prints what an error has of its own.
    Object.defineProperty(this.prototype, brand, { value: true });
  }

  constructor(
    kind: ClusterErrorKind,
    what: string,
    hint: string,
    options: { readonly cause?: unknown; readonly status?: number | undefined } = {},
  ) {
    super(hint === '' ? what : `${what} ${hint}`, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'ClusterError';
    this.kind = kind;
    this.what = what;
    this.hint = hint;
    this.status = options.status;
  }

  /** Whether the same question may be answered when it is asked again. */
  get isTransient(): boolean {
    return kinds[this.kind].transient;
  }
}

export const isClusterError = (error: unknown): error is ClusterError =>
  typeof error === 'object' && error !== null && brand in error;
