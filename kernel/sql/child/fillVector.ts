import duckdb from '@duckdb/node-bindings';
import { type Data, DataType, DateUnit, type Decimal, makeData, Precision, TimeUnit, Type, Vector } from '#arrow';
import { columnFormatter, unlimited } from '#shared/format/cellText.ts';
import { halfValue } from '#shared/format/numbers.ts';
import { isStoredAsText } from './engineTypes.ts';

// Copies rows of Arrow columns into vectors of the engine, with few native calls. Arrow columns may be slices: `offset`
// applies to bitmaps only, because typed arrays of values are cut already.

/** Which rows of a vector are null because a struct or an array around them is null: 0 for null. */
type Outer = Uint8Array | undefined;

/** Fills the first `rows` rows of a vector from the rows of a column that start at `start`. */
export function fillVector(vector: duckdb.Vector, data: Data, start: number, rows: number, outer?: Outer): void {
  if (rows === 0) return;
  const type: DataType = data.type;
  if (isStoredAsText(type)) return fillAsText(vector, data, start, rows, outer);
  if (DataType.isDictionary(type)) return fillDictionary(vector, data, start, rows, outer);
  const valid = validRows(data, start, rows, outer);
  if (valid) setValidity(vector, valid);
  fillValues(vector, data, start, rows, valid);
}

function fillValues(vector: duckdb.Vector, data: Data, start: number, rows: number, valid: Outer): void {
  const type: DataType = data.type;
  if (DataType.isBool(type)) return copy(vector, bits(data.values as Uint8Array, data.offset + start, rows));
  if (isText(type)) return fillText(vector, textOf(data), start, rows);
  if (DataType.isFixedSizeBinary(type)) return fillText(vector, fixedText(data, type.byteWidth), start, rows);
  if (DataType.isDecimal(type)) return fillDecimal(vector, data, start, rows);
  if (DataType.isList(type) || type.typeId === Type.LargeList || DataType.isMap(type))
    return fillList(vector, data, start, rows);
  if (DataType.isFixedSizeList(type)) {
    const { listSize } = type;
    const nested = valid && repeat(valid, listSize);
    return fillVector(
      duckdb.array_vector_get_child(vector),
      data.children[0]!,
      start * listSize,
      rows * listSize,
      nested,
    );
  }
  if (DataType.isStruct(type)) {
    for (const [index, child] of data.children.entries())
      fillVector(duckdb.struct_vector_get_child(vector, index), child, start, rows, valid);
    return;
  }
  copy(vector, converted(type, data, start, rows) ?? plainValues(data, start, rows));
}

/** Returns the values of a fixed-width column as bytes. */
function plainValues({ values, stride }: Data, start: number, rows: number): Uint8Array {
  const { buffer, byteOffset, BYTES_PER_ELEMENT } = values as Int32Array;
  // A 64-bit value is one BigInt, or two numbers.
  const width = BYTES_PER_ELEMENT * (values instanceof BigInt64Array || values instanceof BigUint64Array ? 1 : stride);
  return new Uint8Array(buffer, byteOffset + start * width, rows * width);
}

/** Returns values that the engine has in another unit or width; undefined if the bytes are the same. */
function converted(type: DataType, { values }: Data, start: number, rows: number): ArrayBufferView | undefined {
  if (DataType.isFloat(type) && type.precision === Precision.HALF)
    return Float32Array.from({ length: rows }, (_, row) => halfValue((values as Uint16Array)[start + row]!));
  if (DataType.isDate(type) && type.unit === DateUnit.MILLISECOND)
    return Int32Array.from({ length: rows }, (_, row) => Math.floor(Number(values[start + row]) / 86_400_000));
  const isZoned = DataType.isTimestamp(type) && (type.timezone ?? '') !== '';
  const isTime = DataType.isTime(type);
  if ((isZoned || isTime) && type.unit < TimeUnit.MICROSECOND) return micros(values, type.unit, start, rows);
  if (DataType.isDuration(type) && type.unit !== TimeUnit.NANOSECOND) {
    // An interval: months and days in 32 bits each, then microseconds in 64 bits.
    const intervals = new BigInt64Array(rows * 2);
    const counts = micros(values, type.unit, start, rows);
    for (let row = 0; row < rows; row++) intervals[2 * row + 1] = counts[row]!;
    return intervals;
  }
  return undefined;
}

const unitMicros: Readonly<Record<number, bigint>> = {
  [TimeUnit.SECOND]: 1_000_000n,
  [TimeUnit.MILLISECOND]: 1000n,
  [TimeUnit.MICROSECOND]: 1n,
};

function micros(values: ArrayLike<number | bigint>, unit: TimeUnit, start: number, rows: number): BigInt64Array {
  const factor = unitMicros[unit]!;
  return BigInt64Array.from({ length: rows }, (_, row) => BigInt(values[start + row]!) * factor);
}

/** Copies the low bytes of each decimal: the engine uses the smallest integer that holds the precision. */
function fillDecimal(vector: duckdb.Vector, data: Data, start: number, rows: number): void {
  const { precision, bitWidth } = data.type as Decimal;
  const width = bitWidth / 8;
  const { buffer, byteOffset } = data.values as Uint32Array;
  const source = new Uint8Array(buffer, byteOffset + start * width, rows * width);
  const target = precision <= 4 ? 2 : precision <= 9 ? 4 : precision <= 18 ? 8 : 16;
  const bytes = new Uint8Array(rows * target);
  for (let row = 0; row < rows; row++)
    for (let byte = 0; byte < target; byte++) {
      const isSign = byte >= width;
      bytes[row * target + byte] = isSign
        ? source[row * width + width - 1]! & 0x80
          ? 0xff
          : 0
        : source[row * width + byte]!;
    }
  copy(vector, bytes);
}

function fillList(vector: duckdb.Vector, data: Data, start: number, rows: number): void {
  const offsets = data.valueOffsets as ArrayLike<number | bigint>;
  const from = Number(offsets[start]);
  const entries = new BigUint64Array(2 * rows);
  for (let row = 0; row < rows; row++) {
    const begin = Number(offsets[start + row]);
    entries[2 * row] = BigInt(begin - from);
    entries[2 * row + 1] = BigInt(Number(offsets[start + row + 1]) - begin);
  }
  const length = Number(offsets[start + rows]) - from;
  duckdb.list_vector_reserve(vector, length);
  duckdb.list_vector_set_size(vector, length);
  copy(vector, entries);
  // A map is a list of structs in the engine as well.
  fillVector(duckdb.list_vector_get_child(vector), data.children[0]!, from, length);
}

const isText = (type: DataType): boolean =>
  DataType.isUtf8(type) ||
  DataType.isBinary(type) ||
  type.typeId === Type.LargeUtf8 ||
  type.typeId === Type.LargeBinary;

/** The bytes of strings, and where the string of a row starts and ends. */
type Text = { bytes: Uint8Array; begin(row: number): number; end(row: number): number };

function textOf(data: Data): Text {
  const bytes = data.values as Uint8Array;
  const offsets = data.valueOffsets as ArrayLike<number | bigint>;
  return { bytes, begin: (row) => Number(offsets[row]), end: (row) => Number(offsets[row + 1]) };
}

const fixedText = (data: Data, width: number): Text => ({
  bytes: data.values as Uint8Array,
  begin: (row) => row * width,
  end: (row) => (row + 1) * width,
});

/** Bytes of a string record, and how many bytes of text fit in it. */
const recordBytes = 16;
const inlineBytes = 12;
const prefixBytes = 4;

/** Records of the last strings, whose memory is used again because the engine copies them. */
let recordBuffer = new Uint8Array();

/**
 * Writes strings with one native call for all long ones. The strings of all rows become one value, whose bytes the
 * engine copies. Then each row gets a record as `duckdb_string_t` of `duckdb.h` describes: a short string is in the
 * record; a long one is a prefix and a pointer into that value.
 */
function fillText(vector: duckdb.Vector, text: Text, start: number, rows: number): void {
  const from = text.begin(start);
  const to = text.end(start + rows - 1);
  const { bytes } = text;
  if (recordBuffer.length < rows * recordBytes) recordBuffer = new Uint8Array(rows * recordBytes);
  const records = recordBuffer.subarray(0, rows * recordBytes).fill(0);
  const words = new DataView(records.buffer, records.byteOffset, records.byteLength);
  let heap = 0n;
  if (to - from > inlineBytes) {
    duckdb.vector_assign_string_element_len(vector, 0, bytes.subarray(from, to));
    const first = duckdb.vector_get_data(vector, recordBytes);
    heap = new DataView(first.buffer, first.byteOffset, recordBytes).getBigUint64(8, true);
  }
  for (let row = 0; row < rows; row++) {
    const begin = text.begin(start + row);
    const length = text.end(start + row) - begin;
    const at = row * recordBytes;
    words.setUint32(at, length, true);
    const inline = length <= inlineBytes ? length : prefixBytes;
    for (let byte = 0; byte < inline; byte++) records[at + 4 + byte] = bytes[begin + byte]!;
    if (length > inlineBytes) words.setBigUint64(at + 8, heap + BigInt(begin - from), true);
  }
  copy(vector, records);
}

/** Fills a vector with the values that the positions of a dictionary column name. */
function fillDictionary(vector: duckdb.Vector, data: Data, start: number, rows: number, outer: Outer): void {
  const dictionary = data.dictionary as Vector;
  const type = dictionary.type as DataType;
  const own = validRows(data, start, rows, outer);
  const valid = new Uint8Array(rows).fill(1);
  const parts: Uint8Array[] = [];
  const ends = new Uint32Array(rows + 1);
  for (let row = 0, at = 0; row < rows; row++) {
    const position = Number((data.values as Int32Array)[start + row]);
    const part = own && own[row] === 0 ? undefined : elementBytes(dictionary, position);
    if (part) parts.push(part);
    else valid[row] = 0;
    at += part?.length ?? 0;
    ends[row + 1] = at;
  }
  if (valid.includes(0)) setValidity(vector, valid);
  const bytes = new Uint8Array(Buffer.concat(parts));
  if (isText(type))
    return fillText(vector, { bytes, begin: (row) => ends[row]!, end: (row) => ends[row + 1]! }, 0, rows);
  // Gaps of null rows are closed in `parts`, so a fixed-width column is spread over its rows again.
  const width = parts[0]?.length ?? 0;
  const spread = new Uint8Array(rows * width);
  for (let row = 0; row < rows; row++)
    if (valid[row] === 1) spread.set(bytes.subarray(ends[row], ends[row + 1]), row * width);
  const values = (dictionary.data[0]?.values ?? new Int32Array()) as Int32Array;
  const typed = new (values.constructor as Int32ArrayConstructor)(spread.buffer);
  const gathered = makeData({ type, length: rows, nullCount: 0, data: typed } as never) as Data;
  if (width > 0) fillValues(vector, gathered, 0, rows, valid);
}

/** Returns the bytes of a dictionary's value; undefined if it is null. */
function elementBytes(dictionary: Vector, position: number): Uint8Array | undefined {
  let row = position;
  for (const data of dictionary.data) {
    if (row >= data.length) {
      row -= data.length;
      continue;
    }
    if (!data.getValid(row)) return undefined;
    if (!isText(data.type as DataType)) return plainValues(data, row, 1);
    const text = textOf(data);
    return text.bytes.subarray(text.begin(row), text.end(row));
  }
  return undefined;
}

/** Fills a vector with the text that cells show for values of a type that the engine does not have. */
function fillAsText(vector: duckdb.Vector, data: Data, start: number, rows: number, outer: Outer): void {
  const column = new Vector([data]);
  const format = columnFormatter(column, { limits: unlimited });
  const valid = new Uint8Array(rows);
  const encoder = new TextEncoder();
  const encoded = Array.from({ length: rows }, (_, row) => {
    const isValid = column.isValid(start + row) && outer?.[row] !== 0;
    valid[row] = isValid ? 1 : 0;
    return isValid ? encoder.encode(format(start + row).text) : new Uint8Array();
  });
  if (valid.includes(0)) setValidity(vector, valid);
  const ends = [0];
  for (const each of encoded) ends.push(ends.at(-1)! + each.length);
  const bytes = new Uint8Array(Buffer.concat(encoded));
  fillText(vector, { bytes, begin: (row) => ends[row]!, end: (row) => ends[row + 1]! }, 0, rows);
}

/** Returns 1 for each row that has a value and 0 for each null; undefined if all rows have values. */
function validRows(data: Data, start: number, rows: number, outer: Outer): Outer {
  const { nullBitmap } = data;
  // A column without nulls may have no bitmap.
  if (data.nullCount === 0 || !nullBitmap || nullBitmap.length === 0) return outer;
  const own = bits(nullBitmap, data.offset + start, rows);
  if (outer) for (let row = 0; row < rows; row++) own[row]! &= outer[row]!;
  return own;
}

/** Returns the bits of a bitmap as bytes. */
function bits(bitmap: Uint8Array, from: number, count: number): Uint8Array {
  const bytes = new Uint8Array(count);
  for (let index = 0, bit = from; index < count; index++, bit++) bytes[index] = (bitmap[bit >> 3]! >> (bit & 7)) & 1;
  return bytes;
}

function repeat(valid: Uint8Array, times: number): Uint8Array {
  const repeated = new Uint8Array(valid.length * times);
  for (let row = 0; row < valid.length; row++) repeated.fill(valid[row]!, row * times, (row + 1) * times);
  return repeated;
}

/** The engine reads validity in words of 64 bits. */
const wordBits = 64;

function setValidity(vector: duckdb.Vector, valid: Uint8Array): void {
  const bytes = new Uint8Array(Math.ceil(valid.length / wordBits) * (wordBits / 8));
  for (let row = 0; row < valid.length; row++) bytes[row >> 3]! |= valid[row]! << (row & 7);
  duckdb.vector_ensure_validity_writable(vector);
  duckdb.copy_data_to_vector_validity(vector, 0, bytes.buffer, 0, bytes.length);
}

function copy(vector: duckdb.Vector, { buffer, byteOffset, byteLength }: ArrayBufferView): void {
  duckdb.copy_data_to_vector(vector, 0, buffer as ArrayBuffer, byteOffset, byteLength);
}
