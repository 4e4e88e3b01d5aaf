import { createPrivateKey, X509Certificate } from 'node:crypto';
import { ClusterError } from '#cluster/errors.ts';
import type { ProfileOrigin } from '#cluster/profile.ts';
import { signInTokenFile, type SignInTokenFile } from '#cluster/profiles/programTrust.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import { fixed, renewing, type CredentialSource } from '#cluster/kube/credential.ts';
import type { Impersonation } from '#cluster/kube/kubeRequest.ts';
import { tokenExpiry } from '#cluster/kube/refused.ts';
import { isRecord } from '#shared/records.ts';
import { ensureShape, isString, listOf } from '#shared/shape.ts';
import { besideFile, fileField, invalidField, pemField, textField } from './entryFields.ts';
import { execPluginOf, type ExecPlugin } from './execPlugin.ts';
import type { Entry, Kubeconfig } from './kubeconfigFile.ts';

type SignIn = {
  /** For display: `the client certificate of alice`. */
  readonly label: string;
  readonly impersonation: Impersonation | undefined;
} & (
  | {
      readonly credential: CredentialSource;
      /** The absolute path of the file that has the token. */
      readonly tokenFile?: string | undefined;
    }
  /** The sign-in needs a program to run. */
  | { readonly plugin: ExecPlugin }
);

const what = 'user';

/**
 * Milliseconds after which a token that was read counts as expired. `renewing` reads the file again one minute before.
 * The writer of the file replaces the token before it expires.
 */
const fileGoodFor = 90_000;

/**
 * Returns a user's sign-in: a token file, a token, a certificate, a plugin, a password, or an `auth-provider` token,
 * in this order.
 * @throws ClusterError KubeconfigInvalid, or for an `auth-provider` ExecPluginMissing or CredentialsExpired
 */
export async function signInOf(entry: Entry | undefined, hidden: SecretRedactor): Promise<SignIn> {
  if (!entry) return { label: 'no credentials', impersonation: undefined, credential: fixed({}) };
  const impersonation = impersonationOf(entry);
  const named = `of the user "${entry.name}"`;
  const tokenFile = textField(what, entry, 'tokenFile');
  if (tokenFile !== undefined) {
    const credential = tokenOfFile(entry, tokenFile, hidden);
    return { label: `the token in ${tokenFile}`, impersonation, credential, tokenFile: besideFile(entry, tokenFile) };
  }
  const token = textField(what, entry, 'token');
  if (token !== undefined) {
    hidden.add(token);
    checkToken(entry, token, 'token');
    return { label: `the token ${named}`, impersonation, credential: fixed({ token }) };
  }
  const pair = await certificateOf(entry, hidden);
  if (pair) return { label: `the client certificate ${named}`, impersonation, credential: fixed(pair) };
  const plugin = execPluginOf(entry);
  if (plugin) return { label: `the credentials of ${plugin.command}`, impersonation, plugin };
  const basic = basicOf(entry, hidden);
  if (basic !== undefined) return { label: `the password ${named}`, impersonation, credential: fixed({ basic }) };
  const provided = providedToken(entry, hidden);
  if (provided) return { label: `the token ${named}`, impersonation, credential: provided };
  return { label: 'no credentials', impersonation, credential: fixed({}) };
}

/** Describes a token file for the user's consent. @param config the kubeconfig that names it */
export const tokenFileStep = (
  origin: ProfileOrigin,
  { tokenFile, server }: { readonly tokenFile: string; readonly server: string },
  { label, hash }: Pick<Kubeconfig, 'label' | 'hash'>,
): SignInTokenFile => signInTokenFile({ origin, tokenFile, server, source: `the kubeconfig ${label}` }, hash);

function tokenOfFile(entry: Entry, path: string, hidden: SecretRedactor): CredentialSource {
  return renewing(async () => {
    const token = (await fileField(what, entry, 'tokenFile', path)).trim();
    if (token === '') throw invalidField(what, entry, 'tokenFile', `names ${path}, which is empty`);
    hidden.add(token);
    checkToken(entry, token, 'tokenFile');
    return { token, expiresAt: new Date(Date.now() + fileGoodFor) };
  });
}

/** Refuses characters that a header can't hold. Otherwise the error would seem to come from the server. */
function checkToken(entry: Entry, token: string, key: string): void {
  if (!/^[\x21-\x7e]+$/.test(token))
    throw invalidField(what, entry, key, 'contains a space, a line break or another character that a token never has');
}

async function certificateOf(
  entry: Entry,
  hidden: SecretRedactor,
): Promise<{ readonly clientCertificate: string; readonly clientKey: string } | undefined> {
  const clientCertificate = await pemField(what, entry, 'client-certificate');
  const clientKey = await pemField(what, entry, 'client-key');
  if (clientCertificate === undefined && clientKey === undefined) return undefined;
  if (clientCertificate === undefined)
    throw invalidField(what, entry, 'client-certificate', 'is missing, but "client-key" is set');
  if (clientKey === undefined)
    throw invalidField(what, entry, 'client-key', 'is missing, but "client-certificate" is set');
  hidden.add(clientKey, textField(what, entry, 'client-key-data'));
  checkPair(entry, clientCertificate, clientKey);
  return { clientCertificate, clientKey };
}

function checkPair(entry: Entry, certificate: string, key: string): void {
  const read = attempt(() => new X509Certificate(certificate));
  if (!read) throw invalidField(what, entry, 'client-certificate', 'does not contain a certificate');
  const privateKey = attempt(() => createPrivateKey(key));
  if (!privateKey)
    throw invalidField(what, entry, 'client-key', 'does not contain a key that can be read without a password');
  if (!read.checkPrivateKey(privateKey))
    throw invalidField(what, entry, 'client-key', 'is not the key of "client-certificate"');
}

function attempt<T>(how: () => T): T | undefined {
  try {
    return how();
  } catch {
    return undefined;
  }
}

function basicOf(entry: Entry, hidden: SecretRedactor): string | undefined {
  const username = textField(what, entry, 'username');
  if (username === undefined) return undefined;
  const password = textField(what, entry, 'password') ?? '';
  hidden.add(password, Buffer.from(`${username}:${password}`).toString('base64'));
  return `${username}:${password}`;
}

/** Returns the token that an `auth-provider` (the predecessor of plugins) stored. It is not renewed. */
function providedToken(entry: Entry, hidden: SecretRedactor): CredentialSource | undefined {
  const provider = entry.value['auth-provider'];
  if (!isRecord(provider)) return undefined;
  const name = typeof provider['name'] === 'string' ? provider['name'] : 'unknown';
  const config = isRecord(provider['config']) ? provider['config'] : {};
  const token = config['id-token'] ?? config['access-token'];
  const replace = 'Replace it with a credential plugin: kubelogin for OIDC and Azure, gke-gcloud-auth-plugin for GKE.';
  if (typeof token !== 'string' || token === '')
    throw new ClusterError(
      'ExecPluginMissing',
      `The user "${entry.name}" in the kubeconfig ${entry.file} uses the auth-provider "${name}", which is not supported.`,
      replace,
    );
  hidden.add(token);
  const end = tokenExpiry(token);
  if (end && end.getTime() < Date.now())
    throw new ClusterError(
      'CredentialsExpired',
      `The token that the auth-provider "${name}" stored for the user "${entry.name}" has expired.`,
      `Run any kubectl command to renew it. ${replace}`,
    );
  return fixed({ token });
}

function impersonationOf(entry: Entry): Impersonation | undefined {
  const user = textField(what, entry, 'as');
  const groups = ensureShape(entry.value['as-groups'] ?? [], listOf(isString), () =>
    invalidField(what, entry, 'as-groups', 'is not a list of strings'),
  );
  if (user !== undefined) return { user, groups };
  if (groups.length > 0) throw invalidField(what, entry, 'as', 'is missing, but "as-groups" is set');
  return undefined;
}
