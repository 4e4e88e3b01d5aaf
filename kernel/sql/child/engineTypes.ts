import duckdb from '@duckdb/node-bindings';
import {
  Binary,
  Bool,
  DataType,
  DateDay,
  Decimal,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  IntervalMonthDayNano,
  List,
  Map_,
  Precision,
  Struct,
  Time,
  TimeUnit,
  Timestamp,
  Type,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
} from '#arrow';

// Which type of the engine holds the values of an Arrow type, and which Arrow type a result has. A type is chosen only
// if it holds every value exactly; columns of other types are text.

const { Type: EngineType } = duckdb;
export type EngineTypeId = duckdb.Type;

/** Digits of the engine's widest decimal. */
export const maxDigits = 38;

const simple = (id: EngineTypeId): duckdb.LogicalType => duckdb.create_logical_type(id);

const signed: Readonly<Record<number, EngineTypeId>> = {
  8: EngineType.TINYINT,
  16: EngineType.SMALLINT,
  32: EngineType.INTEGER,
  64: EngineType.BIGINT,
};
const unsigned: Readonly<Record<number, EngineTypeId>> = {
  8: EngineType.UTINYINT,
  16: EngineType.USMALLINT,
  32: EngineType.UINTEGER,
  64: EngineType.UBIGINT,
};
const timestamps: Readonly<Record<TimeUnit, EngineTypeId>> = {
  [TimeUnit.SECOND]: EngineType.TIMESTAMP_S,
  [TimeUnit.MILLISECOND]: EngineType.TIMESTAMP_MS,
  [TimeUnit.MICROSECOND]: EngineType.TIMESTAMP,
  [TimeUnit.NANOSECOND]: EngineType.TIMESTAMP_NS,
};

/** Returns the engine's type for the values of an Arrow type. */
export function engineType(type: DataType): duckdb.LogicalType {
  return storedType(type) ?? simple(EngineType.VARCHAR);
}

/** Whether the engine gets the values of this type as text, because it has no type for them. */
export const isStoredAsText = (type: DataType): boolean => storedType(type) === undefined;

function storedType(type: DataType): duckdb.LogicalType | undefined {
  const id = scalarType(type);
  if (id !== undefined) return simple(id);
  if (DataType.isDictionary(type)) return isGathered(type.dictionary) ? engineType(type.dictionary) : undefined;
  if (DataType.isDecimal(type)) {
    const fits = type.precision <= maxDigits && type.scale >= 0 && type.scale <= type.precision;
    return fits ? duckdb.create_decimal_type(type.precision, type.scale) : undefined;
  }
  if (DataType.isList(type) || type.typeId === Type.LargeList) return duckdb.create_list_type(childType(type, 0));
  if (DataType.isFixedSizeList(type))
    return type.listSize > 0 ? duckdb.create_array_type(childType(type, 0), type.listSize) : undefined;
  if (DataType.isStruct(type)) {
    const names = type.children.map(({ name }) => name);
    // The engine ignores case, and it has no structs without fields.
    const isUnique = new Set(names.map((name) => name.toLowerCase())).size === names.length;
    if (names.length === 0 || names.includes('') || !isUnique) return undefined;
    return duckdb.create_struct_type(
      type.children.map((_, index) => childType(type, index)),
      names,
    );
  }
  if (DataType.isMap(type)) {
    const entries: DataType | undefined = type.children[0]?.type;
    if (!entries) return undefined;
    return duckdb.create_map_type(childType(entries, 0), childType(entries, 1));
  }
  return undefined;
}

const childType = (type: DataType, index: number): duckdb.LogicalType => engineType(type.children[index]!.type);

/** Whether the values of a dictionary of this type can be gathered by their positions. */
export const isGathered = (type: DataType): boolean =>
  DataType.isUtf8(type) ||
  DataType.isBinary(type) ||
  type.typeId === Type.LargeUtf8 ||
  type.typeId === Type.LargeBinary ||
  DataType.isInt(type) ||
  DataType.isFloat(type) ||
  DataType.isDate(type) ||
  DataType.isTimestamp(type);

function scalarType(type: DataType): EngineTypeId | undefined {
  if (DataType.isBool(type)) return EngineType.BOOLEAN;
  if (DataType.isInt(type)) return (type.isSigned ? signed : unsigned)[type.bitWidth];
  if (DataType.isFloat(type)) return type.precision === Precision.DOUBLE ? EngineType.DOUBLE : EngineType.FLOAT;
  if (DataType.isUtf8(type) || type.typeId === Type.LargeUtf8) return EngineType.VARCHAR;
  if (DataType.isBinary(type) || type.typeId === Type.LargeBinary || DataType.isFixedSizeBinary(type))
    return EngineType.BLOB;
  if (DataType.isDate(type)) return EngineType.DATE;
  if (DataType.isTime(type)) return type.unit === TimeUnit.NANOSECOND ? EngineType.TIME_NS : EngineType.TIME;
  if (DataType.isTimestamp(type)) {
    // The engine's timestamps with a zone have microseconds. Nanoseconds stay exact as a timestamp without a zone,
    // which is in UTC like the others.
    const hasZone = (type.timezone ?? '') !== '' && type.unit !== TimeUnit.NANOSECOND;
    return hasZone ? EngineType.TIMESTAMP_TZ : timestamps[type.unit];
  }
  // The engine's intervals have microseconds, so nanoseconds are integers.
  if (DataType.isDuration(type)) return type.unit === TimeUnit.NANOSECOND ? EngineType.BIGINT : EngineType.INTERVAL;
  return undefined;
}

/** Returns the Arrow type of a result column. Types without an Arrow type are text. */
export function arrowType(type: duckdb.LogicalType): DataType {
  const id = duckdb.get_type_id(type);
  const made = scalars[id]?.();
  if (made) return made;
  if (id === EngineType.DECIMAL) return new Decimal(duckdb.decimal_scale(type), duckdb.decimal_width(type), 128);
  if (id === EngineType.LIST) return new List(nullable('item', duckdb.list_type_child_type(type)));
  if (id === EngineType.ARRAY) {
    const size = duckdb.array_type_array_size(type);
    return new FixedSizeList(size, nullable('item', duckdb.array_type_child_type(type)));
  }
  if (id === EngineType.STRUCT) {
    const fields = Array.from({ length: duckdb.struct_type_child_count(type) }, (_, index) =>
      // Fields of `row(1, 2)` have no names, and rows of JavaScript need different ones.
      nullable(
        duckdb.struct_type_child_name(type, index) || String(index + 1),
        duckdb.struct_type_child_type(type, index),
      ),
    );
    return new Struct(fields);
  }
  if (id !== EngineType.MAP) return new Utf8();
  const entries = new Struct([
    new Field('key', arrowType(duckdb.map_type_key_type(type)), false),
    nullable('value', duckdb.map_type_value_type(type)),
  ]);
  return new Map_(new Field('entries', entries, false) as never);
}

const nullable = (name: string, type: duckdb.LogicalType): Field => new Field(name, arrowType(type), true);

const scalars: Readonly<Partial<Record<EngineTypeId, () => DataType>>> = {
  [EngineType.BOOLEAN]: () => new Bool(),
  [EngineType.TINYINT]: () => new Int8(),
  [EngineType.SMALLINT]: () => new Int16(),
  [EngineType.INTEGER]: () => new Int32(),
  [EngineType.BIGINT]: () => new Int64(),
  [EngineType.UTINYINT]: () => new Uint8(),
  [EngineType.USMALLINT]: () => new Uint16(),
  [EngineType.UINTEGER]: () => new Uint32(),
  [EngineType.UBIGINT]: () => new Uint64(),
  [EngineType.HUGEINT]: () => new Decimal(0, maxDigits, 128),
  [EngineType.UHUGEINT]: () => new Decimal(0, maxDigits, 128),
  [EngineType.FLOAT]: () => new Float32(),
  [EngineType.DOUBLE]: () => new Float64(),
  [EngineType.VARCHAR]: () => new Utf8(),
  [EngineType.BLOB]: () => new Binary(),
  [EngineType.DATE]: () => new DateDay(),
  [EngineType.TIME]: () => new Time(TimeUnit.MICROSECOND, 64),
  [EngineType.TIME_NS]: () => new Time(TimeUnit.NANOSECOND, 64),
  [EngineType.TIMESTAMP_S]: () => new Timestamp(TimeUnit.SECOND, null),
  [EngineType.TIMESTAMP_MS]: () => new Timestamp(TimeUnit.MILLISECOND, null),
  [EngineType.TIMESTAMP]: () => new Timestamp(TimeUnit.MICROSECOND, null),
  [EngineType.TIMESTAMP_NS]: () => new Timestamp(TimeUnit.NANOSECOND, null),
  [EngineType.TIMESTAMP_TZ]: () => new Timestamp(TimeUnit.MICROSECOND, 'UTC'),
  [EngineType.INTERVAL]: () => new IntervalMonthDayNano(),
};
