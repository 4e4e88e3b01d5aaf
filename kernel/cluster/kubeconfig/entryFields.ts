import { dirname, resolve } from 'node:path';
import { ClusterError } from '#cluster/errors.ts';
import { readRegularFile } from '#cluster/wholeFile.ts';
import { ensureShape, isBoolean, isString } from '#shared/shape.ts';
import type { Entry } from './kubeconfigFile.ts';

// Fields of clusters and users. They are validated on use, so errors in unused entries do no harm.

export const invalidField = (what: string, entry: Entry, key: string, problem: string): ClusterError =>
  new ClusterError(
    'KubeconfigInvalid',
    `${key} of the ${what} "${entry.name}" in the kubeconfig ${entry.file} ${problem}.`,
    'Correct it, or download the kubeconfig again.',
  );

/** An empty string counts as missing. */
export const textField = (what: string, entry: Entry, key: string): string | undefined =>
  ensureShape(entry.value[key] ?? '', isString, () => invalidField(what, entry, key, 'is not a string')) || undefined;

export const flagField = (what: string, entry: Entry, key: string): boolean =>
  ensureShape(entry.value[key] ?? false, isBoolean, () => invalidField(what, entry, key, 'is neither true nor false'));

/** Resolves a path against the folder of the kubeconfig that contains it. */
export const besideFile = (entry: Entry, path: string): string => resolve(dirname(entry.file), path);

/**
 * Reads PEM data. The field `<key>-data` contains it as base64, or the field `<key>` names a file that contains it.
 * @throws ClusterError KubeconfigInvalid
 */
export async function pemField(what: string, entry: Entry, key: string): Promise<string | undefined> {
  const data = textField(what, entry, `${key}-data`);
  if (data !== undefined) {
    const pem = decoded(data);
    if (pem === undefined) throw invalidField(what, entry, `${key}-data`, 'is not valid base64');
    if (!pem.includes('-----BEGIN ')) throw invalidField(what, entry, `${key}-data`, 'does not contain PEM data');
    return pem;
  }
  const path = textField(what, entry, key);
  if (path === undefined) return undefined;
  const pem = await fileField(what, entry, key, path);
  if (!pem.includes('-----BEGIN '))
    throw invalidField(what, entry, key, `names ${path}, which does not contain PEM data`);
  return pem;
}

/** Reads the file that a field names. @throws ClusterError KubeconfigInvalid */
export async function fileField(what: string, entry: Entry, key: string, path: string): Promise<string> {
  const file = besideFile(entry, path);
  try {
    return await readRegularFile(file);
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    const why = code === 'ENOENT' ? 'does not exist' : `can't be read (${String(code)})`;
    throw invalidField(what, entry, key, `names ${file}, which ${why}`);
  }
}

function decoded(data: string): string | undefined {
  const bare = data.replaceAll(/\s/g, '');
  const isBase64 = bare.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(bare);
  return isBase64 ? Buffer.from(bare, 'base64').toString('utf8') : undefined;
}
