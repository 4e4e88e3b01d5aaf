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

/** Where an API server is, and what its certificate is held against. */
export type KubeTarget = {
  /** Its address without a slash at the end; it may have a path, as behind a gateway. */
  readonly server: string;
  /** Certificates of the authority that signed the server's, PEM; those that Node trusts where none are said. */
  readonly ca?: string | undefined;
  /** The name that the certificate must have, where it is not that of the address. */
  readonly tlsServerName?: string | undefined;
  /** Whether any certificate will do (`insecure-skip-tls-verify`). */
  readonly skipTlsVerify: boolean;
  /** `http://`, `https://` or `socks5://` of the kubeconfig; that of the environment where none is said. */
  readonly proxyUrl?: string | undefined;
};
