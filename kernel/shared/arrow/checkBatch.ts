import { type Data, DataType, type Field, type RecordBatch, type Union, UnionMode, type Vector } from '#arrow';
import { IpcError } from './ipcError.ts';
import { countBits, quoted } from './ipcMetadata.ts';

// Checks the offsets, keys, type ids and buffer sizes of a batch. The Arrow library does not check them: if they are
// wrong, it returns other values, `undefined`, or lists of any length. Each check is one pass over a typed array.

/** Dictionaries that were already checked. They are remembered because batches and columns share dictionaries. */
const checkedData = new WeakSet<Data>();

/**
 * Checks a batch that was just decoded.
 * @throws IpcError if a column has fewer values than rows, or refers to values that it does not have
 */
export function checkBatch(batch: RecordBatch): RecordBatch {
  const { fields } = batch.schema;
  batch.data.children.forEach((data, i) => checkData(data, batch.numRows, fields[i]!.name));
  return batch;
}

/** @param length the number of values that are needed */
function checkData(data: Data, length: number, name: string): void {
  const { type, nullCount, nullBitmap } = data;
  if (data.length < length) invalid(name, `has ${data.length} values where ${length} are needed`);
  const hasNulls = nullCount > 0 && !DataType.isNull(type) && !DataType.isUnion(type);
  if (hasNulls) {
    // Arrow's own writer leaves out all buffers of a column without values, and Arrow's reader treats missing buffers
    // as nulls.
    if (nullCount === data.length && nullBitmap.length === 0) return;
    const needed = Math.ceil(data.length / 8);
    if (nullBitmap.length < needed)
      invalid(name, `has ${nullBitmap.length} bytes of validity where ${needed} are needed`);
    const nulls = data.length - countBits(nullBitmap, data.length);
    if (nulls !== nullCount) invalid(name, `claims ${nullCount} nulls, but has ${nulls}`);
  }
  const isValid = (row: number): boolean => !hasNulls || (nullBitmap[row >> 3]! & (1 << (row & 7))) !== 0;
  checkValues(data, isValid, name);
}

/** @param isValid whether a row has a value; needed because the keys and views of null rows may have any content */
function checkValues(data: Data, isValid: (row: number) => boolean, name: string): void {
  const { type, length } = data;
  if (DataType.isDictionary(type)) return checkKeys(data, isValid, name);
  if (DataType.isNull(type)) return;
  const children = (type.children ?? []) as readonly Field[];
  const child = (i: number, needed: number): void =>
    checkData(data.children[i]!, needed, `${name}.${children[i]!.name}`);
  if (DataType.isStruct(type)) return children.forEach((_, i) => child(i, length));
  if (DataType.isUnion(type)) {
    checkUnion(data, type, name);
    return children.forEach((_, i) => child(i, type.mode === UnionMode.Dense ? 0 : length));
  }
  if (DataType.isFixedSizeList(type)) {
    if (type.listSize < 0) invalid(name, `has lists of ${type.listSize} elements`);
    return child(0, length * type.listSize);
  }
  if (DataType.isUtf8View(type) || DataType.isBinaryView(type)) return checkViews(data, isValid, name);
  if (DataType.isList(type) || DataType.isLargeList(type) || DataType.isMap(type)) {
    checkOffsets(data, data.children[0]!.length, name);
    return child(0, 0);
  }
  if (isText(type)) return checkOffsets(data, byteCount(data.values), name);
  const needed = DataType.isBool(type) ? (length + 7) >> 3 : length * data.stride;
  const found = (data.values as ArrayLike<unknown> | undefined)?.length ?? 0;
  if (!(found >= needed)) invalid(name, `has ${found} values where ${length} are needed`);
}

const isText = (type: DataType): boolean =>
  DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isBinary(type) || DataType.isLargeBinary(type);

const byteCount = (values: unknown): number => (ArrayBuffer.isView(values) ? values.byteLength : 0);

/** Checks that offsets never decrease and that the last one is at most `end`. */
function checkOffsets({ valueOffsets, length }: Data, end: number, name: string): void {
  // A column without rows may have no offsets.
  if (length === 0) return;
  const offsets: unknown = valueOffsets;
  const count = ArrayBuffer.isView(offsets) ? (offsets as Int32Array | BigInt64Array).length : 0;
  if (count <= length) invalid(name, `has ${count} offsets where ${length + 1} are needed`);
  // A negative offset, or an offset that is smaller than the offset before it, sets the sign bit of `wrong`.
  let wrong = 0;
  let last = 0;
  if (offsets instanceof BigInt64Array) {
    // The offsets are read as 32-bit halves, because this is ten times faster than reading bigints. No buffer has 2
    // GiB, so the upper halves must be 0.
    const halves = new Int32Array(offsets.buffer, offsets.byteOffset, 2 * (length + 1));
    for (let i = 0; i < halves.length; i += 2) {
      const offset = halves[i]!;
      wrong |= offset | (offset - last) | (halves[i + 1] === 0 ? 0 : -1);
      last = offset;
    }
  } else {
    const numbers = offsets as Int32Array;
    for (let i = 0; i <= length; i++) {
      const offset = numbers[i]!;
      wrong |= offset | (offset - last);
      last = offset;
    }
  }
  if (wrong < 0) invalid(name, 'has offsets that decrease');
  if (last > end) invalid(name, `has an offset of ${last}, but its data ends at ${end}`);
}

function checkKeys(data: Data, isValid: (row: number) => boolean, name: string): void {
  const { length } = data;
  const dictionary = data.dictionary as Vector | undefined;
  const size = dictionary?.length ?? 0;
  const keys: unknown = data.values;
  const found = ArrayBuffer.isView(keys) ? (keys as Int32Array).length : 0;
  if (found < length) invalid(name, `has ${found} keys where ${length} are needed`);
  const isWide = keys instanceof BigInt64Array || keys instanceof BigUint64Array;
  // 64-bit keys are read as two halves, like offsets.
  const numbers = isWide ? new Uint32Array(keys.buffer, keys.byteOffset, 2 * length) : (keys as Int32Array);
  const step = isWide ? 2 : 1;
  const isOutside = (row: number): boolean =>
    numbers[row * step]! >>> 0 >= size || (isWide && numbers[row * step + 1] !== 0);
  let areOutside = false;
  if (isWide) for (let row = 0; row < length; row++) areOutside ||= isOutside(row);
  else for (let row = 0; row < length; row++) areOutside ||= numbers[row]! >>> 0 >= size;
  // Which rows are null matters only if a key is out of range, so otherwise the loop is skipped.
  for (let row = areOutside ? 0 : length; row < length; row++) {
    if (isOutside(row) && isValid(row)) invalid(name, `has a key outside of its dictionary of ${size} values`);
  }
  for (const chunk of dictionary?.data ?? []) {
    if (checkedData.has(chunk)) continue;
    checkData(chunk, chunk.length, name);
    checkedData.add(chunk);
  }
}

function checkUnion({ typeIds, valueOffsets, length, children }: Data, type: Union, name: string): void {
  const ids = typeIds as Int8Array | undefined;
  if ((ids?.length ?? 0) < length) invalid(name, `has ${ids?.length ?? 0} type ids where ${length} are needed`);
  const isDense = type.mode === UnionMode.Dense;
  const offsets = valueOffsets as Int32Array | undefined;
  if (isDense && (offsets?.length ?? 0) < length)
    invalid(name, `has ${offsets?.length ?? 0} offsets where ${length} are needed`);
  // The number of values of each type, by the id of the type. In a sparse union each child has a value for every row.
  const sizes = new Float64Array(128).fill(-1);
  children.forEach((child, i) => (sizes[type.typeIds[i]!] = isDense ? child.length : Infinity));
  for (let row = 0; row < length; row++) {
    const size = sizes[ids![row]!] ?? -1;
    if (size < 0) invalid(name, `has the unknown type id ${ids![row]}`);
    if (isDense && !(offsets![row]! >= 0 && offsets![row]! < size))
      invalid(name, `refers to value ${offsets![row]} of ${size}`);
  }
}

/** Bytes of a view: 4 bytes for the length, and 12 bytes for a short value or the location of a long one. */
const viewBytes = 16;
const maxInline = 12;

function checkViews({ values, length, variadicBuffers }: Data, isValid: (row: number) => boolean, name: string): void {
  const found = Math.floor(byteCount(values) / viewBytes);
  if (found < length) invalid(name, `has ${found} values where ${length} are needed`);
  const { buffer, byteOffset, byteLength } = values as Uint8Array;
  const view = new DataView(buffer, byteOffset, byteLength);
  for (let row = 0; row < length; row++) {
    const size = view.getInt32(row * viewBytes, true);
    if (size >= 0 && size <= maxInline) continue;
    const from = view.getInt32(row * viewBytes + 12, true);
    const end = variadicBuffers[view.getInt32(row * viewBytes + 8, true)]?.byteLength ?? -1;
    if ((size < 0 || from < 0 || from + size > end) && isValid(row))
      invalid(name, 'refers to bytes that it does not have');
  }
}

function invalid(name: string, what: string): never {
  throw new IpcError('invalid', `The column ${quoted(name)} ${what}.`);
}
