import { createHash, randomBytes } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Field } from '#arrow';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { decodeChunk, encodeChunk, type Chunk, type ChunkHeader, type ChunkRows } from './chunkFile.ts';
import { storageError } from './storageError.ts';

/** A chunk that is there, without its rows. */
export type ChunkName = {
  readonly file: string;
  readonly fragment: number;
  readonly first: number;
  readonly rows: number;
};

/** Where what was computed is kept until all of it is in the table. The format is in kernel/jobs/driver/CHECKPOINTS.md. */
export class CheckpointFolder {
  readonly path: string;
  readonly #field: Field;
  readonly #isOurs: (chunk: Chunk) => boolean;

  /** @param parent the folder of the table, or of the job where the table is on no disk of this machine */
  constructor(parent: string, spec: JobSpec, field: Field) {
    this.path = join(parent, '_ckp', checkpointName(spec));
    this.#field = field;
    this.#isOurs = (chunk) =>
      chunk.functionHash === spec.function.hash && chunk.column === spec.column && chunk.where === (spec.where ?? null);
  }

  /** Chunks by their names, in the order of their rows; what is no chunk is left out. */
  async list(): Promise<ChunkName[]> {
    const names = await readdir(this.path).catch(() => []);
    return names
      .flatMap((file) => {
        const [, fragment, first, rows] = /^f(\d+)-(\d+)-(\d+)\.arrow$/.exec(file) ?? [];
        return rows === undefined
          ? []
          : [{ file, fragment: Number(fragment), first: Number(first), rows: Number(rows) }];
      })
      .toSorted((a, b) => a.fragment - b.fragment || a.first - b.first);
  }

  /** A chunk with its rows; `undefined` where it was cut off or belongs to another function. */
  async read({ file }: ChunkName): Promise<Chunk | undefined> {
    const bytes = await readFile(join(this.path, file)).catch(() => undefined);
    const chunk = bytes && decodeChunk(bytes, this.#field);
    return chunk && this.#isOurs(chunk) ? chunk : undefined;
  }

  /**
   * Keeps a chunk: whole or not at all, and on the disk before this returns.
   * @throws JobError StorageFull, StorageFailed
   */
  async write(header: ChunkHeader, rows: ChunkRows): Promise<void> {
    const name = `f${header.fragment}-${header.first}-${header.rows}.arrow`;
    const draft = join(this.path, `${name}.${randomBytes(4).toString('hex')}.tmp`);
    try {
      await mkdir(this.path, { recursive: true });
      const file = await open(draft, 'wx', 0o600);
      try {
        await file.writeFile(encodeChunk(header, this.#field, rows));
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(draft, join(this.path, name));
    } catch (error) {
      await rm(draft, { force: true }).catch(() => undefined);
      throw storageError(error, `the checkpoints in ${this.path}`);
    }
  }

  /** Removes all chunks, once what they hold is in the table. */
  async clear(): Promise<void> {
    await rm(this.path, { recursive: true, force: true }).catch(() => undefined);
    // The folder of other jobs too: only when it is empty.
    await rmdir(dirname(this.path)).catch(() => undefined);
  }
}

/** Column, function and scope in a name that every file system takes. */
function checkpointName({ column, function: fn, where }: JobSpec): string {
  const scope = where === undefined ? '' : `-${createHash('sha256').update(where).digest('hex').slice(0, 8)}`;
  return `${encodedColumn(column)}-${fn.hash.slice(0, 16)}${scope}`;
}

/** Letters, digits, `_`, `.` and `-` as they are, every other byte of its UTF-8 as `%XX`. */
export const encodedColumn = (column: string): string =>
  Array.from(Buffer.from(column), (byte) => {
    const character = String.fromCodePoint(byte);
    return /[\w.-]/.test(character) ? character : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
