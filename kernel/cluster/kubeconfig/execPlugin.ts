import type { ProfileOrigin } from '#cluster/profile.ts';
import { type SignInProgram, signInProgram } from '#cluster/profiles/programTrust.ts';
import { isRecord } from '#shared/records.ts';
import { anyOf, ensureShape, isFiniteNumber, isString, listOf } from '#shared/shape.ts';
import { besideFile, invalidField } from './entryFields.ts';
import type { Entry, Kubeconfig } from './kubeconfigFile.ts';

/** A credential plugin of a kubeconfig. */
export type ExecPlugin = {
  /** A name to find on PATH, or an absolute path. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly apiVersion: string;
  readonly installHint: string | undefined;
  /** Whether the program receives the cluster's data. */
  readonly wantsCluster: boolean;
};

const what = 'user';

/** Versions of the plugin API; clients no longer support v1alpha1. */
const versions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

/** Returns the plugin of a user, if it has one. @throws ClusterError KubeconfigInvalid */
export function execPluginOf(entry: Entry): ExecPlugin | undefined {
  const exec = entry.value['exec'];
  if (exec === undefined || exec === null) return undefined;
  if (!isRecord(exec)) throw invalidField(what, entry, 'exec', 'is not an object');
  const { command, args, env, apiVersion, installHint, interactiveMode, provideClusterInfo } = exec;
  if (typeof command !== 'string' || command === '') throw invalidField(what, entry, 'exec.command', 'is missing');
  if (typeof apiVersion !== 'string' || !versions.includes(apiVersion))
    throw invalidField(
      what,
      entry,
      'exec.apiVersion',
      `is not ${versions.join(' or ')}, so the program that wrote it is too old`,
    );
  if (interactiveMode === 'Always')
    throw invalidField(what, entry, 'exec.interactiveMode', 'is "Always", but there is no terminal for prompts');
  return {
    // A path is relative to the kubeconfig; the system finds a bare name on PATH.
    command: /[\\/]/.test(command) ? besideFile(entry, command) : command,
    args: argumentsOf(entry, args),
    env: environmentOf(entry, env),
    apiVersion,
    installHint: typeof installHint === 'string' && installHint.trim() !== '' ? installHint.trim() : undefined,
    wantsCluster: provideClusterInfo === true,
  };
}

/** Describes a plugin for the user's consent. @param config the kubeconfig that the plugin was read from */
export const pluginProgram = (
  origin: ProfileOrigin,
  { command, args, env }: ExecPlugin,
  { label, hash }: Pick<Kubeconfig, 'label' | 'hash'>,
): SignInProgram =>
  signInProgram({ origin, command: [command, ...args], env, source: `the kubeconfig ${label}` }, hash);

function argumentsOf(entry: Entry, args: unknown): readonly string[] {
  // YAML reads an argument such as 8080 as a number.
  const list = ensureShape(args ?? [], listOf(anyOf(isString, isFiniteNumber)), () =>
    invalidField(what, entry, 'exec.args', 'is not a list of strings'),
  );
  return list.map(String);
}

function environmentOf(entry: Entry, env: unknown): Readonly<Record<string, string>> {
  if (env === undefined || env === null) return {};
  if (!Array.isArray(env)) throw invalidField(what, entry, 'exec.env', 'is not a list');
  const pairs = env.map((one: unknown): [string, string] => {
    const { name, value } = isRecord(one) ? one : {};
    if (typeof name !== 'string' || typeof value !== 'string')
      throw invalidField(what, entry, 'exec.env', 'has an entry without a name or a value');
    return [name, value];
  });
  return Object.fromEntries(pairs);
}
