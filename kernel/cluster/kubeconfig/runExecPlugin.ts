import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { basename, delimiter, isAbsolute, join } from 'node:path';
import { ClusterError } from '#cluster/errors.ts';
import type { KubeCredential, KubeTarget } from '#cluster/kube/credential.ts';
import { credentialExpiry } from '#cluster/kube/refused.ts';
import type { SecretRedactor } from '#cluster/secretTexts.ts';
import { runProgram } from '#processes/runProgram.ts';
import { fieldAt, stringAt } from '#shared/fields.ts';
import { isRecord } from '#shared/records.ts';
import type { ExecPlugin } from './execPlugin.ts';

type Printed = {
  /** The program, for messages. */
  readonly name: string;
  readonly apiVersion: string;
  readonly hidden: SecretRedactor;
};

/**
 * Parses the credential that a plugin printed. Errors never quote the output, which may hold the credential.
 * @throws ClusterError ExecPluginFailed if it is not a credential, CredentialsExpired if it has expired
 */
function readExecCredential(stdout: string, printed: Printed): KubeCredential {
  const { name, apiVersion, hidden } = printed;
  const value = parsed(stdout);
  if (!isRecord(value) || value['kind'] !== 'ExecCredential')
    throw unreadable(name, `printed ${kindOf(stdout, value)}`);
  if (value['apiVersion'] !== apiVersion)
    throw unreadable(name, `printed a credential of another version than ${apiVersion}, which the kubeconfig requires`);
  const credential = {
    token: stringAt(value, 'status', 'token'),
    clientCertificate: stringAt(value, 'status', 'clientCertificateData'),
    clientKey: stringAt(value, 'status', 'clientKeyData'),
    expiresAt: timeOf(fieldAt(value, 'status', 'expirationTimestamp')),
  };
  hidden.add(credential.token, credential.clientKey);
  const { clientCertificate, clientKey } = credential;
  if ((clientCertificate === undefined) !== (clientKey === undefined))
    throw unreadable(name, 'printed a certificate without its key, or a key without its certificate');
  if (credential.token === undefined && clientCertificate === undefined)
    throw unreadable(name, 'printed neither a token nor a certificate');
  const end = credentialExpiry(credential);
  if (end && end.getTime() <= Date.now())
    throw new ClusterError(
      'CredentialsExpired',
      `The credential plugin ${name} returned a credential that expired at ${end.toISOString()}.`,
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
  return value === undefined ? `${stdout.length} characters that are not JSON` : 'JSON that is not an ExecCredential';
}

const unreadable = (name: string, problem: string): ClusterError =>
  new ClusterError(
    'ExecPluginFailed',
    `The credential plugin ${name} ${problem}.`,
    'Run it in a terminal: it must print an ExecCredential and nothing else, but a shell profile or a wrapper may add text.',
  );

function timeOf(value: unknown): Date | undefined {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : new Date(time);
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Finds a program by name or path as the operating system does, or returns `undefined`.
 * The search is needed, because starting a program fails in the same way if only the program's interpreter is missing.
 * Relative folders in PATH are ignored.
 */
async function findProgram(command: string, environment: Environment): Promise<string | undefined> {
  const isWindows = process.platform === 'win32';
  const endings = isWindows ? ['', ...(environment['PATHEXT'] ?? '.EXE;.CMD').split(';')] : [''];
  const folders = isAbsolute(command) ? [''] : pathOf(environment).split(delimiter).filter(isAbsolute);
  for (const folder of folders) {
    for (const ending of endings) {
      const file = folder === '' ? `${command}${ending}` : join(folder, `${command}${ending}`);
      if (await isProgram(file)) return file;
    }
  }
  return undefined;
}

/** Returns PATH, which Windows spells `Path`. */
const pathOf = (environment: Environment): string =>
  environment['PATH'] ?? Object.entries(environment).find(([name]) => name.toUpperCase() === 'PATH')?.[1] ?? '';

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

type PluginRun = {
  readonly target: KubeTarget;
  readonly hidden: SecretRedactor;
  readonly signal: AbortSignal;
  /** Milliseconds; a sign-in in a browser takes the user a while. */
  readonly limit?: number | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
};

const defaultLimit = 30_000;

type PluginEnd =
  | { readonly end: 'exit'; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly end: 'signal'; readonly signal: string; readonly stderr: string }
  /** Killed at the time limit. */
  | { readonly end: 'late'; readonly stderr: string }
  /** Killed because it printed too much. */
  | { readonly end: 'flood' }
  | { readonly end: 'notStarted'; readonly cause: Error };

/** Bytes of both outputs together. */
const longestOutput = 1024 * 1024;

type ProgramRun = Required<Pick<PluginRun, 'limit' | 'environment' | 'signal'>> & { readonly args: readonly string[] };

/** Runs a program within its limits. @throws only the reason of `signal` if it is aborted */
async function runWithin(program: string, { args, environment, limit, signal }: ProgramRun): Promise<PluginEnd> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort('late'), limit);
  const outputs: { readonly stdout: Buffer[]; readonly stderr: Buffer[] } = { stdout: [], stderr: [] };
  let length = 0;
  const take = (into: Buffer[]) => (chunk: Buffer) => {
    length += chunk.length;
    if (length > longestOutput) stop.abort('flood');
    else into.push(chunk);
  };
  try {
    const { code, signal: killedBy } = await runProgram(program, args, {
      env: environment,
      signal: AbortSignal.any([signal, stop.signal]),
      read(stdout, stderr) {
        stdout.on('data', take(outputs.stdout));
        stderr.on('data', take(outputs.stderr));
      },
    });
    signal.throwIfAborted();
    if (stop.signal.reason === 'flood') return { end: 'flood' };
    const stderr = Buffer.concat(outputs.stderr).toString('utf8');
    if (stop.signal.aborted) return { end: 'late', stderr };
    if (code === null) return { end: 'signal', signal: killedBy ?? 'unknown', stderr };
    return { end: 'exit', code, stdout: Buffer.concat(outputs.stdout).toString('utf8'), stderr };
  } catch (cause) {
    signal.throwIfAborted();
    return { end: 'notStarted', cause: cause instanceof Error ? cause : new Error(String(cause)) };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs the plugin of a kubeconfig to get a credential.
 * @throws ClusterError ExecPluginMissing, ExecPluginFailed, ExecPluginTimeout, CredentialsExpired, Aborted
 */
export async function runExecPlugin(plugin: ExecPlugin, run: PluginRun): Promise<KubeCredential> {
  const { target, hidden, signal, limit = defaultLimit } = run;
  const inherited = { ...(run.environment ?? process.env), ...plugin.env };
  const program = await findProgram(plugin.command, inherited);
  if (program === undefined) throw missingProgram(plugin, inherited);
  const environment = { ...inherited, KUBERNETES_EXEC_INFO: execInfo(plugin, target) };
  const name = `"${commandLine(plugin)}"`;
  const found = await runWithin(program, { args: plugin.args, environment, limit, signal }).catch((cause: unknown) => {
    throw new ClusterError('Aborted', `The credential plugin ${name} was canceled.`, '', { cause });
  });
  switch (found.end) {
    case 'late':
      throw new ClusterError(
        'ExecPluginTimeout',
        `The credential plugin ${name} did not finish within ${limit / 1000} s${saying(found.stderr)}.`,
        'Run it in a terminal: it may wait for you to sign in.',
      );
    case 'flood':
      throw new ClusterError(
        'ExecPluginFailed',
        `The credential plugin ${name} printed too much output for a credential.`,
        'Run it in a terminal.',
      );
    case 'notStarted':
      throw new ClusterError(
        'ExecPluginFailed',
        `Can't start the credential plugin ${name} (${found.cause.message}).`,
        'Run it in a terminal. If it fails there too, install it again.',
        { cause: found.cause },
      );
    case 'signal':
      throw failed(`The credential plugin ${name} was ended by ${found.signal}`, found.stderr);
    case 'exit':
      if (found.code !== 0)
        throw failed(`The credential plugin ${name} failed with status ${found.code}`, found.stderr);
      return readExecCredential(found.stdout, { name, apiVersion: plugin.apiVersion, hidden });
  }
}

/** Returns the path of a plugin's program if it can be run, else `undefined`. */
export const findPlugin = (plugin: ExecPlugin): Promise<string | undefined> =>
  findProgram(plugin.command, { ...process.env, ...plugin.env });

/** Returns the program with its subcommands: `aws eks get-token`. */
export function commandLine({ command, args }: ExecPlugin): string {
  const words = args.filter((arg) => /^[a-z][a-z-]*$/.test(arg)).slice(0, 2);
  const leading = args.slice(0, words.length);
  return [basename(command), ...(words.every((word, index) => word === leading[index]) ? words : [])].join(' ');
}

/** Builds the value of KUBERNETES_EXEC_INFO. It tells the plugin not to prompt, because there is no terminal. */
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
    ? `The kubeconfig uses the credential plugin "${command}", which does not exist or can't be run.`
    : `The kubeconfig uses the credential plugin "${command}", which is not on the PATH of this process: ${shortPath(pathOf(environment))}.`;
  const hint = isPath
    ? 'Install it, or correct the path in the kubeconfig.'
    : 'Install it, or write its full path in the kubeconfig. An editor that was not started from a terminal may have another PATH.';
  return new ClusterError(
    'ExecPluginMissing',
    what,
    installHint === undefined ? hint : `${hint} The kubeconfig says: ${firstLines(installHint)}`,
  );
}

const shortPath = (path: string): string =>
  path === '' ? 'PATH is empty' : path.length > 300 ? `${path.slice(0, 300)}…` : path;

const firstLines = (text: string): string => text.replaceAll(/\s+/g, ' ').slice(0, 300);

/** Messages of cloud programs that need a new sign-in, and how to sign in. */
const expired: readonly (readonly [RegExp, string])[] = [
  [
    /SSO (?:session|token)|sso login|Token has expired and refresh failed|ExpiredToken/i,
    'Sign in again with `aws sso login`. If the kubeconfig names a profile, add it with --profile.',
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
    : new ClusterError('ExecPluginFailed', text, 'Run it in a terminal, and fix the problem that it reports.');
}

/** Returns the last line of the plugin's error output as the end of a message. */
function saying(stderr: string): string {
  const line = stderr
    .split(/\r?\n/)
    .map((one) => one.trim())
    .findLast((one) => one !== '');
  return line === undefined ? ' and printed no message' : `: ${line.slice(0, 300).replace(/[.\s]+$/, '')}`;
}
