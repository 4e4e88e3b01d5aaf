import { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../harness/needs/installing.ts';

/** A certificate and its key, as PEM. */
export type Certificate = { readonly cert: string; readonly key: string };

const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];

/** A separate certificate authority in a folder. Its certificates are valid for two days. */
export class Pki {
  readonly folder: string;
  readonly caFile: string;

  constructor(folder: string, name = 'test-ca') {
    this.folder = folder;
    this.caFile = join(folder, 'ca.crt');
    run('openssl', [
      'req',
      '-x509',
      ...curve,
      '-subj',
      `/CN=${name}`,
      '-keyout',
      this.#path('ca.key'),
      '-out',
      this.caFile,
    ]);
  }

  get ca(): string {
    return readFileSync(this.caFile, 'utf8');
  }

  /** Signs a server certificate for the loopback address, or for `hosts` in openssl's syntax. @returns its files */
  server(name: string, hosts = 'IP:127.0.0.1,DNS:localhost'): { cert: string; key: string } {
    return this.#sign(name, `/CN=${name}`, `subjectAltName=${hosts}`);
  }

  /**
   * Signs a client certificate. Kubernetes reads the certificate's CN as the user and its O as the groups. If `days` is
   * 0, the certificate is expired.
   */
  client(user: string, groups: readonly string[], days = 2): Certificate {
    const subject = [...groups.map((group) => `/O=${group}`), `/CN=${user}`].join('');
    const { cert, key } = this.#sign(
      `client-${user.replaceAll(/\W/g, '-')}`,
      subject,
      'extendedKeyUsage=clientAuth',
      days,
    );
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  }

  #sign(name: string, subject: string, extension: string, days = 2): { cert: string; key: string } {
    const [cert, key, request] = ['crt', 'key', 'csr'].map((end) => this.#path(`${name}.${end}`)) as [
      string,
      string,
      string,
    ];
    run('openssl', ['req', ...curve, '-subj', subject, '-addext', extension, '-keyout', key, '-out', request]);
    const by = ['-CA', this.caFile, '-CAkey', this.#path('ca.key'), '-CAcreateserial', '-days', String(days)];
    run('openssl', ['x509', '-req', '-in', request, ...by, '-copy_extensions', 'copy', '-out', cert]);
    return { cert, key };
  }

  #path(name: string): string {
    return join(this.folder, name);
  }
}

/** The key with which an API server signs the tokens of service accounts. */
export class TokenKey {
  readonly privateFile: string;
  readonly publicFile: string;
  readonly #key;

  constructor(folder: string) {
    const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.#key = pair.privateKey;
    [this.privateFile, this.publicFile] = [join(folder, 'sa.key'), join(folder, 'sa.pub')];
    writeFileSync(this.privateFile, pair.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    writeFileSync(this.publicFile, pair.publicKey.export({ type: 'spki', format: 'pem' }));
  }

  /** Returns a token with exactly these claims, such as an expired one, which the API server itself would not issue. */
  sign(claims: Readonly<Record<string, unknown>>): string {
    const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
    return `${text}.${sign('RSA-SHA256', Buffer.from(text), this.#key).toString('base64url')}`;
  }
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
