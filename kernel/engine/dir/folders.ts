import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join, relative } from 'node:path';
import { CatalogError } from '#shared/errors.ts';

/** Whether a name is one step of a path, so that it leads nowhere else. */
export const isOneStep = (name: string): boolean =>
  name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);

/**
 * What a table in the root of a directory is: a folder of this name.
 * @throws CatalogError TableNotFound (4) for a name that would lead elsewhere
 */
export function rootFolder(name: string): string {
  if (isOneStep(name)) return `${name}.lance`;
  throw nowhere(name);
}

/**
 * Whether there can be a table at a location of the list: below the root, and no folder that is there for something else,
 * as the list itself. Other clients make paths of several steps, for names with a slash.
 */
export function isTableLocation(location: string): boolean {
  const isReserved = /^[._]/.test(location) && !/^[^/]+\.lance$/.test(location);
  return !isReserved && location.split('/').every(isOneStep);
}

/**
 * The path of a table's folder in a root.
 * @throws CatalogError TableNotFound (4) for one that is not below the root
 */
export function inRoot(root: string, folder: string): string {
  const path = join(root, folder);
  // The second is for drives and the like, which are no steps.
  if (isTableLocation(folder) && relative(root, path) === join(folder)) return path;
  throw nowhere(folder);
}

/** In the folder of a table that has no rows yet, and of one that was deregistered; other clients look for them. */
export const markers = { declared: '.lance-reserved', forgotten: '.lance-deregistered' } as const;

/** Whether a folder of a local root has the files of a table that was deregistered. */
export const isDeregistered = (root: string, folder: string): Promise<boolean> =>
  isThere(join(inRoot(root, folder), markers.forgotten));

const nowhere = (name: string): CatalogError =>
  new CatalogError('TableNotFound', `Table "${name}" does not exist.`, 'List the tables there are with listTables().');

/** A folder of ours in a root, which nobody takes for a table: for what is being made, and for what is going. */
export const hiddenFolder = (purpose: 'unfinished' | 'dropped'): string =>
  `.${purpose}-${randomBytes(8).toString('hex')}`;

export const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Renames a folder. False when there is something at `target`; an empty folder there would be replaced in silence. */
export async function moveTo(source: string, target: string): Promise<boolean> {
  if (await isThere(target)) return false;
  try {
    await rename(source, target);
    return true;
  } catch (error) {
    if (await isThere(target)) return false;
    throw error;
  }
}

/** Removes a folder of a root in one step, whatever it takes to delete what is in it. */
export async function removeFolder(root: string, folder: string): Promise<void> {
  const going = join(root, hiddenFolder('dropped'));
  await rename(inRoot(root, folder), going);
  await rm(going, { recursive: true, force: true });
}

/** Characters that the engine escapes in some of the paths that it makes for one table, and in others not. */
const isEscaped = (folder: string): boolean => /[^\x20-\x7e]|%/.test(folder);

/** The folders of a table: one, and where its name has characters that the engine escapes, up to three. */
export async function foldersOf(root: string, folder: string): Promise<string[]> {
  if (!isEscaped(folder)) return (await isThere(inRoot(root, folder))) ? [folder] : [];
  const entries = await readdir(root);
  return entries.filter((entry) => [entry, decoded(entry), decoded(decoded(entry))].includes(folder));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
