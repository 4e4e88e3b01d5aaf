import { type Data, DataType, type RecordBatch, Vector } from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';

// The hash state of the current row. The state is global, because passing it as an argument for each value would be
// slow. The state is a typed array, because its numbers stay 32-bit integers; variables would become doubles.

/** Two halves of 32 bits, mixed in different ways. */
export const state = new Int32Array(2);

export function reset(): void {
  state[0] = 0x243f6a88;
  state[1] = 0x13198a2e;
}

/** Adds 32 bits to the hash; the order matters. */
function absorb(word: number): void {
  const first = state[0]!;
  const second = state[1]!;
  state[0] = Math.imul(((first << 5) | (first >>> 27)) ^ word, 0x9e3779b1);
  state[1] = Math.imul(((second << 13) | (second >>> 19)) ^ word, 0x85ebca6b) + 0x27d4eb2f;
}

/** Null has a separate mixing step, because every 32-bit word can also be a value. */
function absorbNull(): void {
  state[0] = Math.imul(state[0]! + 0x3c6ef372, 0xc2b2ae3d);
  state[1] = Math.imul(state[1]! ^ 0x510e527f, 0x1b873593);
}

/** Spreads the input over all bits. Only then can the hashes of rows be added. */
export function finish(): void {
  const first = avalanche(state[0]!);
  const second = avalanche(state[1]! ^ first);
  state[0] = first;
  state[1] = second;
}

function avalanche(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}

/** Hashes values of a column: one value, or a range of them in order. */
export type ColumnHasher = { one: (row: number) => void; range: (start: number, end: number) => void };

const each = (one: (row: number) => void): ColumnHasher => ({
  one,
  range: (start, end) => {
    for (let row = start; row < end; row++) one(row);
  },
});

/**
 * Returns the hasher for the values of a column. A value adds the same words whether or not other values of the batch
 * are null, because the same rows may arrive in other batches.
 * @param name for errors
 * @throws CatalogError Unsupported (0) for a union, because its values have no bytes
 */
export function columnHasher(data: Data, name: string): ColumnHasher {
  if (DataType.isNull(data.type)) return each(absorbNull);
  const values = valuesOf(data, name);
  const { nullBitmap: bitmap, offset } = data;
  if (data.nullCount === 0 || !bitmap || bitmap.length === 0) return values;
  return each((row) => {
    const bit = offset + row;
    if (((bitmap[bit >> 3]! >> (bit & 7)) & 1) === 0) absorbNull();
    else values.one(row);
  });
}

/** Whether two values have the same hash. */
export function hasSameHash(hasher: ColumnHasher, row: number, other: ColumnHasher, otherRow: number): boolean {
  hashOne(hasher, row);
  const first = state[0];
  const second = state[1];
  hashOne(other, otherRow);
  return first === state[0] && second === state[1];
}

function hashOne(hasher: ColumnHasher, row: number): void {
  reset();
  hasher.one(row);
  finish();
}

function valuesOf(data: Data, name: string): ColumnHasher {
  const { type } = data;
  if (DataType.isBool(type)) return bits(data);
  if (DataType.isUtf8(type) || DataType.isBinary(type) || DataType.isLargeUtf8(type) || DataType.isLargeBinary(type))
    return texts(data);
  if (DataType.isDictionary(type)) return dictionary(data, name);
  if (DataType.isStruct(type)) return struct(data, name);
  if (DataType.isFixedSizeList(type)) return fixedSizeList(data, type.listSize, name);
  if (DataType.isList(type) || DataType.isLargeList(type) || DataType.isMap(type)) return list(data, name);
  if (DataType.isUtf8View(type) || DataType.isBinaryView(type)) return views(data);
  if (DataType.isUnion(type) || !ArrayBuffer.isView(data.values)) {
    throw new CatalogError(
      'Unsupported',
      `The column "${name}" is of type ${typeText(type)}, whose values can't be compared.`,
      'Leave it out, or cast it to another type.',
    );
  }
  return fixedWidth(data);
}

const viewOf = (values: ArrayBufferView): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

function bits({ values, offset }: Data): ColumnHasher {
  const bytes = viewOf(values as Uint8Array);
  return each((row) => absorb((bytes[(offset + row) >> 3]! >> ((offset + row) & 7)) & 1));
}

/**
 * Returns the hasher of numbers, times and decimals. The hasher reads 32-bit words if the width and position of the
 * values allow it.
 */
function fixedWidth(data: Data): ColumnHasher {
  const values = data.values as ArrayBufferView & { BYTES_PER_ELEMENT: number };
  const width = values.BYTES_PER_ELEMENT * data.stride;
  const isAligned = width % 4 === 0 && values.byteOffset % 4 === 0;
  const units = isAligned ? new Int32Array(values.buffer, values.byteOffset, values.byteLength >> 2) : viewOf(values);
  const perRow = isAligned ? width / 4 : width;
  const range = (start: number, end: number): void => {
    for (let at = start * perRow; at < end * perRow; at++) absorb(units[at]!);
  };
  return { range, one: perRow === 1 ? (row) => absorb(units[row]!) : (row) => range(row, row + 1) };
}

function absorbBytes(bytes: Uint8Array, start: number, end: number): void {
  absorb(end - start);
  let at = start;
  for (; at + 4 <= end; at += 4)
    absorb(bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
  for (; at < end; at++) absorb(bytes[at]!);
}

/** Returns where the values of a row start. The "large" types have 64-bit offsets, the others 32-bit offsets. */
const offsetsOf = (data: Data) => {
  const offsets = data.valueOffsets as Int32Array | BigInt64Array;
  return (row: number): number => Number(offsets[row]);
};

function texts(data: Data): ColumnHasher {
  const bytes = viewOf(data.values as Uint8Array);
  const offset = offsetsOf(data);
  return each((row) => absorbBytes(bytes, offset(row), offset(row + 1)));
}

const encoder = new TextEncoder();

function views(data: Data): ColumnHasher {
  const vector = new Vector([data]);
  return each((row) => {
    const value: unknown = vector.get(row);
    const bytes = value instanceof Uint8Array ? value : encoder.encode(String(value));
    absorbBytes(bytes, 0, bytes.length);
  });
}

function dictionary(data: Data, name: string): ColumnHasher {
  const chunks = data.dictionary?.data ?? [];
  const absorbers = chunks.map((chunk) => columnHasher(chunk, name));
  const indices = data.values as Int32Array | BigInt64Array;
  return each((row) => {
    let index = Number(indices[row]);
    let chunk = 0;
    // A dictionary that was extended within the stream has several chunks.
    while (chunk < chunks.length - 1 && index >= chunks[chunk]!.length) index -= chunks[chunk++]!.length;
    absorbers[chunk]?.one(index);
  });
}

function struct(data: Data, name: string): ColumnHasher {
  const fields = data.children.map((child) => columnHasher(child, name));
  return each((row) => {
    for (const field of fields) field.one(row);
  });
}

function fixedSizeList(data: Data, size: number, name: string): ColumnHasher {
  const [child] = data.children;
  const items = child && columnHasher(child, name);
  return each((row) => items?.range(row * size, (row + 1) * size));
}

function list(data: Data, name: string): ColumnHasher {
  const [child] = data.children;
  const items = child && columnHasher(child, name);
  const offset = offsetsOf(data);
  return each((row) => {
    const start = offset(row);
    const end = offset(row + 1);
    absorb(end - start);
    items?.range(start, end);
  });
}

/**
 * Computes a checksum that shows whether two sets of rows are the same, regardless of batches and order. Each row is
 * hashed by its values to 64 bits, and the hashes are added, so a duplicate row counts twice. The checksum finds damage
 * and missing rows, not manipulation, because it is not a cryptographic hash.
 *
 * The checksum covers values, not their storage: a value in a dictionary equals the plain value, 32-bit offsets equal
 * 64-bit offsets, and bytes under a null are ignored. Numbers are compared by their bits.
 */
export class RowChecksum {
  #rows = 0;
  #sums: [bigint, bigint] = [0n, 0n];

  /** @throws CatalogError Unsupported (0) for a column whose type can't be hashed */
  add(batch: RecordBatch): void {
    const columns = batch.data.children.map((data, index) =>
      columnHasher(data, batch.schema.fields[index]?.name ?? ''),
    );
    // A double holds the sum of 2^21 hashes of 32 bits exactly. Adding doubles is far faster than adding bigints.
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

  /** The checksum as a string: the number of rows and the sums of both halves of their hashes. */
  get value(): string {
    return [this.#rows, ...this.#sums.map((sum) => BigInt.asUintN(64, sum).toString(16).padStart(16, '0'))].join('-');
  }
}
