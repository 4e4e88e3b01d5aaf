import type { Certificate, Pki } from './pki.ts';

/**
 * The user: an administrator, `alice` of the group `devs`, the holder of a token, or another user with these groups.
 * All users but the holder of a token sign in with a certificate.
 */
export type Person =
  'admin' | 'alice' | { readonly token: string } | { readonly user: string; readonly groups: string[] };

type Named<Name extends string, T> = { name: string } & { [name in Name]: T };

/**
 * A kubeconfig as plain data that a test can change. It has one cluster, one user and one context, all named `test`.
 */
export type Kubeconfig = {
  apiVersion: 'v1';
  kind: 'Config';
  'current-context': string;
  clusters: Named<'cluster', Record<string, unknown>>[];
  users: Named<'user', Record<string, unknown>>[];
  contexts: Named<'context', { cluster: string; user: string; namespace?: string }>[];
};

/** Returns the kubeconfig of a user for a cluster, and signs the user's certificate. */
export function kubeconfigFor(
  person: Exclude<Person, 'admin'> | Certificate,
  { address, pki }: { address: string; pki: Pki },
): Kubeconfig {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster: { server: address, 'certificate-authority-data': base64(pki.ca) } }],
    users: [{ name: 'test', user: credentialsOf() }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };

  function credentialsOf(): Record<string, unknown> {
    if (typeof person === 'object' && 'token' in person) return { token: person.token };
    const { cert, key } = certificateOf(person);
    return { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
  }

  function certificateOf(who: 'alice' | Certificate | { user: string; groups: string[] }): Certificate {
    if (who === 'alice') return pki.client('alice', ['devs']);
    return 'cert' in who ? who : pki.client(who.user, who.groups);
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64');
