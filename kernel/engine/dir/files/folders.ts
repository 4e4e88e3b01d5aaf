import { lstat, readdir, rename, rm, rmdir, statfs } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { join, relative } from 'node:path';
import { CatalogError } from '#shared/errors.ts';
import { nextSteps } from '#shared/nextSteps.ts';

/** Whether a name is a single path segment, so that it can't lead to another folder. */
export const isSinglePathSegment = (name: string): boolean =>
  name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);

/**
 * Returns the folder name of a table in the root of a directory.
 * @throws CatalogError TableNotFound (4) if the name is not a single path segment
 */
export function rootFolder(name: string): string {
  if (isSinglePathSegment(name)) return `${name}.lance`;
  throw nowhere(name);
}

/**
 * Whether a location of the manifest can hold a table: below the root, and not a reserved folder such as the manifest
 * itself. Other clients create paths of several segments for names with a slash.
 */
export function isTableLocation(location: string): boolean {
  const isReserved = /^[._]/.test(location) && !/^[^/]+\.lance$/.test(location);
  return !isReserved && location.split('/').every(isSinglePathSegment);
}

/**
 * Returns the path of a table's folder in a root.
 * @throws CatalogError TableNotFound (4) if the folder is not below the root
 */
export function inRoot(root: string, folder: string): string {
  const path = join(root, folder);
  // `relative` covers drive letters and similar forms.
  if (isTableLocation(folder) && relative(root, path) === join(folder)) return path;
  throw nowhere(folder);
}

/** Marker files in the folder of a declared or a deregistered table. Other clients check for these markers too. */
export const markers = { declared: '.lance-reserved', forgotten: '.lance-deregistered' } as const;

/** Whether a folder of a local root has the files of a deregistered table. */
export const isDeregistered = (root: string, folder: string): Promise<boolean> =>
  pathExists(join(inRoot(root, folder), markers.forgotten));

const nowhere = (name: string): CatalogError =>
  new CatalogError('TableNotFound', `Table "${name}" does not exist.`, nextSteps.listTables);

/** Returns the name of a staging or trash folder in a root, which is never listed as a table. */
export const hiddenFolder = (purpose: 'unfinished' | 'dropped'): string =>
  `.${purpose}-${randomBytes(8).toString('hex')}`;

/** ext4, XFS, Btrfs, tmpfs, overlayfs and ZFS, by their numbers in Linux. */
const timedFileSystems: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1,
]);

/**
 * Whether the file system of a folder changes the time of the folder with each entry that is added, renamed or removed.
 * A network file system or a file system on an object store may not. The numbers are known only on Linux. On other
 * systems the result is true, because the file systems of their local disks change the time.
 */
export async function keepsFolderTimes(folder: string): Promise<boolean> {
  const { type } = await statfs(folder);
  return process.platform !== 'linux' || timedFileSystems.has(type);
}

export const pathExists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Renames a folder. Returns false if `target` exists: `rename` would silently replace an empty folder. */
export async function moveTo(source: string, target: string): Promise<boolean> {
  if (await pathExists(target)) return false;
  try {
    await rename(source, target);
    return true;
  } catch (error) {
    if (await pathExists(target)) return false;
    throw error;
  }
}

/** Removes the folder of a table in a root if there is nothing in it, which the system checks in the same step. */
export async function removeEmptyFolder(root: string, table: string): Promise<void> {
  // Any other folder stays, and a missing one needs no removal.
  await rmdir(inRoot(root, rootFolder(table))).catch(() => undefined);
}

/** Removes a folder of a root in one step, by renaming it. The files are deleted afterwards, which may take long. */
export async function removeFolder(root: string, folder: string): Promise<void> {
  const going = join(root, hiddenFolder('dropped'));
  await rename(inRoot(root, folder), going);
  await rm(going, { recursive: true, force: true });
}

/**
 * Whether a name has characters that the engine escapes in some of the paths it creates for a table, but not in
 * others.
 */
const isEscaped = (folder: string): boolean => /[^\x20-\x7e]|%/.test(folder);

/** Returns the folders of a table: one, or up to three if its name has characters that the engine escapes. */
export async function foldersOf(root: string, folder: string): Promise<string[]> {
  if (!isEscaped(folder)) return (await pathExists(inRoot(root, folder))) ? [folder] : [];
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
