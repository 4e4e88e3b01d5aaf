import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { CatalogError } from '#shared/errors.ts';
import { createSpillFolder, removeSpillFolder } from './spillFolder.ts';

/**
 * A temporary file for data that exceeds the memory of a process. It is private to the user, and no process can leave it
 * behind: it loses its name when it is created, so it ends with its process.
 */
export class SpillFile {
  readonly #file: FileHandle;
  readonly #folder: string;

  private constructor(file: FileHandle, folder: string) {
    this.#file = file;
    this.#folder = folder;
  }

  /** @throws CatalogError ServiceUnavailable (17) or an error of the file system if the file can't be created */
  static async create(): Promise<SpillFile> {
    const folder = createSpillFolder();
    try {
      const file = await open(join(folder, 'data'), 'wx+', 0o600);
      // On Windows the folder stays until the file is closed. If this process is killed there, a later one removes it.
      await removeSpillFolder(folder);
      return new SpillFile(file, folder);
    } catch (error) {
      await removeSpillFolder(folder);
      throw error;
    }
  }

  /** Writes all bytes at a position. @throws an error of the file system */
  async write(bytes: Uint8Array, position: number): Promise<void> {
    for (let at = 0; at < bytes.length;)
      at += (await this.#file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
  }

  /** Fills `bytes` from a position. @throws CatalogError Internal (18) if the file ends before */
  async read(bytes: Uint8Array, position: number): Promise<void> {
    for (let at = 0; at < bytes.length;) {
      const { bytesRead } = await this.#file.read(bytes, at, bytes.length - at, position + at);
      if (bytesRead === 0) throw new CatalogError('Internal', "Can't read a temporary file: it is too short.", '');
      at += bytesRead;
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
    await removeSpillFolder(this.#folder);
  }
}
