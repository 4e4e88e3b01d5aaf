import type { Certificate, Pki } from './pki.ts';

/** Who one is: an administrator, the person `alice` of the group `devs` by a certificate, or the bearer of a token. */
export type Person =
  'admin' | 'alice' | { readonly token: string } | { readonly user: string; readonly groups: string[] };

type Named<Name extends string, T> = { name: string } & { [name in Name]: T };

/** A kubeconfig as plain data, to be changed by a test. One cluster, one user and one context, all named `test`. */
export type Kubeconfig = {
  apiVersion: 'v1';
  kind: 'Config';
  'current-context': string;
  clusters: Named<'cluster', Record<string, unknown>>[];
  users: Named<'user', Record<string, unknown>>[];
  contexts: Named<'context', { cluster: string; user: string; namespace?: string }>[];
};

/** The kubeconfig by which somebody reaches a cluster; a certificate of theirs is signed for it. */
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
