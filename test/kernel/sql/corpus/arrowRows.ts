import { type Data, DataType, DateUnit, Precision, type Table, TimeUnit, Type, type Vector } from '#arrow';
import { halfValue } from '#shared/format/numbers.ts';

// Writes values of Arrow tables as texts that are equal only for equal values. Units and widths are not in the texts,
// because types are compared apart: the same moment in milliseconds and in microseconds has one text.

const nanos = (value: number | bigint, unit: TimeUnit): bigint => BigInt(value) * 1000n ** BigInt(3 - unit);

function numberText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function decimalText(data: Data, row: number): string {
  const { scale, bitWidth } = data.type as DataType & { scale: number; bitWidth: number };
  const { buffer, byteOffset } = data.values as Uint32Array;
  const view = new DataView(buffer, byteOffset + (row * bitWidth) / 8, bitWidth / 8);
  const high = BigInt.asIntN(64, view.getBigUint64(bitWidth / 8 - 8, true));
  const digits = (high << 64n) | view.getBigUint64(0, true);
  return scale === 0 ? String(digits) : `${digits}e-${scale}`;
}

function intervalText({ values }: Data, row: number): string {
  const { buffer, byteOffset } = values as Int32Array;
  const view = new DataView(buffer, byteOffset + row * 16, 16);
  return `${view.getInt32(0, true)} months ${view.getInt32(4, true)} days ${view.getBigInt64(8, true)} ns`;
}

function* rowsOf(data: Data, begin: number, end: number): Generator<string> {
  for (let row = begin; row < end; row++) yield cellText(data, row);
}

/** Returns the text of a value of a column. */
function cellText(data: Data, row: number): string {
  const type: DataType = data.type;
  if (DataType.isDictionary(type)) {
    if (!data.getValid(row)) return 'null';
    const [values] = (data.dictionary as Vector).data;
    return cellText(values as Data, Number((data.values as Int32Array)[row]));
  }
  if (!data.getValid(row) || DataType.isNull(type)) return 'null';
  const value = (data.values as ArrayLike<never> | undefined)?.[row] as unknown as number | bigint;
  if (DataType.isFloat(type))
    return numberText(type.precision === Precision.HALF ? halfValue(Number(value)) : Number(value));
  if (DataType.isInt(type)) return String(value);
  if (DataType.isBool(type))
    return String((((data.values as Uint8Array)[(data.offset + row) >> 3]! >> ((data.offset + row) & 7)) & 1) === 1);
  if (DataType.isDecimal(type)) return decimalText(data, row);
  if (DataType.isDate(type)) return `day ${type.unit === DateUnit.DAY ? value : Number(value) / 86_400_000}`;
  if (DataType.isTime(type) || DataType.isTimestamp(type)) return `${nanos(value, type.unit)} ns`;
  // The engine has integers of nanoseconds, and intervals for other units.
  if (DataType.isDuration(type) && type.unit === TimeUnit.NANOSECOND) return String(value);
  if (DataType.isDuration(type)) return `0 months 0 days ${nanos(value, type.unit)} ns`;
  if (DataType.isInterval(type)) return intervalText(data, row);
  if (DataType.isFixedSizeBinary(type))
    return `x${Buffer.from((data.values as Uint8Array).subarray(row * type.byteWidth, (row + 1) * type.byteWidth)).toString('hex')}`;
  if (DataType.isStruct(type))
    return `{${type.children.map(({ name }, index) => `${name || index + 1}: ${cellText(data.children[index]!, row)}`).join(', ')}}`;
  if (DataType.isFixedSizeList(type))
    return `[${[...rowsOf(data.children[0]!, row * type.listSize, (row + 1) * type.listSize)].join(', ')}]`;
  const [begin, end] = [Number(data.valueOffsets[row]), Number(data.valueOffsets[row + 1])];
  if (DataType.isList(type) || DataType.isMap(type))
    return `[${[...rowsOf(data.children[0]!, begin, end)].join(', ')}]`;
  const bytes = Buffer.from((data.values as Uint8Array).subarray(begin, end));
  const isText = DataType.isUtf8(type) || type.typeId === Type.LargeUtf8;
  return isText ? JSON.stringify(bytes.toString()) : `x${bytes.toString('hex')}`;
}

/** Returns the rows of a table, one text each. */
export function rowTexts(table: Table): string[] {
  return table.batches.flatMap(({ data, numRows }) =>
    Array.from({ length: numRows }, (_, row) => data.children.map((child) => cellText(child, row)).join(' | ')),
  );
}
