import { basename } from 'node:path';
import { ClusterError } from '#cluster/errors.ts';
import type { HiddenTexts } from '#cluster/hiddenText.ts';
import type { KubeCredential } from '#cluster/kube/credential.ts';
import type { KubeTarget } from '#cluster/kube/kubeTarget.ts';
import type { ExecPlugin } from './execPlugin.ts';
import { readExecCredential } from './execCredential.ts';
import { findProgram, pathOf } from './findProgram.ts';
import { runProgram } from './runProgram.ts';

export type PluginRun = {
  readonly target: KubeTarget;
  readonly hidden: HiddenTexts;
  readonly signal: AbortSignal;
  /** Milliseconds; a sign-in that goes through a browser takes a person a while. */
  readonly limit?: number | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
};

const defaultLimit = 30_000;

/**
 * Runs the program of a kubeconfig for a credential.
 * @throws ClusterError ExecPluginMissing, ExecPluginFailed, ExecPluginTimeout, CredentialsExpired
 */
export async function runExecPlugin(plugin: ExecPlugin, run: PluginRun): Promise<KubeCredential> {
  const { target, hidden, signal, limit = defaultLimit } = run;
  const inherited = { ...(run.environment ?? process.env), ...plugin.env };
  const program = await findProgram(plugin.command, inherited);
  if (program === undefined) throw missingProgram(plugin, inherited);
  const environment = { ...inherited, KUBERNETES_EXEC_INFO: execInfo(plugin, target) };
  const name = `"${commandLine(plugin)}"`;
  const found = await runProgram(program, { args: plugin.args, environment, limit, signal }).catch((cause: unknown) => {
    throw new ClusterError('Aborted', `${name} was stopped.`, '', { cause });
  });
  switch (found.end) {
    case 'late':
      throw new ClusterError(
        'ExecPluginTimeout',
        `${name}, which signs in for the kubeconfig, did not end in ${limit / 1000} s${saying(found.stderr)}.`,
        'Run it in a terminal: it may wait for you to sign in.',
      );
    case 'flood':
      throw new ClusterError('ExecPluginFailed', `${name} printed more than a credential.`, 'Run it in a terminal.');
    case 'notStarted':
      throw new ClusterError(
        'ExecPluginFailed',
        `${name}, which signs in for the kubeconfig, does not start (${found.cause.message}).`,
        'Run it in a terminal, and install it anew where it fails there too.',
        { cause: found.cause },
      );
    case 'signal':
      throw failed(`${name} was ended by ${found.signal}`, found.stderr);
    case 'exit':
      if (found.code !== 0) throw failed(`${name} failed with status ${found.code}`, found.stderr);
      return readExecCredential(found.stdout, { name, apiVersion: plugin.apiVersion, hidden });
  }
}

/** Whether the program of a kubeconfig can be run here, and where it is. */
export const findPlugin = (plugin: ExecPlugin): Promise<string | undefined> =>
  findProgram(plugin.command, { ...process.env, ...plugin.env });

/** The program and what tells its commands apart: `aws eks get-token`. */
export function commandLine({ command, args }: ExecPlugin): string {
  const words = args.filter((arg) => /^[a-z][a-z-]*$/.test(arg)).slice(0, 2);
  const leading = args.slice(0, words.length);
  return [basename(command), ...(words.every((word, index) => word === leading[index]) ? words : [])].join(' ');
}

/** What the program is told by its environment. It is not told that it may ask: there is no terminal. */
function execInfo({ apiVersion, wantsCluster }: ExecPlugin, target: KubeTarget): string {
  const { server, ca, tlsServerName, skipTlsVerify, proxyUrl } = target;
  const cluster = {
    server,
    'tls-server-name': tlsServerName,
    'insecure-skip-tls-verify': skipTlsVerify || undefined,
    'certificate-authority-data': ca === undefined ? undefined : Buffer.from(ca).toString('base64'),
    'proxy-url': proxyUrl,
  };
  return JSON.stringify({
    apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(wantsCluster ? { cluster } : {}) },
  });
}

function missingProgram(plugin: ExecPlugin, environment: Readonly<Record<string, string | undefined>>): ClusterError {
  const { command, installHint } = plugin;
  const isPath = /[\\/]/.test(command);
  const what = isPath
    ? `The kubeconfig signs in by the program ${command}, which is not there or cannot be run.`
    : `The kubeconfig signs in by the program "${command}", which is not on the PATH of this process: ${shortPath(pathOf(environment))}.`;
  const hint = isPath
    ? 'Install it, or correct the path in the kubeconfig.'
    : 'Install it, or write its whole path into the kubeconfig; an editor that was not started from a terminal has another PATH than one.';
  return new ClusterError(
    'ExecPluginMissing',
    what,
    installHint === undefined ? hint : `${hint} The kubeconfig says: ${firstLines(installHint)}`,
  );
}

const shortPath = (path: string): string =>
  path === '' ? 'it has none' : path.length > 300 ? `${path.slice(0, 300)}…` : path;

const firstLines = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 300);

/** What cloud programs say when somebody has to sign in again, and how. */
const expired: readonly (readonly [RegExp, string])[] = [
  [
    /SSO (?:session|token)|sso login|Token has expired and refresh failed|ExpiredToken/i,
    'Sign in again with `aws sso login`, with the --profile of the kubeconfig where it has one.',
  ],
  [
    /gcloud auth login|Reauthentication (?:failed|required)|invalid_grant|refresh.*access token/i,
    'Sign in again with `gcloud auth login`.',
  ],
  [/az login|AADSTS/i, 'Sign in again with `az login`.'],
  [/(?:token|session|credentials?).{0,30}expired|expired.{0,30}(?:token|session|credentials?)/i, 'Sign in again.'],
];

function failed(what: string, stderr: string): ClusterError {
  const again = expired.find(([words]) => words.test(stderr));
  const text = `${what}${saying(stderr)}.`;
  return again
    ? new ClusterError('CredentialsExpired', text, again[1])
    : new ClusterError('ExecPluginFailed', text, 'Run it in a terminal, and mend what it complains of.');
}

/** The last line of what it complained of. */
function saying(stderr: string): string {
  const line = stderr
    .split(/\r?\n/)
    .map((one) => one.trim())
    .findLast((one) => one !== '');
  return line === undefined ? ' and said nothing' : `: ${line.slice(0, 300).replace(/[.\s]+$/, '')}`;
}
