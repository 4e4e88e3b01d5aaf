import {
  Binary,
  Bool,
  DateDay,
  DateMillisecond,
  Float16,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  LargeBinary,
  LargeUtf8,
  TimeUnit,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
  type DataType,
} from '#arrow';

const plain: Readonly<Record<string, () => DataType>> = {
  bool: () => new Bool(),
  int8: () => new Int8(),
  int16: () => new Int16(),
  int32: () => new Int32(),
  int64: () => new Int64(),
  uint8: () => new Uint8(),
  uint16: () => new Uint16(),
  uint32: () => new Uint32(),
  uint64: () => new Uint64(),
  float16: () => new Float16(),
  float32: () => new Float32(),
  float64: () => new Float64(),
  string: () => new Utf8(),
  large_string: () => new LargeUtf8(),
  binary: () => new Binary(),
  large_binary: () => new LargeBinary(),
  date32: () => new DateDay(),
  date64: () => new DateMillisecond(),
};

const otherNames: Readonly<Record<string, string>> = {
  boolean: 'bool',
  halffloat: 'float16',
  float: 'float32',
  double: 'float64',
  utf8: 'string',
  large_utf8: 'large_string',
};

/** Names of the types that have no parameters, each once, for errors and help. */
export const plainTypeNames: readonly string[] = Object.keys(plain);

/** Returns the type with the given lowercase name, also an alias; `undefined` for other names. */
export function plainTypeOf(name: string): DataType | undefined {
  const usual = Object.hasOwn(otherNames, name) ? otherNames[name]! : name;
  return Object.hasOwn(plain, usual) ? plain[usual]!() : undefined;
}

export const timeUnits: Readonly<Record<string, TimeUnit>> = {
  s: TimeUnit.SECOND,
  ms: TimeUnit.MILLISECOND,
  us: TimeUnit.MICROSECOND,
  ns: TimeUnit.NANOSECOND,
};
