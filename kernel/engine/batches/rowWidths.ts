import { setNewest } from '#shared/setNewest.ts';

/**
 * How long a row width is reused, in milliseconds. After this time it is measured again, because clients may have added
 * wider rows.
 */
const lifetime = 60_000;
const maxWidths = 256;
/** Maximum characters of a key. A list of thousands of columns is not worth the memory. */
const maxKey = 16_384;

/**
 * The bytes of a row. If `isFixed`, the types of the columns determine them; otherwise they were measured in a sample.
 */
export type RowWidth = { readonly bytes: number; readonly isFixed: boolean };

/** Caches the row widths of the queries on one table, so that not every query needs a sample. */
export class RowWidths {
  readonly #widths = new Map<string, RowWidth & { until: number }>();

  get(key: string): RowWidth | undefined {
    const known = this.#widths.get(key);
    if (!known || known.until < performance.now()) return undefined;
    return known;
  }

  set(key: string, width: RowWidth): void {
    if (key.length > maxKey) return;
    setNewest(this.#widths, key, { ...width, until: performance.now() + lifetime }, maxWidths);
  }
}
