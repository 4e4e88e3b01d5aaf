import { fileProblem } from '#processes/fileProblem.ts';
import { SpillFile } from '#processes/spillFile.ts';
import { CatalogError } from '#shared/errors.ts';

/** How much a table sorts in one query. */
export type SortSizes = {
  /** Sorts that need more memory are done in parts. Bytes, as are the others. */
  readonly maxBytes: number;
  /** Memory for one part. It is more for very large tables, up to `maxBytes`, because each part is a scan of the keys. */
  readonly partBytes: number;
  /** Rows with equal keys whose row ids are sorted at once. */
  readonly tiedRows: number;
  /** Rows of a table whose keys are not measured, because one query sorts them. */
  readonly unmeasuredRows: number;
  /** Rows of a table that one query samples. */
  readonly sampledRows: number;
};

export type ListOptions = {
  readonly signal?: AbortSignal | undefined;
  /**
   * Called with the number of listed rows, and with how many of the first ones no longer change their order and can be
   * read already.
   */
  readonly onProgress?: ((rows: number, settled: number) => void) | undefined;
  /** Default: about 20 million numbers at once. */
  readonly sortSizes?: SortSizes | undefined;
};

const idBytes = BigUint64Array.BYTES_PER_ELEMENT;
/** Row ids in a chunk: 1 MB. */
const chunkIds = 2 ** 20 / idBytes;
/** Chunks in memory: 64 MB. Earlier ones are in a temporary file. */
const defaultChunks = 64;

/**
 * The row ids of a view, in its order: 8 bytes a row. Long lists are partly in a temporary file.
 */
export class RowIdList {
  /** The chunks in memory; undefined for those in the file. */
  readonly #chunks: (BigUint64Array | undefined)[] = [];
  readonly #maxChunks: number;
  #length = 0;
  /** Number of chunks in the file. They are the first ones. */
  #written = 0;
  #spill: SpillFile | undefined;

  constructor(maxChunks = defaultChunks) {
    this.#maxChunks = maxChunks;
  }

  get length(): number {
    return this.#length;
  }

  /** Appends row ids. Call `settle` now and then, because this method keeps everything in memory. */
  push(ids: BigUint64Array): void {
    for (let from = 0; from < ids.length;) {
      const at = this.#length % chunkIds;
      if (at === 0) this.#chunks.push(new BigUint64Array(chunkIds));
      const count = Math.min(chunkIds - at, ids.length - from);
      this.#chunks.at(-1)!.set(ids.subarray(from, from + count), at);
      this.#length += count;
      from += count;
    }
  }

  /** Sorts the row ids at the positions [start, end). They must not be settled. */
  sort(start: number, end: number): void {
    const length = end - start;
    if (length < 2) return;
    const ids = new BigUint64Array(length);
    this.#copy(start, ids);
    if (isAscending(ids)) return;
    ids.sort();
    for (let from = 0; from < length;) {
      const [chunk, at] = [Math.floor((start + from) / chunkIds), (start + from) % chunkIds];
      const part = ids.subarray(from, from + chunkIds - at);
      this.#chunks[chunk]!.set(part, at);
      from += part.length;
    }
  }

  /**
   * Writes chunks to the temporary file if too many are in memory.
   * @param end position before which the row ids stay as they are
   * @throws CatalogError ServiceUnavailable (17) if the file can't be written
   */
  async settle(end = this.#length): Promise<void> {
    const settled = Math.floor(end / chunkIds);
    while (this.#chunks.length - this.#written > this.#maxChunks && this.#written < settled) {
      const bytes = Buffer.from(this.#chunks[this.#written]!.buffer);
      try {
        this.#spill ??= await SpillFile.create();
        await this.#spill.write(bytes, this.#written * bytes.length);
      } catch (cause) {
        throw new CatalogError(
          'ServiceUnavailable',
          `Can't write the list of rows to a temporary file: ${fileProblem(cause)}.`,
          'Free space in the folder for temporary files, or filter the rows.',
          { cause },
        );
      }
      this.#chunks[this.#written++] = undefined;
    }
  }

  /** Returns the row ids at the positions [start, end), fewer if the list is shorter. */
  async slice(start: number, end: number): Promise<BigUint64Array> {
    const ids = new BigUint64Array(Math.max(0, Math.min(end, this.#length) - start));
    const inFile = Math.min(ids.length, Math.max(0, this.#written * chunkIds - start));
    const bytes = Buffer.from(ids.buffer, 0, inFile * idBytes);
    if (inFile > 0) await this.#spill!.read(bytes, start * idBytes);
    this.#copy(start + inFile, ids.subarray(inFile));
    return ids;
  }

  async close(): Promise<void> {
    this.#chunks.length = 0;
    this.#length = 0;
    const spill = this.#spill;
    this.#spill = undefined;
    await spill?.close();
  }

  /** Copies row ids that are in memory. */
  #copy(start: number, to: BigUint64Array): void {
    for (let copied = 0; copied < to.length;) {
      const [chunk, at] = [Math.floor((start + copied) / chunkIds), (start + copied) % chunkIds];
      const part = this.#chunks[chunk]!.subarray(at, at + to.length - copied);
      to.set(part, copied);
      copied += part.length;
    }
  }
}

const isAscending = (ids: BigUint64Array): boolean => {
  for (let at = 1; at < ids.length; at++) if (ids[at]! < ids[at - 1]!) return false;
  return true;
};
