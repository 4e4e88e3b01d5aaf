import { createHash } from 'node:crypto';
import { lstatSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { cacheFolder, surroundings, type Surroundings } from './userFolders.ts';

// A start-up snapshot is the memory of a Node that has already loaded the compiler and its libraries. A kernel that starts
// from one answers its first cell in a fifth of the time. It belongs to one executable, one set of flags and one build of
// the kernel, so its name is made of all three. Imports nothing: the launcher of Jupyter's kernelspec brings a copy.

/** Set to `off`, kernels neither start from snapshots nor make them. */
export const snapshotVariable = 'LANCE_CATALOG_SNAPSHOT';

/** Given to the script of a snapshot, it runs the language worker of cells in place of a kernel. */
export const languageArgument = 'language';

/**
 * Leaves the strings and tables of a snapshot the hashes that they have, which took a sixth of bringing it back. Their seed
 * is that of the process that made it: a random one, for each snapshot another, that nobody who sends data to a kernel
 * knows. So it must not be made under this flag: its seed would be the one that is built into every Node of a version.
 */
export const keepHashes = '--no-rehash-snapshot';

/** The flags of a process that starts from a snapshot, but for those of the kernel. */
export const snapshotFlags = ({ blob }: StartSnapshot): string[] => [keepHashes, '--snapshot-blob', blob];

export type StartSnapshot = {
  /** The script to run in place of the kernel's. */
  entry: string;
  /** Where all of them are; of the person alone. */
  folder: string;
  blob: string;
  /** How long the blob is. Written last, so that without it there is no snapshot. */
  note: string;
  /** The process that is starting from it. A kernel removes the file when it is up, so one of a dead process is a warning. */
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
 * Where the snapshot for this Node and this kernel is, or would be; undefined where none can be used: on Windows, under
 * NODE_OPTIONS (which a snapshot may contradict), or when the person has switched them off.
 */
export function snapshotOf(owner: SnapshotOwner, where: Surroundings = surroundings()): StartSnapshot | undefined {
  const { env, platform } = where;
  if (platform === 'win32' || env[snapshotVariable] === 'off' || env['NODE_OPTIONS']) return undefined;
  try {
    const node = executable(owner.node, env['PATH'] ?? '');
    const { size, mtimeMs } = statSync(node);
    const dist = dirname(owner.entry);
    const key = readFileSync(join(dist, 'kernelSnapshot.key'), 'utf8');
    // The same kernel elsewhere reads other files: those of its own folder are in its snapshot by their paths.
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
    // Something that it depends on is not there; the start itself will say so, where it matters.
    return undefined;
  }
}

function executable(node: string, path: string): string {
  if (isAbsolute(node)) return realpathSync(node);
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    try {
      return realpathSync(join(folder, node));
    } catch {
      // In another folder of PATH.
    }
  }
  throw new Error(`There is no ${node} on PATH.`);
}

/**
 * Whether a kernel can start from it: whole, written by this person, in a folder that nobody else can write. One that a
 * kernel did not come up from is removed.
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

/** The note first: whoever looks in between finds no snapshot. */
export function removeSnapshot({ note, blob, attempt }: StartSnapshot): void {
  for (const file of [note, blob, attempt]) rmSync(file, { force: true });
}

/** Whether a folder is this person's alone. A snapshot is code: who can write one runs theirs. */
export function isPrivate(folder: string): boolean {
  const found = lstatSync(folder);
  return found.isDirectory() && isOwn(found) && (found.mode & 0o077) === 0;
}

const isOwn = ({ uid }: { uid: number }): boolean => uid === process.getuid?.();

function hasFailed(attempt: string): boolean {
  try {
    process.kill(Number(readFileSync(attempt, 'utf8')), 0);
    return false;
  } catch (error) {
    // No file: nobody tries. No process of that number: it ended before it was up.
    return Object(error).code !== 'ENOENT';
  }
}

/** Notes that a process is about to start from the snapshot. */
export function beginAttempt({ attempt }: StartSnapshot, pid: number): void {
  writeFileSync(attempt, String(pid), { mode: 0o600 });
}

/** Notes that it is up. */
export function endAttempt({ attempt }: StartSnapshot): void {
  rmSync(attempt, { force: true });
}
