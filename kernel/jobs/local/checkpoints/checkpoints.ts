import { createHash } from 'node:crypto';
import type { Field } from '#arrow';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { encodedColumn } from '#processes/columnLease.ts';
import { type Chunk, type ChunkHeader, type ChunkRows, decodeChunk, encodeChunk } from './chunkFile.ts';
import type { CheckpointStore } from './store.ts';

/** Returns a folder name that is valid in every store. */
function checkpointName({ column, function: fn, where }: Pick<JobSpec, 'column' | 'function' | 'where'>): string {
  const scope = where === undefined ? '' : `-${createHash('sha256').update(where).digest('hex').slice(0, 8)}`;
  return `${encodedColumn(column)}-${fn.hash.slice(0, 16)}${scope}`;
}

export type ChunkName = {
  readonly file: string;
  readonly fragment: number;
  readonly first: number;
  readonly rows: number;
};

/** Stores results until they are in the table. Format: kernel/jobs/driver/CHECKPOINTS.md. */
export class Checkpoints {
  /** Folder in the store. */
  readonly path: string;
  readonly #store: CheckpointStore;
  readonly #field: Field;
  readonly #isOurs: (chunk: Chunk) => boolean;
  readonly #jobId: string;

  constructor(store: CheckpointStore, spec: JobSpec, field: Field) {
    this.path = `_ckp/${checkpointName(spec)}`;
    this.#store = store;
    this.#field = field;
    this.#jobId = spec.jobId;
    this.#isOurs = (chunk) =>
      chunk.functionHash === spec.function.hash && chunk.column === spec.column && chunk.where === (spec.where ?? null);
  }

  /** Lists chunks in the order of their rows; other files are left out. @throws JobError StorageFailed */
  async list(signal: AbortSignal): Promise<ChunkName[]> {
    const names = await this.#store.list(this.path, signal);
    return names
      .flatMap((file) => {
        const [, fragment, first, rows] = /^f(\d+)-(\d+)-(\d+)\.arrow$/.exec(file) ?? [];
        return rows === undefined
          ? []
          : [{ file, fragment: Number(fragment), first: Number(first), rows: Number(rows) }];
      })
      .toSorted((a, b) => a.fragment - b.fragment || a.first - b.first);
  }

  /**
   * Returns `undefined` for a truncated chunk, or for a chunk of another function, column or condition.
   * @throws JobError StorageFailed
   */
  async read({ file }: ChunkName, signal: AbortSignal): Promise<Chunk | undefined> {
    const bytes = await this.#store.read(`${this.path}/${file}`, signal);
    const chunk = bytes && decodeChunk(bytes, this.#field);
    return chunk && this.#isOurs(chunk) ? chunk : undefined;
  }

  /**
   * Whether failed rows of a chunk count as done. They count only for the job in which they failed; a new job tries
   * them again.
   */
  countsFailed({ jobId }: Chunk): boolean {
    return jobId === undefined || jobId === this.#jobId;
  }

  /**
   * Writes a chunk completely or not at all. The chunk is synced to disk before the call returns.
   * @throws JobError StorageFull, StorageFailed
   */
  async write(header: ChunkHeader, rows: ChunkRows): Promise<void> {
    const name = `f${header.fragment}-${header.first}-${header.rows}.arrow`;
    await this.#store.write(`${this.path}/${name}`, encodeChunk(header, this.#field, rows));
  }

  /** Removes chunks after their rows are in the table. */
  async clear(fragments: ReadonlySet<number> | undefined, signal: AbortSignal): Promise<void> {
    if (!fragments) return this.#store.removeFolder(this.path);
    for (const { file, fragment } of await this.list(signal))
      if (fragments.has(fragment)) await this.#store.remove(`${this.path}/${file}`);
  }
}
