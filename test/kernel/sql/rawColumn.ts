import { type Data, DataType, makeData, Precision, util, vectorFromArray } from '#arrow';

/** Stands for a NaN whose sign bit is set. Tables order it below all numbers, the engine above. */
export const negativeNaN = Symbol('-NaN');

/**
 * Makes a column. Values of a fixed width are as in its buffer, so a time is its count of units and a decimal its
 * digits; other values are as Arrow takes them.
 */
export function rawColumn(type: DataType, values: readonly unknown[]): Data {
  const isFixed =
    DataType.isInt(type) ||
    (DataType.isFloat(type) && type.precision !== Precision.HALF) ||
    DataType.isDecimal(type) ||
    DataType.isDate(type) ||
    DataType.isTime(type) ||
    DataType.isTimestamp(type) ||
    DataType.isDuration(type);
  if (!isFixed) return vectorFromArray(values, type as never).data[0] as Data;
  const valid = Uint8Array.from(values, (value) => (value === null ? 0 : 1));
  const nullCount = valid.reduce((nulls, each) => nulls + 1 - each, 0);
  const data = bufferOf(type, values);
  return makeData({ type, length: values.length, nullCount, nullBitmap: util.packBools(valid), data } as never) as Data;
}

function bufferOf(type: DataType, values: readonly unknown[]): ArrayBufferView {
  if (DataType.isDecimal(type)) {
    const words = values.flatMap((value) => {
      const digits = (value ?? 0n) as bigint;
      return [BigInt.asIntN(64, digits), digits >> 64n];
    });
    return new Uint32Array(BigInt64Array.from(words).buffer);
  }
  const ArrayType = type.ArrayType as new (length: number) => Record<number, unknown> & ArrayBufferView;
  const data = new ArrayType(values.length);
  const isBig = data instanceof BigInt64Array || data instanceof BigUint64Array;
  for (const [row, value] of values.entries())
    data[row] = value === negativeNaN ? Number.NaN : (value ?? (isBig ? 0n : 0));
  if (!DataType.isFloat(type)) return data;
  const bytes = new Uint8Array(data.buffer);
  const width = bytes.length / values.length;
  for (const [row, value] of values.entries()) if (value === negativeNaN) bytes[(row + 1) * width - 1]! |= 0x80;
  return data;
}
