import { createHash } from 'node:crypto';
import { load, YAMLException } from 'js-yaml';
import { ClusterError } from '#cluster/errors.ts';
import { readRegularFile } from '#cluster/wholeFile.ts';
import { isRecord } from '#shared/records.ts';

/** A cluster, user or context as written, and its file. The value is not validated yet. */
export type Entry = {
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly file: string;
};

/** A kubeconfig of one file or several merged ones. */
export type Kubeconfig = {
  /** The files, for display. */
  readonly label: string;
  /** SHA-256 in hex of the text that was read. Merged files have one hash each, separated by spaces. */
  readonly hash: string;
  readonly currentContext: string | undefined;
  readonly clusters: readonly Entry[];
  readonly users: readonly Entry[];
  readonly contexts: readonly Entry[];
};

/** Maximum characters; the certificates of a hundred clusters take 1 % of this limit. */
const longest = 16 * 1024 * 1024;

const getOne =
  'Create one with `aws eks update-kubeconfig` or `gcloud container clusters get-credentials`, ask the administrator of ' +
  'the cluster for one, or name another file in the profile.';

/**
 * Reads one file.
 * @param label its name in messages
 * @throws ClusterError KubeconfigMissing, KubeconfigUnreadable, or KubeconfigInvalid with the line
 */
export async function readKubeconfigFile(file: string, label: string = file): Promise<Kubeconfig> {
  const text = await textOf(file, label);
  if (text.trim() === '') throw new ClusterError('KubeconfigInvalid', `The kubeconfig ${label} is empty.`, getOne);
  const value = parsed(text, label);
  if (!isRecord(value)) {
    throw new ClusterError('KubeconfigInvalid', `The kubeconfig ${label} contains no settings.`, getOne);
  }
  const { kind } = value;
  if (kind !== undefined && kind !== 'Config') {
    const shown = typeof kind === 'string' ? JSON.stringify(kind) : 'something else';
    throw new ClusterError(
      'KubeconfigInvalid',
      `The file ${label} is not a kubeconfig: its kind is ${shown}, not "Config".`,
      'Name another file in the profile.',
    );
  }
  const current = value['current-context'];
  return {
    label,
    hash: createHash('sha256').update(text).digest('hex'),
    currentContext: typeof current === 'string' && current !== '' ? current : undefined,
    clusters: entriesOf(value, 'cluster', file, label),
    users: entriesOf(value, 'user', file, label),
    contexts: entriesOf(value, 'context', file, label),
  };
}

async function textOf(file: string, label: string): Promise<string> {
  let text: string;
  try {
    text = await readRegularFile(file);
  } catch (cause) {
    throw unreadable(label, cause);
  }
  if (text.length > longest)
    throw new ClusterError('KubeconfigInvalid', `The kubeconfig ${label} is larger than 16 MiB.`, 'Name another file.');
  return text;
}

function unreadable(label: string, cause: unknown): ClusterError {
  const { code } = cause as { code?: unknown };
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new ClusterError('KubeconfigMissing', `The kubeconfig ${label} does not exist.`, getOne, { cause });
    case 'EISDIR':
      return new ClusterError(
        'KubeconfigUnreadable',
        `The kubeconfig ${label} is a directory.`,
        'Name a file in it, such as its "config".',
        { cause },
      );
    case 'EFTYPE':
      return new ClusterError(
        'KubeconfigUnreadable',
        `The kubeconfig ${label} is a pipe or a device.`,
        'Write its content to a file, and name that file.',
        { cause },
      );
    case 'EACCES':
    case 'EPERM':
      return new ClusterError(
        'KubeconfigUnreadable',
        `Can't read the kubeconfig ${label}: permission denied.`,
        'Change its owner or permissions, or name another file in the profile.',
        { cause },
      );
    default:
      return new ClusterError(
        'KubeconfigUnreadable',
        `Can't read the kubeconfig ${label} (${typeof code === 'string' ? code : 'unknown reason'}).`,
        'Check the file.',
        { cause },
      );
  }
}

/** Parses YAML. The error has the line and the reason, but not the content, which may be a key. */
function parsed(text: string, label: string): unknown {
  try {
    return load(text);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const line = error.mark === undefined ? '' : `:${error.mark.line + 1}`;
    throw new ClusterError(
      'KubeconfigInvalid',
      `The kubeconfig ${label}${line} is not valid YAML: ${error.reason}.`,
      'Correct the line, or download the file again.',
    );
  }
}

function entriesOf(
  config: Readonly<Record<string, unknown>>,
  what: 'cluster' | 'user' | 'context',
  file: string,
  label: string,
): readonly Entry[] {
  const list = config[`${what}s`];
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list))
    throw new ClusterError(
      'KubeconfigInvalid',
      `"${what}s" of the kubeconfig ${label} is not a list.`,
      'Correct the file.',
    );
  return list.map((one: unknown, index) => {
    const name = isRecord(one) ? one['name'] : undefined;
    if (!isRecord(one) || (typeof name !== 'string' && typeof name !== 'number'))
      throw new ClusterError(
        'KubeconfigInvalid',
        `${what}s[${index}] of the kubeconfig ${label} has no name.`,
        'Correct the file.',
      );
    const value = one[what];
    return { name: String(name), value: isRecord(value) ? value : {}, file };
  });
}
