import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { storageError } from '#jobs/local/storageError.ts';
import { replaceFileAsync, syncFolder } from '#processes/files.ts';
import { isAbort } from '#shared/errors.ts';
import { isJobError, JobError } from '#shared/jobs/jobErrors.ts';
import type { CheckpointStore } from './store.ts';

/** Stores files on a disk of this machine. */
export class FolderStore implements CheckpointStore {
  readonly #root: string;

  /** @param root the folder of the table, or of the job */
  constructor(root: string) {
    this.#root = root;
  }

  placeOf(path: string): string {
    return join(this.#root, path);
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return readFile(this.placeOf(path)).catch(() => undefined);
  }

  /** Syncs a temporary file, renames it, and syncs its name, so that readers never see half a file. */
  async write(path: string, bytes: Uint8Array): Promise<void> {
    const target = this.placeOf(path);
    try {
      await this.#makeFolder(dirname(path));
      await replaceFileAsync(target, bytes, { isLasting: true, mode: readable });
    } catch (error) {
      throw storageError(error, target);
    }
  }

  async create(path: string, bytes: Uint8Array): Promise<boolean> {
    const target = this.placeOf(path);
    try {
      await this.#makeFolder(dirname(path));
      await writeFile(target, bytes, { flag: 'wx', mode: readable });
      return true;
    } catch (error) {
      if (Object(error).code === 'EEXIST') return false;
      throw storageError(error, target);
    }
  }

  reasonOf(failure: unknown): unknown {
    return existsSync(this.#root) || isAbort(failure) || isJobError(failure) ? failure : gone(this.#root, failure);
  }

  /**
   * Creates folders, but never the root, because the root of a table that was dropped meanwhile would block the name of
   * the table forever.
   */
  async #makeFolder(folder: string): Promise<void> {
    const parts = folder.split('/');
    for (let attempt = 1; ; attempt++) {
      try {
        for (const index of parts.keys()) await makeOne(this.placeOf(parts.slice(0, index + 1).join('/')));
        return;
      } catch (error) {
        if (Object(error).code !== 'ENOENT') throw error;
        if (!existsSync(this.#root)) throw gone(this.#root, error);
        // Another job has removed the folder while it was empty, so it is created again.
        if (attempt === 3) throw error;
      }
    }
  }

  async list(folder: string): Promise<readonly string[]> {
    return readdir(this.placeOf(folder)).catch(() => []);
  }

  async remove(path: string): Promise<void> {
    const target = this.placeOf(path);
    await rm(target, { force: true }).catch(() => undefined);
    await removeEmpty(dirname(target));
  }

  async removeFolder(folder: string): Promise<void> {
    const target = this.placeOf(folder);
    await rm(target, { recursive: true, force: true }).catch(() => undefined);
    await removeEmpty(dirname(target));
  }
}

async function makeOne(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    if (Object(error).code === 'EEXIST') return;
    throw error;
  }
  await syncFolder(dirname(folder));
}

const gone = (root: string, cause: unknown): JobError =>
  new JobError(
    'TableChanged',
    `The folder ${root} no longer exists: the table was dropped or moved.`,
    'Start the job again when the folder exists.',
    { cause },
  );

/** All users can read the files, because a lease that another user can't read would not stop the jobs of that user. */
const readable = 0o644;

/** Removes a folder if it is empty. The next write creates the folder again. */
const removeEmpty = (folder: string): Promise<void> => rmdir(folder).catch(() => undefined);
