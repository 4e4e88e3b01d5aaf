import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { WatchedFiles } from './watchedFiles.ts';

export type CertificateFiles = { cert: string; key: string };

/**
 * Watches a certificate and its key, which another program renews every few weeks.
 * @throws CatalogError InvalidInput (13) if they can't be read, are invalid, or do not belong together
 */
export function openCertificate(
  files: CertificateFiles,
  log: { changed: (context: SecureContextOptions) => void; problem: (error: unknown) => void },
): Promise<WatchedFiles<SecureContextOptions>> {
  return WatchedFiles.open({
    paths: [files.cert, files.key],
    parse: ([cert, key]) => contextOf(cert?.text ?? '', key?.text ?? ''),
    onChange: log.changed,
    onProblem: log.problem,
  });
}

function contextOf(cert: string, key: string): SecureContextOptions {
  try {
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
      throw new CatalogError(
        'InvalidInput',
        'The TLS key does not belong to the certificate.',
        'Pass a --tls-cert and a --tls-key that belong together.',
      );
    }
    const context: SecureContextOptions = { cert, key, minVersion: 'TLSv1.2' };
    createSecureContext(context);
    return context;
  } catch (cause) {
    if (isCatalogError(cause)) throw cause;
    throw new CatalogError(
      'InvalidInput',
      "Can't use the TLS certificate or its key.",
      'Pass PEM files, and a key without a password.',
      { cause },
    );
  }
}
