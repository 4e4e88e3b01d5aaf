import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { ClusterError, isClusterError } from '#cluster/errors.ts';
import { readKubeconfigFile, type Entry, type Kubeconfig } from './kubeconfigFile.ts';

export type LoadOptions = {
  /** The kubeconfig file that a profile names. Default: the files that KUBECONFIG names, or `~/.kube/config`. */
  readonly kubeconfig?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  readonly home?: string | undefined;
};

/**
 * Reads the kubeconfig as `kubectl` does: a given file, else the files of KUBECONFIG, else `~/.kube/config`.
 * Missing files in KUBECONFIG are skipped. If several files have the same entry, the entry in the first file counts.
 * @throws ClusterError KubeconfigMissing, KubeconfigUnreadable, KubeconfigInvalid
 */
export async function loadKubeconfig(options: LoadOptions = {}): Promise<Kubeconfig> {
  const { kubeconfig, environment = process.env, home = homedir() } = options;
  if (kubeconfig !== undefined) return readKubeconfigFile(kubeconfig, shortened(kubeconfig, home));
  const files = (environment['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  if (files.length > 0) return readSeveral(files, home);
  return readDefault(join(home, '.kube', 'config'), home);
}

async function readDefault(file: string, home: string): Promise<Kubeconfig> {
  const label = shortened(file, home);
  try {
    return await readKubeconfigFile(file, label);
  } catch (error) {
    if (!isClusterError(error) || error.kind !== 'KubeconfigMissing') throw error;
    const what = `No kubeconfig was found: KUBECONFIG is not set, and ${label} does not exist.`;
    throw new ClusterError('KubeconfigMissing', what, error.hint, { cause: error });
  }
}

async function readSeveral(files: readonly string[], home: string): Promise<Kubeconfig> {
  const read: Kubeconfig[] = [];
  for (const file of new Set(files)) {
    try {
      read.push(await readKubeconfigFile(file, shortened(file, home)));
    } catch (error) {
      if (!isClusterError(error) || error.kind !== 'KubeconfigMissing') throw error;
    }
  }
  const [only] = read;
  if (!only) {
    const named = files.map((file) => shortened(file, home)).join(', ');
    throw new ClusterError(
      'KubeconfigMissing',
      `KUBECONFIG names no existing file: ${named}.`,
      'Correct KUBECONFIG, or name a file in the profile.',
    );
  }
  return read.length === 1 ? only : merged(read);
}

const merged = (files: readonly Kubeconfig[]): Kubeconfig => ({
  label: files.map(({ label }) => label).join(', '),
  hash: files.map(({ hash }) => hash).join(' '),
  currentContext: files.map(({ currentContext }) => currentContext).find((one) => one !== undefined),
  clusters: firstOfEach(files.flatMap(({ clusters }) => clusters)),
  users: firstOfEach(files.flatMap(({ users }) => users)),
  contexts: firstOfEach(files.flatMap(({ contexts }) => contexts)),
});

const firstOfEach = (entries: readonly Entry[]): readonly Entry[] =>
  entries.filter(({ name }, index) => entries.findIndex((other) => other.name === name) === index);

/** Shortens a path for display: `~/.kube/config`. */
const shortened = (file: string, home: string): string =>
  home !== '' && file.startsWith(join(home, '/')) ? `~${file.slice(home.length)}` : file;
