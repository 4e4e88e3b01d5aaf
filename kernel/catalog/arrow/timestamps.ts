import { DataType, Field, FixedSizeList, Int64, List, Struct, TimeUnit, type Data } from '#arrow';

// Arrow's builders take milliseconds for every unit and multiply them in floating point, which is inexact by some
// nanoseconds. So this file builds a timestamp column as the stored integers and then changes the type of the column.

/** Returns the type with its timestamps replaced by Int64, to build values with. */
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

/** Changes data that was built with the storage type of `type` to `type`. */
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

export const unitName = (unit: TimeUnit): string => unitNames[unit];

/** Converts milliseconds since 1970 to a unit; `undefined` if that is not exact. */
export function inUnit(unit: TimeUnit, milliseconds: number): bigint | undefined {
  const exact = BigInt(milliseconds);
  if (unit === TimeUnit.SECOND) return exact % 1000n === 0n ? exact / 1000n : undefined;
  return exact * 1000n ** BigInt(unit - TimeUnit.MILLISECOND);
}
