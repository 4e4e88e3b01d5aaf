import { X509Certificate } from 'node:crypto';
import { ClusterError } from '#cluster/errors.ts';
import { numberAt } from '#shared/fields.ts';
import type { KubeCredential } from './credential.ts';

/**
 * Returns the error for status 401.
 * The server does not report whether a credential expired or was never valid. Therefore this function reads the expiry
 * from the credential: a token's `exp`, a certificate's last day, or the expiry that the plugin reported.
 */
export function unauthorizedError(credential: KubeCredential, signIn: string, now: Date = new Date()): ClusterError {
  const { token, clientCertificate, basic } = credential;
  if (token === undefined && clientCertificate === undefined && basic === undefined) {
    return new ClusterError(
      'CredentialsMissing',
      'The API server requires credentials, but none are set.',
      'Set a user with credentials for the context in the kubeconfig.',
      { status: 401 },
    );
  }
  const end = credentialExpiry(credential);
  if (end && end <= now) {
    return new ClusterError(
      'CredentialsExpired',
      `The API server rejected ${signIn}, which expired at ${shown(end)}.`,
      'Sign in again, then retry.',
      { status: 401 },
    );
  }
  return new ClusterError(
    'CredentialsRefused',
    `The API server does not accept ${signIn}.`,
    'Sign in again, or choose another context. On EKS, the role needs an access entry.',
    { status: 401 },
  );
}

/** Returns the earliest expiry that a credential states. */
export function credentialExpiry({ token, clientCertificate, expiresAt }: KubeCredential): Date | undefined {
  const ends = [
    expiresAt,
    token === undefined ? undefined : tokenExpiry(token),
    clientCertificate === undefined ? undefined : endOfCertificate(clientCertificate),
  ];
  return ends.filter((end) => end !== undefined).toSorted((a, b) => a.getTime() - b.getTime())[0];
}

/** Reads `exp` of a JSON web token. */
export function tokenExpiry(token: string): Date | undefined {
  const payload = token.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    const exp = numberAt(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')), 'exp');
    return exp === undefined ? undefined : new Date(exp * 1000);
  } catch {
    return undefined;
  }
}

function endOfCertificate(pem: string): Date | undefined {
  try {
    return new Date(new X509Certificate(pem).validTo);
  } catch {
    return undefined;
  }
}

const shown = (time: Date): string => `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
