/** What says to an API server who asks: a token, or a client certificate with its key. */
export type KubeCredential = {
  readonly token?: string | undefined;
  /** PEM. */
  readonly clientCertificate?: string | undefined;
  /** PEM. */
  readonly clientKey?: string | undefined;
  /** Name and password, as `name:password`; API servers of today take none, proxies in front of them may. */
  readonly basic?: string | undefined;
  readonly expiresAt?: Date | undefined;
};

/** Gives what is good now. It is asked before every request, so it keeps what it has until that nears its end. */
export type CredentialSource = (signal: AbortSignal) => Promise<KubeCredential>;

/** Milliseconds before its end from which a credential is no longer used: a request and a clock may be slow. */
const margin = 60_000;

/** A source that reads anew when what it has nears its end. Requests that come meanwhile wait for the same reading. */
export function renewing(read: CredentialSource, now: () => number = Date.now): CredentialSource {
  let kept: KubeCredential | undefined;
  let reading: Promise<KubeCredential> | undefined;
  const isGood = ({ expiresAt }: KubeCredential): boolean =>
    expiresAt === undefined || expiresAt.getTime() - now() > margin;
  return (signal) => {
    if (kept && isGood(kept)) return Promise.resolve(kept);
    reading ??= read(signal)
      .then((credential) => (kept = credential))
      .finally(() => {
        reading = undefined;
      });
    return reading;
  };
}

/** A source that never changes. */
export const fixed =
  (credential: KubeCredential): CredentialSource =>
  () =>
    Promise.resolve(credential);
