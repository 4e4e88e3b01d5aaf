import { X509Certificate } from 'node:crypto';
import { isThisMachine } from '#processes/thisMachine.ts';
import type { KubeTarget } from '#cluster/kube/credential.ts';
import { flagField, invalidField, pemField, textField } from './entryFields.ts';
import type { Entry } from './kubeconfigFile.ts';

const what = 'cluster';

/** Returns how to reach the cluster of an entry. @throws ClusterError KubeconfigInvalid */
export async function targetOfEntry(entry: Entry): Promise<KubeTarget> {
  const ca = await pemField(what, entry, 'certificate-authority');
  if (ca !== undefined && !isCertificate(ca))
    throw invalidField(what, entry, 'certificate-authority', 'does not contain a certificate');
  return {
    server: serverOf(entry),
    ca,
    tlsServerName: textField(what, entry, 'tls-server-name'),
    skipTlsVerify: flagField(what, entry, 'insecure-skip-tls-verify'),
    proxyUrl: proxyOfEntry(entry),
  };
}

function serverOf(entry: Entry): string {
  const server = textField(what, entry, 'server');
  if (server === undefined) throw invalidField(what, entry, 'server', 'is missing');
  const url = URL.canParse(server) ? new URL(server) : undefined;
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:'))
    throw invalidField(what, entry, 'server', 'is not a URL that starts with https://');
  if (url.username !== '' || url.password !== '')
    throw invalidField(what, entry, 'server', 'contains a user name or password, which belong in the user entry');
  // http:// is allowed on this machine, for instance for `kubectl proxy`. Over a network it would expose the
  // credentials.
  if (url.protocol === 'http:' && !isThisMachine(url.hostname))
    throw invalidField(what, entry, 'server', 'starts with http://, so credentials would be sent unencrypted');
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** Reads the proxy. `socks5h` becomes `socks5`, because the proxy resolves host names in both cases. */
function proxyOfEntry(entry: Entry): string | undefined {
  const proxy = textField(what, entry, 'proxy-url')?.replace(/^socks5h:/i, 'socks5:');
  if (proxy === undefined || (/^(?:https?|socks5):\/\//i.test(proxy) && URL.canParse(proxy))) return proxy;
  throw invalidField(what, entry, 'proxy-url', 'is not a URL that starts with http://, https:// or socks5://');
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}
