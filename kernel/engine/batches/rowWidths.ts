import { setNewest } from '#shared/setNewest.ts';

/** How long a width is used, in milliseconds. Rows that are added may be wider. */
const lifetime = 60_000;
const maxWidths = 256;
/** Maximum characters of a key. A list of thousands of columns is not worth the memory. */
const maxKey = 16_384;

/** The measured mean bytes per row of queries, so that not every query needs a sample. */
export class RowWidths {
  readonly #widths = new Map<string, { bytes: number; until: number }>();

  get(key: string): number | undefined {
    const known = this.#widths.get(key);
    if (!known || known.until < performance.now()) return undefined;
    return known.bytes;
  }

  set(key: string, bytes: number): void {
    if (key.length > maxKey) return;
    setNewest(this.#widths, key, { bytes, until: performance.now() + lifetime }, maxWidths);
  }
}
