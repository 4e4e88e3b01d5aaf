/** Authenticates to an API server: a token, or a client certificate with its key. */
export type KubeCredential = {
  readonly token?: string | undefined;
  /** PEM. */
  readonly clientCertificate?: string | undefined;
  /** PEM. */
  readonly clientKey?: string | undefined;
  /** `name:password`. Current API servers don't accept it, but proxies in front of them may. */
  readonly basic?: string | undefined;
  readonly expiresAt?: Date | undefined;
};

/** Returns a valid credential. Called before every request, so it caches until shortly before the expiry. */
export type CredentialSource = (signal: AbortSignal) => Promise<KubeCredential>;

/** Milliseconds before its expiry from which a credential is not used, for slow requests and clocks that differ. */
const margin = 60_000;

/** Creates a source that reads again before the expiry. Concurrent requests share one read. */
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

/** Creates a source with a constant credential. */
export const fixed =
  (credential: KubeCredential): CredentialSource =>
  () =>
    Promise.resolve(credential);

/** Address of an API server, and how to verify its certificate. */
export type KubeTarget = {
  /** URL without a slash at the end; behind a gateway it may have a path. */
  readonly server: string;
  /** PEM of the certificate authority. Default: those that Node trusts. */
  readonly ca?: string | undefined;
  /** The name in the certificate, if it is not the host of the URL. */
  readonly tlsServerName?: string | undefined;
  /** Accepts any certificate (`insecure-skip-tls-verify`). */
  readonly skipTlsVerify: boolean;
  /** `http://`, `https://` or `socks5://`, from the kubeconfig. Default: the environment's proxy. */
  readonly proxyUrl?: string | undefined;
};
