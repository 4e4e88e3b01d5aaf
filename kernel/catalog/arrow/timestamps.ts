import { DataType, Field, FixedSizeList, Int64, List, Struct, TimeUnit, type Data } from '#arrow';

// The builders of Arrow take milliseconds for every unit and multiply them in floating point, which is some nanoseconds
// off. So timestamps are built as the whole numbers that they are stored as, and get their type afterwards.

/** The type to build values of a type with: the same, with whole numbers where it has timestamps. */
export function storageType(type: DataType): DataType {
  if (DataType.isTimestamp(type)) return new Int64();
  const [child] = type.children ?? [];
  if (child && DataType.isList(type)) return new List(storageField(child));
  if (child && DataType.isFixedSizeList(type)) return new FixedSizeList(type.listSize, storageField(child));
  if (DataType.isStruct(type)) return new Struct(type.children.map(storageField));
  return type;
}

const storageField = (field: Field): Field =>
  new Field(field.name, storageType(field.type), field.nullable, field.metadata);

/** Gives what was built with the storage type of a type that type. */
export function withType(data: Data, type: DataType): Data {
  const children = data.children.map((child, index) => withType(child, type.children[index]!.type));
  return data.clone(type, data.offset, data.length, data.nullCount, data.buffers, children);
}

const unitNames: Record<TimeUnit, string> = {
  [TimeUnit.SECOND]: 'seconds',
  [TimeUnit.MILLISECOND]: 'milliseconds',
  [TimeUnit.MICROSECOND]: 'microseconds',
  [TimeUnit.NANOSECOND]: 'nanoseconds',
};

/** A unit of time in words, in the plural. */
export const unitName = (unit: TimeUnit): string => unitNames[unit];

/** Milliseconds since 1970 in a unit, or `undefined` where it does not hold them exactly. */
export function inUnit(unit: TimeUnit, milliseconds: number): bigint | undefined {
  const exact = BigInt(milliseconds);
  if (unit === TimeUnit.SECOND) return exact % 1000n === 0n ? exact / 1000n : undefined;
  return exact * 1000n ** BigInt(unit - TimeUnit.MILLISECOND);
}
