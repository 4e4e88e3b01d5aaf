import type { RecordBatch } from '#arrow';
import { absorberOf, finish, reset, state } from './rowHash.ts';

/**
 * A checksum of rows that says whether two sets of rows are the same, whatever batches they come in and in whatever
 * order: every row is hashed by its values to 64 bits, and the hashes are added up, so that a row that is twice there
 * counts twice. It finds damage and omission, not malice: it is no cryptographic hash.
 *
 * What is hashed is the value and not how it is stored: a dictionary's value and the plain one are the same, as are
 * short and long offsets, and what lies under a null is not looked at. Numbers count by their bits.
 */
export class RowChecksum {
  #rows = 0;
  #sums: [bigint, bigint] = [0n, 0n];

  /** @throws CatalogError Unsupported (0) for a column whose type can't be hashed */
  add(batch: RecordBatch): void {
    const columns = batch.data.children.map((data, index) => absorberOf(data, batch.schema.fields[index]?.name ?? ''));
    // 2^21 hashes of 32 bits are still added up exactly in a double, which is far faster than a bigint.
    for (let start = 0; start < batch.numRows; start += 2 ** 20) {
      const end = Math.min(start + 2 ** 20, batch.numRows);
      let first = 0;
      let second = 0;
      for (let row = start; row < end; row++) {
        reset();
        for (const column of columns) column.one(row);
        finish();
        first += state[0]! >>> 0;
        second += state[1]! >>> 0;
      }
      this.#sums = [this.#sums[0] + BigInt(first), this.#sums[1] + BigInt(second)];
    }
    this.#rows += batch.numRows;
  }

  get rows(): number {
    return this.#rows;
  }

  /** The checksum as text: the number of rows and the sums of both halves of their hashes. */
  get value(): string {
    return [this.#rows, ...this.#sums.map((sum) => BigInt.asUintN(64, sum).toString(16).padStart(16, '0'))].join('-');
  }
}
