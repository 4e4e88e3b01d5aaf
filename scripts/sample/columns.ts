import {
  Bool,
  Decimal,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  Int64,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimestampMicrosecond,
  Utf8,
  Binary,
  type Data,
} from '#arrow';

// Creates columns from typed arrays, because creating a million row objects or JavaScript strings would take ten
// seconds.

type Column = { type: Data['type']; data: Data; nullable?: boolean; metadata?: Record<string, string> };

export const int64 = (values: BigInt64Array): Column => column(makeData({ type: new Int64(), data: values }));
export const int32 = (values: Int32Array): Column => column(makeData({ type: new Int32(), data: values }));
export const float64 = (values: Float64Array): Column => column(makeData({ type: new Float64(), data: values }));

/** Creates timestamps from microseconds since 1970 UTC. */
export const timestamp = (micros: BigInt64Array): Column =>
  column(makeData({ type: new TimestampMicrosecond('UTC'), data: micros }));

export function bool(values: readonly boolean[]): Column {
  return column(
    makeData({ type: new Bool(), length: values.length, data: bitmap(values.length, (row) => values[row]!) }),
  );
}

/** Creates prices as decimal(10, 2), from cents. */
export function money(cents: ArrayLike<number>): Column {
  const words = new Uint32Array(cents.length * 4);
  for (let row = 0; row < cents.length; row++) words[row * 4] = cents[row]!;
  return column(makeData({ type: new Decimal(2, 10, 128), data: words }));
}

/** Creates vectors of equal width from their concatenated values. */
export function vectors(values: Float32Array, width: number): Column {
  const item = new Field('item', new Float32(), true);
  const child = makeData({ type: item.type, data: values });
  return column(makeData({ type: new FixedSizeList(width, item), child }));
}

export const texts = (values: readonly string[]): Column => column(textData(values));

function textData(values: readonly string[]): Data<Utf8> {
  const encoder = new TextEncoder();
  return utf8(
    values.map((value) => encoder.encode(value)),
    Int32Array.from(values.keys()),
  );
}

export function binaries(values: readonly Uint8Array[], metadata: Record<string, string>): Column {
  const { valueOffsets, data } = joined(values, Int32Array.from(values.keys()));
  return { ...column(makeData({ type: new Binary(), valueOffsets, data })), metadata };
}

export function textLists(values: readonly (readonly string[])[]): Column {
  const item = new Field('item', new Utf8(), true);
  const valueOffsets = new Int32Array(values.length + 1);
  values.forEach((list, row) => (valueOffsets[row + 1] = valueOffsets[row]! + list.length));
  const child = textData(values.flat());
  return column(makeData({ type: new List(item), valueOffsets, child }));
}

/** Creates strings from indexes into a list of words. A negative index gives null. */
export function choices(words: readonly string[], chosen: Int32Array): Column {
  const encoder = new TextEncoder();
  const encoded = words.map((word) => encoder.encode(word));
  const nullCount = chosen.reduce((count, index) => count + (index < 0 ? 1 : 0), 0);
  if (nullCount === 0) return column(utf8(encoded, chosen));
  const { valueOffsets, data } = joined(encoded, chosen);
  const nullBitmap = bitmap(chosen.length, (row) => chosen[row]! >= 0);
  return { ...column(makeData({ type: new Utf8(), nullCount, nullBitmap, valueOffsets, data })), nullable: true };
}

export function tableOf(columns: Record<string, Column>): Table {
  const schema = schemaOf(columns);
  const children = Object.values(columns).map(({ data }) => data);
  const length = children[0]?.length ?? 0;
  return new Table(schema, [
    new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length, nullCount: 0, children })),
  ]);
}

const schemaOf = (columns: Record<string, Column>): Schema =>
  new Schema(
    Object.entries(columns).map(
      ([name, { type, nullable = false, metadata = {} }]) =>
        new Field(name, type, nullable, new Map(Object.entries(metadata))),
    ),
  );

const column = (data: Data): Column => ({ type: data.type, data });

function utf8(encoded: readonly Uint8Array[], chosen: Int32Array): Data<Utf8> {
  const { valueOffsets, data } = joined(encoded, chosen);
  return makeData({ type: new Utf8(), valueOffsets, data });
}

function joined(parts: readonly Uint8Array[], chosen: Int32Array): { valueOffsets: Int32Array; data: Uint8Array } {
  const valueOffsets = new Int32Array(chosen.length + 1);
  let end = 0;
  for (let row = 0; row < chosen.length; row++) {
    end += parts[chosen[row]!]?.length ?? 0;
    valueOffsets[row + 1] = end;
  }
  const data = new Uint8Array(end);
  for (let row = 0; row < chosen.length; row++) {
    const part = parts[chosen[row]!];
    if (part) data.set(part, valueOffsets[row]);
  }
  return { valueOffsets, data };
}

function bitmap(length: number, isSet: (row: number) => boolean): Uint8Array {
  const bits = new Uint8Array(Math.ceil(length / 64) * 8);
  for (let row = 0; row < length; row++) if (isSet(row)) bits[row >> 3]! |= 1 << (row & 7);
  return bits;
}
