import type { Data, RecordBatch } from '#arrow';
import { absorberOf, finish, reset, state as hashState } from '#catalog/arrow/rowHash.ts';

/** What became of a row: 0 computed, 1 the function threw and null counts, 2 left for the next run. As checkpoints have it. */
export const rowStates = { computed: 0, threw: 1, skipped: 2 } as const;

/** Rows of one fragment as they were read. All parts are of the same length. */
export type ReadRows = {
  readonly fragment: number;
  /** Ascending; the fragment in the upper 32 bits, the place of the row in it in the lower ones. */
  readonly addresses: BigUint64Array;
  /** The columns that the function reads. */
  readonly inputs: RecordBatch;
  /** Values of the column that names rows, where there is one. */
  readonly key: Data | undefined;
  /** What the engine computed of an expression, where it was asked to. */
  readonly value: Data | undefined;
};

/** Rows of one fragment with what was computed for them. All parts are of the same length. */
export type ComputedRows = {
  readonly fragment: number;
  readonly addresses: BigUint64Array;
  /** Hashes of what they were computed from, as `hashesOf` gives them. */
  readonly hashes: BigUint64Array;
  readonly key: Data | undefined;
  readonly value: Data;
  readonly states: Uint8Array;
};

/** Hashes of rows over these columns of a batch, by which a row that was changed is told from one that was not. */
export function hashesOf(batch: RecordBatch, columns: readonly string[]): BigUint64Array {
  const places = columns.map((name) => batch.schema.fields.findIndex((field) => field.name === name));
  return hashesOfData(
    places.map((place) => batch.data.children[place]!),
    batch.numRows,
  );
}

/** The same of columns that are in no batch. */
export function hashesOfData(columns: readonly Data[], rows: number): BigUint64Array {
  const absorbers = columns.map((data) => absorberOf(data, 'a column'));
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

/** Place of a row in its fragment, deleted rows counted. */
export const placeOf = (address: bigint): number => Number(address & 0xffffffffn);
export const fragmentOf = (address: bigint): number => Number(address >> 32n);
export const firstAddress = (fragment: number): bigint => BigInt(fragment) << 32n;

/** The rows from `start` up to `end` of them; nothing is copied. */
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

/** Stretches of rows one after the other for which `of` says the same. */
export function* stretches<T>(
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

/** Bytes of the values, as columns have them, without what marks nulls. */
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
