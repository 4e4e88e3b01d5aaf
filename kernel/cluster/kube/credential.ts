import { ClusterError } from '#cluster/errors.ts';

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

/**
 * Returns a valid credential. A connection calls this function before every request, so the function caches the
 * credential until shortly before its expiry.
 * @param refused a credential from this source that the server did not accept (401). The source then reads a new
 * credential, at most once a minute.
 */
export type CredentialSource = (signal: AbortSignal, refused?: KubeCredential) => Promise<KubeCredential>;

/**
 * Milliseconds. A credential is no longer used if less than this time is left until its expiry, because requests take
 * time and clocks differ.
 */
const margin = 60_000;

/** After a credential was replaced, it is not replaced again for this time in milliseconds. */
const replacementPause = 60_000;

type Reading = { readonly result: Promise<KubeCredential>; readonly stop: AbortController; waiting: number };

/**
 * Creates a source that reads again before the expiry, and after a refusal. Concurrent requests share one read, which
 * is canceled when all of them are canceled.
 */
export function renewing(
  read: (signal: AbortSignal) => Promise<KubeCredential>,
  now: () => number = Date.now,
): CredentialSource {
  let kept: { readonly credential: KubeCredential; readonly replacedAt: number | undefined } | undefined;
  let reading: Reading | undefined;
  const start = (replacedAt: number | undefined): Reading => {
    const stop = new AbortController();
    const result = (async () => {
      try {
        const credential = await read(stop.signal);
        kept = { credential, replacedAt };
        return credential;
      } finally {
        if (reading?.stop === stop) reading = undefined;
      }
    })();
    return { result, stop, waiting: 0 };
  };
  return async (signal, refused) => {
    const isRefused = kept !== undefined && kept.credential === refused;
    const isReplacement = kept?.replacedAt !== undefined && now() - kept.replacedAt < replacementPause;
    if (kept && isGood(kept.credential, now()) && (!isRefused || isReplacement)) return kept.credential;
    reading ??= start(isRefused ? now() : undefined);
    const joined = reading;
    return waitFor(joined, signal, () => {
      if (reading === joined) reading = undefined;
    });
  };
}

const isGood = ({ expiresAt }: KubeCredential, time: number): boolean =>
  expiresAt === undefined || expiresAt.getTime() - time > margin;

/** Waits for a shared read. Only the cancellation of the last waiting caller cancels the read. */
function waitFor(reading: Reading, signal: AbortSignal, onAbandoned: () => void): Promise<KubeCredential> {
  reading.waiting++;
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reading.waiting--;
      if (reading.waiting > 0)
        return reject(
          new ClusterError('Aborted', 'Reading the credential was canceled.', '', { cause: signal.reason }),
        );
      onAbandoned();
      reading.stop.abort(signal.reason);
    };
    if (signal.aborted) leave();
    else signal.addEventListener('abort', leave, { once: true });
    reading.result.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
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
  /** PEM of the certificate authority. Default: the authorities that Node trusts. */
  readonly ca?: string | undefined;
  /** The host name in the certificate, if it differs from the host of the URL. */
  readonly tlsServerName?: string | undefined;
  /** Accepts any certificate (`insecure-skip-tls-verify`). */
  readonly skipTlsVerify: boolean;
  /** `http://`, `https://` or `socks5://`, from the kubeconfig. Default: the environment's proxy. */
  readonly proxyUrl?: string | undefined;
};
