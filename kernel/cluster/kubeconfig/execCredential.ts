import { ClusterError } from '#cluster/errors.ts';
import type { HiddenTexts } from '#cluster/hiddenText.ts';
import type { KubeCredential } from '#cluster/kube/credential.ts';
import { endOf } from '#cluster/kube/refused.ts';
import { isRecord } from '#shared/records.ts';

type Printed = {
  /** The program, for sentences. */
  readonly name: string;
  readonly apiVersion: string;
  readonly hidden: HiddenTexts;
};

/**
 * The credential that a program printed. What it printed is quoted nowhere, since it may be the credential.
 * @throws ClusterError ExecPluginFailed for anything else, CredentialsExpired for one that is over
 */
export function readExecCredential(stdout: string, printed: Printed): KubeCredential {
  const { name, apiVersion, hidden } = printed;
  const value = parsed(stdout);
  if (!isRecord(value) || value['kind'] !== 'ExecCredential') throw unreadable(name, `prints ${kindOf(stdout, value)}`);
  if (value['apiVersion'] !== apiVersion)
    throw unreadable(name, `answers in another version than the kubeconfig's ${apiVersion}`);
  const status = isRecord(value['status']) ? value['status'] : {};
  const { token, clientCertificateData, clientKeyData, expirationTimestamp } = status;
  const credential = {
    token: textOf(token),
    clientCertificate: textOf(clientCertificateData),
    clientKey: textOf(clientKeyData),
    expiresAt: timeOf(expirationTimestamp),
  };
  hidden.add(credential.token, credential.clientKey);
  const { clientCertificate, clientKey } = credential;
  if ((clientCertificate === undefined) !== (clientKey === undefined))
    throw unreadable(name, 'prints a certificate without its key, or a key without its certificate');
  if (credential.token === undefined && clientCertificate === undefined)
    throw unreadable(name, 'prints neither a token nor a certificate');
  const end = endOf(credential);
  if (end && end.getTime() <= Date.now())
    throw new ClusterError(
      'CredentialsExpired',
      `${name} gave a credential that expired at ${end.toISOString()}.`,
      'Sign in again, and check the clock of this machine.',
    );
  return credential;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function kindOf(stdout: string, value: unknown): string {
  if (stdout.trim() === '') return 'nothing';
  return value === undefined ? `${stdout.length} characters that are no JSON` : 'JSON that is no ExecCredential';
}

const unreadable = (name: string, problem: string): ClusterError =>
  new ClusterError(
    'ExecPluginFailed',
    `${name}, which signs in for the kubeconfig, ${problem}.`,
    'Run it in a terminal; something in your shell or a wrapper may print beside it.',
  );

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

function timeOf(value: unknown): Date | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time);
}
