import type { Data, RecordBatch } from '#arrow';
import { columnHasher, finish, reset, state as hashState } from '#catalog/arrow/rowHash.ts';

/**
 * States of rows, with the numbers that checkpoints use. `threw`: the function failed, and the value is null.
 * `skipped`: the row is left for the next run.
 */
export const rowStates = { computed: 0, threw: 1, skipped: 2 } as const;

/** Rows of one fragment. All parts have the same length. */
export type ReadRows = {
  readonly fragment: number;
  /** Ascending: the fragment is in the upper 32 bits, and the position in the lower 32 bits. */
  readonly addresses: BigUint64Array;
  readonly inputs: RecordBatch;
  readonly key: Data | undefined;
  /** Set if the engine evaluates an expression. */
  readonly value: Data | undefined;
};

/** Results of rows of one fragment. All parts have the same length. */
export type ComputedRows = {
  readonly fragment: number;
  readonly addresses: BigUint64Array;
  /** Hashes of the inputs, from `hashesOf`. */
  readonly hashes: BigUint64Array;
  readonly key: Data | undefined;
  readonly value: Data;
  readonly states: Uint8Array;
};

/** Hashes rows over some columns, to detect changes. */
export function hashesOf(batch: RecordBatch, columns: readonly string[]): BigUint64Array {
  const places = columns.map((name) => batch.schema.fields.findIndex((field) => field.name === name));
  return hashesOfData(
    places.map((place) => batch.data.children[place]!),
    batch.numRows,
  );
}

/** Hashes columns outside of a batch, like `hashesOf`. */
export function hashesOfData(columns: readonly Data[], rows: number): BigUint64Array {
  const absorbers = columns.map((data) => columnHasher(data, 'a column'));
  const hashes = new BigUint64Array(rows);
  const words = new Int32Array(hashes.buffer);
  for (let row = 0; row < rows; row++) {
    reset();
    for (const absorber of absorbers) absorber.one(row);
    finish();
    words[row * 2] = hashState[0]!;
    words[row * 2 + 1] = hashState[1]!;
  }
  return hashes;
}

/** Returns the position of a row in its fragment, counting deleted rows. */
export const rowOffset = (address: bigint): number => Number(address & 0xffffffffn);
export const fragmentId = (address: bigint): number => Number(address >> 32n);
export const firstAddress = (fragment: number): bigint => BigInt(fragment) << 32n;

/** Returns the rows from `start` to `end`, without copying. */
export const sliceRead = (rows: ReadRows, start: number, end: number): ReadRows => ({
  fragment: rows.fragment,
  addresses: rows.addresses.subarray(start, end),
  inputs: rows.inputs.slice(start, end),
  key: rows.key?.slice(start, end - start),
  value: rows.value?.slice(start, end - start),
});

export const sliceComputed = (rows: ComputedRows, start: number, end: number): ComputedRows => ({
  fragment: rows.fragment,
  addresses: rows.addresses.subarray(start, end),
  hashes: rows.hashes.subarray(start, end),
  key: rows.key?.slice(start, end - start),
  value: rows.value.slice(start, end - start),
  states: rows.states.subarray(start, end),
});

/** Yields spans of consecutive rows for which `of` returns the same value. */
export function* rowRuns<T>(
  length: number,
  of: (row: number) => T,
): Generator<{ start: number; end: number; is: T }, void, undefined> {
  let start = 0;
  while (start < length) {
    const is = of(start);
    let end = start + 1;
    while (end < length && of(end) === is) end++;
    yield { start, end, is };
    start = end;
  }
}

/** Returns the size of the values, without validity bitmaps. */
export function bytesOf(data: Data): number {
  const { length, valueOffsets, values, stride, children } = data;
  if (length === 0) return 0;
  if (valueOffsets) {
    const [first, last] = [Number(valueOffsets[0]), Number(valueOffsets[length])];
    const offsets = length * (valueOffsets.BYTES_PER_ELEMENT ?? 4);
    const [child] = children;
    return offsets + (child ? bytesOf(child.slice(first, last - first)) : last - first);
  }
  const own = ArrayBuffer.isView(values) ? length * stride * ((values as Uint8Array).BYTES_PER_ELEMENT ?? 1) : 0;
  return children.reduce((total, child) => total + bytesOf(child), own);
}
