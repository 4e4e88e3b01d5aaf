import { randomUUID } from 'node:crypto';
import type { PicturePlace } from '#shared/protocol/pictureMessages.ts';

/** Bytes of images that are kept. The images of the oldest outputs are dropped first. */
const maxBytes = 256 * 1024 * 1024;

/** The images of a column by row. */
type Column = ReadonlyMap<number, Uint8Array>;

type Kept = { columns: ReadonlyMap<string, Column>; bytes: number };

/** The images of a column of an output. */
export type LargeImages = { name: string; images: Iterable<[row: number, image: Uint8Array]> };

/** The whole images of outputs that show thumbnails, for a user who clicks a thumbnail. */
export class PictureStore {
  readonly #outputs = new Map<string, Kept>();
  #bytes = 0;

  /**
   * Keeps copies of the images of an output, as many as there is memory for: the table itself may be much larger than
   * its output. Returns the id of the output.
   */
  keep(output: readonly LargeImages[]): string {
    const id = randomUUID();
    let bytes = 0;
    const columns = new Map<string, Column>();
    for (const { name, images } of output) {
      const column = new Map<number, Uint8Array>();
      columns.set(name, column);
      for (const [row, image] of images) {
        if (bytes + image.length > maxBytes) break;
        bytes += image.length;
        column.set(row, new Uint8Array(image));
      }
    }
    this.#outputs.set(id, { columns, bytes });
    this.#bytes += bytes;
    for (const [oldest, kept] of this.#outputs) {
      if (this.#bytes <= maxBytes) break;
      this.#outputs.delete(oldest);
      this.#bytes -= kept.bytes;
    }
    return id;
  }

  /** Returns an image; undefined if the output is not known, or its images have been dropped. */
  find({ output, column, row }: PicturePlace): Uint8Array | undefined {
    return this.#outputs.get(output)?.columns.get(column)?.get(row);
  }
}

/** The images of this kernel. */
export const pictures = new PictureStore();
