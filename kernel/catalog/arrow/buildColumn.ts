import { type Data, DataType, DateUnit, type Dictionary, type Field, makeData, Precision, Vector } from '#arrow';
import { CatalogError } from '#shared/errors.ts';
import { halfBits } from '#shared/format/numbers.ts';

// Arrow's builders multiply times in floating point, round 16-bit floats down and can't build every type. So this file
// writes the buffers of the Arrow columnar format itself.

/** The arguments of `makeData` that all types have. */
type Common = { type: DataType; length: number; nullCount: number; nullBitmap?: Uint8Array };

/**
 * Builds a column from values as `convertValue` returns them, without checking them again; `null` and `undefined` are
 * null.
 */
export function buildColumn(type: DataType, values: readonly unknown[]): Data {
  const { length } = values;
  if (DataType.isNull(type)) return makeData({ type, length });
  const common: Common = { type, length, ...validity(values) };
  if (DataType.isDictionary(type)) return make({ ...common, ...dictionaryParts(type, values) });
  if (DataType.isBool(type)) return make({ ...common, data: bits(values, (value) => value === true) });
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type))
    return make({ ...common, ...bytesParts(type, values, (text) => Buffer.from(text as string)) });
  if (DataType.isBinary(type) || DataType.isLargeBinary(type))
    return make({ ...common, ...bytesParts(type, values, (bytes) => bytes as Uint8Array) });
  if (DataType.isFixedSizeBinary(type)) return make({ ...common, data: fixedBytes(type.byteWidth, values) });
  if (DataType.isDecimal(type)) return make({ ...common, data: decimalWords(type.bitWidth / 32, values) });
  if (DataType.isFixedSizeList(type)) {
    return make({ ...common, child: itemsColumn(type.valueType as DataType, values, type.listSize) });
  }
  if (DataType.isList(type) || DataType.isLargeList(type)) {
    const valueOffsets = offsets(type, values, (list) => (list as unknown[]).length);
    return make({ ...common, valueOffsets, child: itemsColumn(type.valueType as DataType, values, 0) });
  }
  if (DataType.isMap(type)) {
    const entries = values.flatMap((map) => (map ?? []) as unknown[]);
    const valueOffsets = offsets(type, values, (map) => (map as unknown[]).length);
    return make({ ...common, valueOffsets, child: buildColumn(type.children[0]!.type as DataType, entries) });
  }
  if (DataType.isStruct(type)) {
    const children = type.children.map((child: Field, column: number) =>
      buildColumn(
        child.type as DataType,
        values.map((members) => (members as readonly unknown[] | null | undefined)?.[column] ?? null),
      ),
    );
    return make({ ...common, children });
  }
  return make({ ...common, data: numbers(type, values) });
}

const make = (parts: Common & Record<string, unknown>): Data => makeData(parts as never);

/**
 * Builds the items of lists.
 * @param missing number of items of a list that is null
 */
function itemsColumn(type: DataType, lists: readonly unknown[], missing: number): Data {
  const all = lists.map((list) => (list ?? { length: missing }) as ArrayLike<unknown>);
  if (!DataType.isInt(type) && !DataType.isFloat(type))
    return buildColumn(
      type,
      all.flatMap((list) => Array.from(list)),
    );
  // Vectors are long, so their numbers are written directly into one array.
  const length = all.reduce((sum, list) => sum + list.length, 0);
  const array = numberArray(type, length);
  const convert = numberConverter(type);
  const nullBitmap = new Uint8Array((length + 7) >> 3).fill(255);
  let [nullCount, at] = [0, 0];
  for (const list of all) {
    for (let index = 0; index < list.length; index++, at++) {
      const value = list[index];
      if (!isNull(value)) array[at] = convert(value);
      else {
        nullCount++;
        nullBitmap[at >> 3]! &= ~(1 << (at & 7));
      }
    }
  }
  return make({ type, length, nullCount, ...(nullCount > 0 && { nullBitmap }), data: array });
}

const isNull = (value: unknown): boolean => value === null || value === undefined;

function validity(values: readonly unknown[]): { nullCount: number; nullBitmap?: Uint8Array } {
  const nullCount = values.reduce<number>((count, value) => (isNull(value) ? count + 1 : count), 0);
  return nullCount === 0 ? { nullCount } : { nullCount, nullBitmap: bits(values, (value) => !isNull(value)) };
}

function bits(values: readonly unknown[], isSet: (value: unknown) => boolean): Uint8Array {
  const bytes = new Uint8Array((values.length + 7) >> 3);
  values.forEach((value, index) => {
    if (isSet(value)) bytes[index >> 3]! |= 1 << (index & 7);
  });
  return bytes;
}

type NumberArray = { [index: number]: number | bigint };

/** Returns the array of a column of numbers, or of times as counts of their unit. */
function numbers(type: DataType, values: readonly unknown[]): unknown {
  const array = numberArray(type, values.length);
  const convert = numberConverter(type);
  values.forEach((value, index) => {
    if (!isNull(value)) array[index] = convert(value);
  });
  return array;
}

const numberArray = (type: DataType, length: number): NumberArray =>
  new (type.ArrayType as new (length: number) => NumberArray)(length);

/** Returns the conversion to the elements of the array: arrays of 64 bits hold bigints, the others numbers. */
function numberConverter(type: DataType): (value: unknown) => number | bigint {
  if (DataType.isFloat(type) && type.precision === Precision.HALF) return (value) => halfBits(value as number);
  return is64Bit(type) ? (value) => BigInt(value as bigint | number) : Number;
}

const is64Bit = (type: DataType): boolean =>
  DataType.isTimestamp(type) ||
  DataType.isDuration(type) ||
  ((DataType.isInt(type) || DataType.isTime(type)) && type.bitWidth === 64) ||
  (DataType.isDate(type) && type.unit === DateUnit.MILLISECOND);

/** Unscaled values as little-endian 32-bit words in two's complement. */
function decimalWords(stride: number, values: readonly unknown[]): Uint32Array {
  const words = new Uint32Array(values.length * stride);
  values.forEach((value, index) => {
    if (isNull(value)) return;
    let rest = BigInt.asUintN(stride * 32, value as bigint);
    for (let at = index * stride; at < (index + 1) * stride; at++) {
      words[at] = Number(rest & 0xffff_ffffn);
      rest >>= 32n;
    }
  });
  return words;
}

function fixedBytes(width: number, values: readonly unknown[]): Uint8Array {
  const bytes = new Uint8Array(values.length * width);
  values.forEach((value, index) => {
    if (!isNull(value)) bytes.set(value as Uint8Array, index * width);
  });
  return bytes;
}

/** Maximum of the 32-bit offsets of a column. */
const maxOffset = 2 ** 31 - 1;

function offsets(type: DataType, values: readonly unknown[], lengthOf: (value: unknown) => number): unknown {
  const isLarge = DataType.isLargeList(type) || DataType.isLargeUtf8(type) || DataType.isLargeBinary(type);
  const array: NumberArray = isLarge ? new BigInt64Array(values.length + 1) : new Int32Array(values.length + 1);
  let end = 0;
  values.forEach((value, index) => {
    if (!isNull(value)) end += lengthOf(value);
    if (!isLarge && end > maxOffset)
      throw new CatalogError(
        'SchemaValidation',
        'The rows have more than 2 GiB in one column.',
        'Pass fewer rows at once.',
      );
    array[index + 1] = isLarge ? BigInt(end) : end;
  });
  return array;
}

function bytesParts(type: DataType, values: readonly unknown[], toBytes: (value: unknown) => Uint8Array) {
  const parts = values.map((value) => (isNull(value) ? undefined : toBytes(value)));
  const valueOffsets = offsets(type, parts, (part) => (part as Uint8Array).length);
  const data = new Uint8Array(parts.reduce((length, part) => length + (part?.length ?? 0), 0));
  let at = 0;
  for (const part of parts) {
    if (!part) continue;
    data.set(part, at);
    at += part.length;
  }
  return { valueOffsets, data };
}

function dictionaryParts(type: Dictionary, values: readonly unknown[]) {
  const indexType = type.indices as DataType & { bitWidth: number; isSigned: boolean };
  const distinct: unknown[] = [];
  const known = new Map<unknown, number>();
  const indices = values.map((value) => {
    if (isNull(value)) return null;
    const key = dictionaryKey(value);
    const index = known.get(key) ?? distinct.length;
    if (index === distinct.length) {
      known.set(key, index);
      distinct.push(value);
    }
    return index;
  });
  if (distinct.length > 2 ** (indexType.bitWidth - (indexType.isSigned ? 1 : 0)))
    throw new CatalogError(
      'SchemaValidation',
      `A dictionary column has ${distinct.length} different values, more than its index of ${indexType.bitWidth} bits can count.`,
      'Use a wider index, or a column without a dictionary.',
    );
  return {
    data: numbers(indexType, indices),
    dictionary: new Vector([buildColumn(type.dictionary as DataType, distinct)]),
  };
}

/** Equal values have equal keys. Bytes, lists and structs are compared by their content. */
const dictionaryKey = (value: unknown): unknown =>
  typeof value === 'object'
    ? JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each))
    : value;
