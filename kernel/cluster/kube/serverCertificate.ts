import { connect, type PeerCertificate } from 'node:tls';
import { withoutBrackets } from '#processes/thisMachine.ts';
import type { KubeTarget } from './credential.ts';

/** The names and the last day in a certificate. */
type CertificateFacts = {
  readonly subject: string;
  readonly issuer: string;
  readonly validTo: Date | undefined;
};

/** Milliseconds for a handshake. */
const limit = 5_000;

/**
 * Reads the certificate of a server without trusting it or sending data. Returns `undefined` on failure.
 * The certificate identifies an unexpected server, such as a company's proxy.
 */
export function lookAtCertificate(
  { server, tlsServerName }: KubeTarget,
  signal: AbortSignal,
): Promise<CertificateFacts | undefined> {
  const { hostname, port } = new URL(server);
  const host = withoutBrackets(hostname);
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(port === '' ? 443 : port),
      ...(/^[\d.]+$|:/.test(host) && tlsServerName === undefined ? {} : { servername: tlsServerName ?? host }),
      rejectUnauthorized: false,
      timeout: limit,
    });
    const finish = (facts?: CertificateFacts): void => {
      signal.removeEventListener('abort', stop);
      socket.destroy();
      resolve(facts);
    };
    const stop = (): void => finish();
    signal.addEventListener('abort', stop, { once: true });
    socket.once('secureConnect', () => finish(factsOf(socket.getPeerCertificate())));
    socket.once('timeout', stop);
    socket.once('error', stop);
  });
}

/** Returns `undefined` for an empty object, because Node returns an empty object if there is no certificate. */
export function factsOf(certificate: PeerCertificate | undefined): CertificateFacts | undefined {
  if (!certificate || Object.keys(certificate).length === 0) return undefined;
  const validTo = new Date(certificate.valid_to);
  return {
    subject: nameIn(certificate.subject),
    issuer: nameIn(certificate.issuer),
    validTo: Number.isNaN(validTo.getTime()) ? undefined : validTo,
  };
}

function nameIn(subject: PeerCertificate['subject'] | undefined): string {
  const { CN, O } = (subject ?? {}) as Readonly<Record<string, string | string[] | undefined>>;
  const names = [CN, O].flatMap((one) => one ?? []);
  return names.length === 0 ? 'an unnamed subject' : names.join(', ');
}
