import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync, writeSync } from 'node:fs';
import { mkdtemp, open, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Creates a folder, by default private to the user, and its missing parents. Does not use Node's `recursive`, because
 * that option loops forever if a file system reports that a new folder does not exist. `/proc` and some mounts of a
 * home folder report this. Several processes may create the same folders at the same time.
 * @throws an error of the file system
 */
export function makeFolder(path: string, mode = 0o700): void {
  try {
    makeOne(path, mode);
  } catch (error) {
    const above = dirname(path);
    if ((error as { code?: unknown }).code !== 'ENOENT' || above === path) throw error;
    makeFolder(above, mode);
    makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!isFolder(path)) throw error;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

type ReplaceOptions = {
  /** Whether to wait until the file is on the disk, so that it survives a crash of the machine. */
  readonly isLasting: boolean;
  /** Permissions; by default the file is private to the user. */
  readonly mode?: number;
  /** Whether the file gets exactly these permissions, regardless of the umask. */
  readonly isExact?: boolean;
};

/** Error codes for folders that can't be synced: some network file systems, and folders that this user can't list. */
const unsyncable: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EISDIR', 'EBADF', 'EINVAL', 'ENOTSUP', 'ENOSYS']);

function ignoreUnsyncable(error: unknown): void {
  if (!unsyncable.has(Object(error).code)) throw error;
}

/**
 * Waits until the names in a folder are on the disk: a file that was synced can still lose its name in a crash of the
 * machine. Does nothing where folders can't be synced, as on Windows.
 * @throws an error of the file system
 */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return;
  try {
    const folder = await open(path, 'r');
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch (error) {
    ignoreUnsyncable(error);
  }
}

/** Does the same as `syncFolder`, but blocks the thread. */
function syncFolderNow(path: string): void {
  if (process.platform === 'win32') return;
  try {
    const folder = openSync(path, 'r');
    try {
      fsyncSync(folder);
    } finally {
      closeSync(folder);
    }
  } catch (error) {
    ignoreUnsyncable(error);
  }
}

/**
 * Returns a path for the draft: a file with the new content, which is then renamed to `path`. The draft is in the same
 * folder, because a rename does not cross file systems. Readers of checkpoints ignore files that end in `.tmp`. The
 * name has a random part and not the process id, because in a container a process often has the same id as a killed
 * process that left a draft.
 */
const draftPath = (path: string): string => `${path}.${Math.random().toString(36).slice(2)}.tmp`;

/**
 * Replaces a file atomically: a reader finds the whole old file or the whole new one at any moment.
 * @param finish changes the complete draft before it replaces the file, for instance the times of the draft
 * @throws an error of the file system; the old file is then unchanged
 */
export function replaceFile(
  path: string,
  text: string,
  { isLasting, mode = 0o600 }: Omit<ReplaceOptions, 'isExact'>,
  finish?: (draft: string) => void,
): void {
  const draft = draftPath(path);
  try {
    const file = openSync(draft, 'wx', mode);
    try {
      const bytes = Buffer.from(text);
      for (let at = 0; at < bytes.length;) at += writeSync(file, bytes, at);
      if (isLasting) fsyncSync(file);
    } finally {
      closeSync(file);
    }
    finish?.(draft);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  if (isLasting) syncFolderNow(dirname(path));
}

/** The content of a file. Chunks are written as they are read. */
export type FileContent = string | Uint8Array | AsyncIterable<Uint8Array>;

/**
 * Does the same as `replaceFile`, without blocking the thread.
 * @throws an error of the file system or of `content`; the old file is then unchanged
 */
export async function replaceFileAsync(
  path: string,
  content: FileContent,
  { isLasting, mode = 0o600, isExact = false }: ReplaceOptions,
): Promise<void> {
  const draft = draftPath(path);
  try {
    const file = await open(draft, 'wx', mode);
    try {
      await file.writeFile(content);
      // Some file systems have no permissions, and refuse to set them.
      if (isExact) await file.chmod(mode).catch(() => undefined);
      if (isLasting) await file.datasync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
  if (isLasting) await syncFolder(dirname(path));
}

/**
 * Creates a temporary folder, private to the user (`mkdtemp` sets mode 0700).
 * @param name short, because the path of a socket in it is limited to about 100 bytes
 */
export const createTempFolder = (name: string): Promise<string> => mkdtemp(join(tmpdir(), `lance-${name}-`));

/** Runs a callback with a temporary folder, which is removed afterwards. */
export async function withTempFolder<T>(name: string, call: (folder: string) => Promise<T>): Promise<T> {
  const folder = await createTempFolder(name);
  try {
    return await call(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
