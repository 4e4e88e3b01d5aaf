import { DataType, DateUnit, IntervalUnit, Precision, TimeUnit, UnionMode, type Field, type Schema } from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';

/**
 * The specification's JSON form of an Arrow schema (`JsonArrowSchema`). This form has no fields for units, time zones,
 * dictionaries and a few other things. This module adds fields for them; other readers ignore these fields.
 */
export type JsonArrowSchema = { fields: JsonArrowField[]; metadata?: Record<string, string> };
export type JsonArrowField = {
  name: string;
  nullable: boolean;
  type: JsonArrowType;
  metadata?: Record<string, string>;
};
export type JsonArrowType = {
  type: string;
  fields?: JsonArrowField[];
  /** Size of a fixed-size list or binary; for a decimal: precision × 1000 + scale. */
  length?: number;
  /** Set for time, timestamp, duration and interval types. */
  unit?: string;
  /** Set for timestamps. */
  timezone?: string;
  /** Key type of a dictionary column; `type` is then the type of its values. */
  keys?: JsonArrowType;
  /** Set for a dictionary whose order is significant. */
  ordered?: boolean;
  /** Set for maps. */
  keysSorted?: boolean;
  /** Set for unions: `sparse` or `dense`, and the ids of the members. */
  mode?: string;
  typeIds?: number[];
};

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

/** Converts a type, with the names that the specification's reference server uses. */
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
  // Integers, booleans, strings and binary types have the same names in `typeText`.
  return { type: typeText(type) };
}

const childrenOf = (type: DataType): { fields: JsonArrowField[] } => ({
  fields: (type.children as readonly Field[]).map(jsonField),
});
