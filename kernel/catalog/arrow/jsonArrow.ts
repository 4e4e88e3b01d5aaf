import { DataType, DateUnit, IntervalUnit, Precision, TimeUnit, UnionMode, type Field, type Schema } from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';

/**
 * The specification's JSON form of an Arrow schema (`JsonArrowSchema`). It has no place for units, time zones, dictionaries
 * and a few more; those stand in fields of our own beside its, which other readers pass over.
 */
type JsonArrowSchema = { fields: JsonArrowField[]; metadata?: Record<string, string> };
type JsonArrowField = {
  name: string;
  nullable: boolean;
  type: JsonArrowType;
  metadata?: Record<string, string>;
};
export type JsonArrowType = {
  type: string;
  fields?: JsonArrowField[];
  /** Of a list or bytes of one size how large, of a decimal its precision × 1000 + scale. */
  length?: number;
  /** Of time, timestamp, duration and interval. */
  unit?: string;
  /** Of a timestamp. */
  timezone?: string;
  /** Of a column with a dictionary, whose `type` is that of the values: the type of the keys. */
  keys?: JsonArrowType;
  /** Of a dictionary whose order means something. */
  ordered?: boolean;
  /** Of a map. */
  keysSorted?: boolean;
  /** Of a union: `sparse` or `dense`, and the numbers of its members. */
  mode?: string;
  typeIds?: number[];
};

/** A schema with everything that is in it: types, nullability, metadata of columns and of the whole. */
export const jsonSchema = (schema: Schema): JsonArrowSchema => ({
  fields: schema.fields.map(jsonField),
  ...metadataOf(schema.metadata),
});

const jsonField = (field: Field): JsonArrowField => ({
  name: field.name,
  nullable: field.nullable,
  type: jsonType(field.type),
  ...metadataOf(field.metadata),
});

const metadataOf = (metadata: Map<string, string>) =>
  metadata.size > 0 ? { metadata: Object.fromEntries(metadata) } : {};

const floats = { [Precision.HALF]: 'float16', [Precision.SINGLE]: 'float32', [Precision.DOUBLE]: 'float64' };
const units = {
  [TimeUnit.SECOND]: 's',
  [TimeUnit.MILLISECOND]: 'ms',
  [TimeUnit.MICROSECOND]: 'us',
  [TimeUnit.NANOSECOND]: 'ns',
};
const intervals = {
  [IntervalUnit.YEAR_MONTH]: 'year_month',
  [IntervalUnit.DAY_TIME]: 'day_time',
  [IntervalUnit.MONTH_DAY_NANO]: 'month_day_nano',
};

/** A type by the names that the specification's reference server gives. */
export function jsonType(type: DataType): JsonArrowType {
  if (DataType.isFloat(type)) return { type: floats[type.precision] };
  if (DataType.isDate(type)) return { type: type.unit === DateUnit.DAY ? 'date32' : 'date64' };
  if (DataType.isTime(type)) return { type: `time${type.bitWidth}`, unit: units[type.unit] };
  if (DataType.isTimestamp(type)) {
    return { type: 'timestamp', unit: units[type.unit], ...(type.timezone && { timezone: type.timezone }) };
  }
  if (DataType.isDuration(type)) return { type: 'duration', unit: units[type.unit] };
  if (DataType.isInterval(type)) return { type: 'interval', unit: intervals[type.unit] };
  if (DataType.isDecimal(type)) return { type: `decimal${type.bitWidth}`, length: type.precision * 1000 + type.scale };
  if (DataType.isFixedSizeBinary(type)) return { type: 'fixed_size_binary', length: type.byteWidth };
  if (DataType.isFixedSizeList(type)) return { type: 'fixed_size_list', length: type.listSize, ...childrenOf(type) };
  if (DataType.isList(type)) return { type: 'list', ...childrenOf(type) };
  if (DataType.isLargeList(type)) return { type: 'large_list', ...childrenOf(type) };
  if (DataType.isStruct(type)) return { type: 'struct', ...childrenOf(type) };
  if (DataType.isMap(type)) {
    return { type: 'map', ...childrenOf(type), ...(type.keysSorted && { keysSorted: true }) };
  }
  if (DataType.isUnion(type)) {
    const mode = type.mode === UnionMode.Dense ? 'dense' : 'sparse';
    return { type: 'union', mode, typeIds: [...type.typeIds], ...childrenOf(type) };
  }
  if (DataType.isDictionary(type)) {
    const { dictionary, indices, isOrdered } = type;
    return { ...jsonType(dictionary), keys: jsonType(indices), ...(isOrdered && { ordered: true }) };
  }
  // Integers, booleans, text and bytes are called the same in words.
  return { type: typeText(type) };
}

const childrenOf = (type: DataType): { fields: JsonArrowField[] } => ({
  fields: (type.children as readonly Field[]).map(jsonField),
});
