import { ProductError } from '#shared/errors.ts';

/** Every kind of cluster or cloud failure, and whether it is transient. */
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
  /** A profile that was found by searching names a program or a token file that the user has not accepted. */
  ProgramNotTrusted: { transient: false },
  /** The name does not resolve, there is no route, no process listens, or the connection was lost. */
  Unreachable: { transient: true },
  Timeout: { transient: true },
  TlsUntrusted: { transient: false },
  /** A server responds, but it is not the expected kind of server. */
  WrongServer: { transient: false },
  /** The server is of the expected kind, but its version lacks a needed feature. */
  TooOld: { transient: false },
  CredentialsMissing: { transient: false },
  CredentialsExpired: { transient: false },
  CredentialsRefused: { transient: false },
  /** The caller is authenticated but lacks the permission. */
  Forbidden: { transient: false },
  NotFound: { transient: false },
  Conflict: { transient: false },
  /** The checks found that the cluster does not meet the requirements. */
  NotReady: { transient: false },
  InvalidRequest: { transient: false },
  Throttled: { transient: true },
  Unavailable: { transient: true },
  /** A response that does not have the shape that the API defines. */
  BadReply: { transient: false },
  Aborted: { transient: false },
} as const satisfies Record<string, { readonly transient: boolean }>;

export type ClusterErrorKind = keyof typeof kinds;

export const clusterErrorKinds: readonly string[] = Object.keys(kinds);

const brand = Symbol.for('lance-catalog.ClusterError');

/** A failure of a cluster or a cloud. */
export class ClusterError extends ProductError<ClusterErrorKind> {
  /** HTTP status of the response, if there was one. */
  readonly status: number | undefined;

  static {
    // The brand is on the prototype, because a notebook prints an error's own properties.
    Object.defineProperty(this.prototype, brand, { value: true });
  }

  constructor(
    kind: ClusterErrorKind,
    what: string,
    hint: string,
    options: { readonly cause?: unknown; readonly status?: number | undefined } = {},
  ) {
    super('ClusterError', kind, what, hint, options);
    this.status = options.status;
  }

  /** Whether a retry may succeed. */
  get isTransient(): boolean {
    return kinds[this.kind].transient;
  }
}

export const isClusterError = (error: unknown): error is ClusterError =>
  typeof error === 'object' && error !== null && brand in error;
