import * as path from 'node:path';
import { isObjectStore, localRoot } from '#client/root.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { fieldsOf } from '../host/shape.ts';
import type { Connection } from './node.ts';

/** What is wrong with the name of a new connection, as a sentence; `undefined` when it is fine. */
export function connectionNameProblem(name: string, existing: readonly { name: string }[]): string | undefined {
  if (name.trim() === '') return 'A connection needs a name.';
  if (existing.some((one) => one.name === name)) return `There is a connection "${name}" already.`;
  return undefined;
}

/** A name for a directory that no other connection has: its own, else with a number. */
export function suggestName(root: string, existing: readonly { name: string }[]): string {
  const base = path.basename(path.resolve(root)) || 'catalog';
  for (let n = 1; ; n++) {
    const name = n === 1 ? base : `${base} ${n}`;
    if (!existing.some((one) => one.name === name)) return name;
  }
}

/** Where roots that are not absolute start: the person's home, and the first folder of the window if one is open. */
export type RootBase = { home: string; folder?: string | undefined };

/**
 * The root in the one form that means the same to the engine, the kernels and other windows: an absolute path, or the
 * address of an object store. `~` is the home directory; another relative path starts at the folder.
 * @throws CatalogError InvalidInput (13) for a relative path while no folder is open, and for a bad `file:` address
 */
export function absoluteRoot(root: string, { home, folder }: RootBase): string {
  if (isObjectStore(root)) return root;
  if (/^~(?=$|[/\\])/.test(root)) return path.resolve(path.join(home, root.slice(1)));
  if (path.isAbsolute(root) || /^file:\/\//i.test(root)) return localRoot(root);
  if (folder !== undefined) return path.resolve(folder, root);
  throw new CatalogError(
    'InvalidInput',
    `"${root}" is a relative path, and no folder is open where it could start.`,
    'Give the whole path, or open a folder.',
  );
}

/** The root of a connection. @throws CatalogError InvalidInput (13) for one that has none in this window */
export function rootOf(connection: Connection): string {
  if (connection.problem) throw connection.problem;
  return connection.root;
}

/**
 * The connections in a stored or set value. What has another shape is left out: it was written by hand or by another
 * version, and one bad entry must not hide the good ones. `${workspaceFolder}` stands for the folder. A root that is no
 * place in this window stays as it was written, with its problem.
 */
export function readConnections(value: unknown, source: Connection['source'], base: RootBase): Connection[] {
  if (!Array.isArray(value)) return [];
  const { folder } = base;
  const found = new Map<string, Connection>();
  for (const entry of value) {
    const { name, root } = fieldsOf(entry);
    if (typeof name !== 'string' || typeof root !== 'string' || name.trim() === '' || root === '') continue;
    if (root.includes('${workspaceFolder}') && folder === undefined) continue;
    const where = folder === undefined ? root : root.replace('${workspaceFolder}', () => folder);
    if (!found.has(name)) found.set(name, { name, kind: 'dir', source, ...place(where, base) });
  }
  return [...found.values()];
}

function place(root: string, base: RootBase): Pick<Connection, 'root' | 'problem'> {
  try {
    return { root: absoluteRoot(root, base) };
  } catch (problem) {
    if (isCatalogError(problem)) return { root, problem };
    throw problem;
  }
}
