import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Creates a self-signed certificate, for localhost or for `hosts`. Returns the paths of its files. */
export function makeCertificate(
  folder: string,
  name: string,
  hosts = 'DNS:localhost,IP:127.0.0.1',
): { cert: string; key: string } {
  const [cert, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  const { status, stderr } = spawnSync(
    'openssl',
    // prettier-ignore
    [
      'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
      '-subj', `/CN=${name}`, '-addext', `subjectAltName=${hosts}`, '-keyout', key, '-out', cert,
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`openssl: ${stderr}`);
  return { cert, key };
}
