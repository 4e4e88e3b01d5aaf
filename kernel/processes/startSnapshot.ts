import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { cacheFolder, userEnvironment, type UserEnvironment } from './userFolders.ts';

// A start-up snapshot is the memory of a Node.js that has already loaded the compiler and its libraries. A kernel that
// starts from a snapshot replies to its first cell in a fifth of the time. The name of a snapshot is a hash of the
// executable, the flags and the build of the kernel, because a snapshot works only with these. This module imports
// little, because the launcher of Jupyter's kernelspec contains a copy.

/** If set to `off`, kernels neither start from snapshots nor create them. */
export const snapshotVariable = 'LANCE_CATALOG_SNAPSHOT';

/** Makes the script of a snapshot run the language worker of cells instead of a kernel. */
export const languageArgument = 'language';

/**
 * Keeps the hashes of strings and tables in a snapshot; computing them again took a sixth of its loading time. The
 * hashes keep the seed of the process that created the snapshot. This seed is random, different for each snapshot, and
 * unknown to clients of a kernel. A snapshot must not be created with this flag, because then its seed would be the
 * built-in seed of that Node.js version.
 */
export const keepHashSeedFlag = '--no-rehash-snapshot';

/** The flags of a process that starts from a snapshot, without the flags of the kernel. */
export const snapshotFlags = ({ blob }: StartSnapshot): string[] => [keepHashSeedFlag, '--snapshot-blob', blob];

export type StartSnapshot = {
  /** The script to run instead of the kernel's bundle. */
  entry: string;
  /** Folder of all snapshots, private to the user. */
  folder: string;
  blob: string;
  /** A file that contains the size of the blob. It is written last: a snapshot without this file is not valid. */
  note: string;
  /**
   * A file with the id of the process that starts from the snapshot. A kernel removes the file once it runs. So a file
   * of a process that has ended means that the start failed.
   */
  attempt: string;
};

type SnapshotOwner = {
  /** The executable, by path or by a name on PATH. */
  node: string;
  version: string;
  /** The flags that the kernel runs under. */
  flags: readonly string[];
  /** The kernel's bundle, `dist/kernel.cjs`. */
  entry: string;
};

/**
 * Returns the location of the snapshot for this Node.js and this kernel. The snapshot may not exist yet. Returns
 * undefined if snapshots can't be used: on Windows, under NODE_OPTIONS (which may contradict a snapshot), or if the
 * user has switched them off.
 */
export function snapshotOf(
  owner: SnapshotOwner,
  where: UserEnvironment = userEnvironment(),
): StartSnapshot | undefined {
  const { env, platform } = where;
  if (platform === 'win32' || env[snapshotVariable] === 'off' || env['NODE_OPTIONS']) return undefined;
  try {
    const node = executable(owner.node, env['PATH'] ?? '');
    const { size, mtimeMs } = statSync(node);
    const dist = dirname(owner.entry);
    const key = readFileSync(join(dist, 'kernelSnapshot.key'), 'utf8');
    // Includes the path of the kernel, because its snapshot contains absolute paths of files in its folder.
    const made = [owner.version, platform, process.arch, ...owner.flags, node, size, mtimeMs, owner.entry, key];
    const name = createHash('sha256').update(made.join('\n')).digest('hex').slice(0, 24);
    const folder = join(cacheFolder(where), 'start');
    const at = (kind: string) => join(folder, `${name}.${kind}`);
    return {
      entry: join(dist, 'fromSnapshot.cjs'),
      folder,
      blob: at('blob'),
      note: at('json'),
      attempt: at('attempt'),
    };
  } catch {
    // A required file is missing, so there is no snapshot. If the file is needed for the start, the start itself
    // reports it.
    return undefined;
  }
}

function executable(node: string, path: string): string {
  if (isAbsolute(node)) return realpathSync(node);
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    try {
      return realpathSync(join(folder, node));
    } catch {
      // Try the next folder of PATH.
    }
  }
  throw new Error(`Can't find ${node} on PATH.`);
}

/**
 * Whether a kernel can start from a snapshot. The snapshot must be complete, written by this user, and in a folder that
 * only this user can read or write. Removes a snapshot that is incomplete or from which a start failed.
 */
export function isUsable(snapshot: StartSnapshot): boolean {
  const { folder, blob, note, attempt } = snapshot;
  try {
    if (!isPrivate(folder)) return false;
    const { size } = JSON.parse(readFileSync(note, 'utf8')) as { size?: unknown };
    const found = lstatSync(blob);
    const isWhole = found.isFile() && isOwn(found) && (found.mode & 0o022) === 0 && found.size === size;
    if (isWhole && !hasFailed(attempt)) return true;
    removeSnapshot(snapshot);
    return false;
  } catch {
    return false;
  }
}

/** Removes the note first, so that other processes do not use a partly removed snapshot. */
export function removeSnapshot({ note, blob, attempt }: StartSnapshot): void {
  for (const file of [note, blob, attempt]) rmSync(file, { force: true });
}

/**
 * Whether a folder is private to this user. A snapshot is code, so another user who could write into the folder could
 * make this user run any code.
 */
export function isPrivate(folder: string): boolean {
  const found = lstatSync(folder);
  return found.isDirectory() && isOwn(found) && (found.mode & 0o077) === 0;
}

const isOwn = ({ uid }: { uid: number }): boolean => uid === process.getuid?.();

function hasFailed(attempt: string): boolean {
  try {
    const pid = Number(readFileSync(attempt, 'utf8'));
    // An empty file means that the process ended before it wrote its id. The id 0 would mean the group of this process.
    if (!(pid > 0)) return true;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // A missing file means that there is no attempt; a missing process means that it ended before its kernel ran.
    return Object(error).code !== 'ENOENT';
  }
}

/** Records that a process is about to start from the snapshot. */
export function beginAttempt({ attempt }: StartSnapshot, pid: number): void {
  // The file is written under another name and renamed, so that other processes never read it while it is still empty.
  const draft = `${attempt}.${pid}`;
  writeFileSync(draft, String(pid), { mode: 0o600 });
  renameSync(draft, attempt);
}

/** Records that the process runs. */
export function endAttempt({ attempt }: StartSnapshot): void {
  rmSync(attempt, { force: true });
}
