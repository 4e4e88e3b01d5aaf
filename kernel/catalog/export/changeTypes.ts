import {
  Binary,
  type Data,
  DataType,
  DateDay,
  DateUnit,
  type Dictionary,
  Field,
  FixedSizeList,
  LargeList,
  List,
  makeData,
  Map_,
  RecordBatch,
  Schema,
  Struct,
  TimeMillisecond,
  TimestampMillisecond,
  TimeUnit,
  Utf8,
} from '#arrow';
import { buildColumn } from '#catalog/arrow/buildColumn.ts';
import { convertValue } from '#catalog/arrow/convertValue.ts';
import { columnReader } from '#catalog/arrow/rowValues.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { nullData } from '#shared/arrow/nullData.ts';
import { CatalogError } from '#shared/errors.ts';

/** How columns of a type are written as another type with the same values. */
type TypeChange = { type: DataType; convert: (data: Data) => Data };
/** Returns the change of a type, not of the types in it; undefined to keep it. */
type FindChange = (type: DataType) => TypeChange | undefined;

/** Returns a schema in which types are changed, also within lists, structs and maps, and how batches are converted. */
export function changeTypes(
  schema: Schema,
  find: FindChange,
): { schema: Schema; convert: (batch: RecordBatch) => RecordBatch } {
  const changes = schema.fields.map(({ type }) => deepChange(type as DataType, find));
  if (changes.every((change) => change === undefined)) return { schema, convert: (batch) => batch };
  const changed = new Schema(withTypes(schema.fields, changes), schema.metadata);
  const type = new Struct(changed.fields);
  return {
    schema: changed,
    convert: ({ data, numRows: length }) => {
      const children = changes.map((change, column) => {
        const child = data.children[column];
        // Arrow leaves out a column that is shorter than its batch.
        return child ? convertData(child, change) : nullData(changed.fields[column]!.type as DataType, length);
      });
      return new RecordBatch(changed, makeData({ type, length, nullCount: 0, children }));
    },
  };
}

const convertData = (data: Data, change: TypeChange | undefined): Data => change?.convert(data) ?? data;

const withTypes = (fields: readonly Field[], changes: readonly (TypeChange | undefined)[]): Field[] =>
  fields.map(
    ({ name, type, nullable, metadata }, at) =>
      new Field(name, changes[at]?.type ?? (type as DataType), nullable, metadata),
  );

function deepChange(type: DataType, find: FindChange): TypeChange | undefined {
  const own = find(type);
  if (own) return own;
  const fields = (type.children ?? []) as readonly Field[];
  const changes = fields.map((field) => deepChange(field.type as DataType, find));
  if (changes.every((change) => change === undefined)) return undefined;
  const changed = withFields(type, withTypes(fields, changes));
  return {
    type: changed,
    convert: (data) =>
      data.clone(
        changed,
        data.offset,
        data.length,
        data.nullCount,
        data.buffers,
        data.children.map((child, at) => convertData(child, changes[at])),
      ),
  };
}

function withFields(type: DataType, fields: Field[]): DataType {
  const [only] = fields as [Field];
  if (DataType.isList(type)) return new List(only);
  if (DataType.isLargeList(type)) return new LargeList(only);
  if (DataType.isFixedSizeList(type)) return new FixedSizeList(type.listSize, only);
  if (DataType.isMap(type)) return new Map_(only as never, type.keysSorted);
  if (DataType.isStruct(type)) return new Struct(fields);
  throw new CatalogError('Unsupported', `The type ${typeText(type)} can't be written.`, 'Leave the column out.');
}

/**
 * Writes the values of a dictionary instead of their positions, because batches may have different dictionaries. Views of
 * strings and bytes become plain strings and bytes, because Arrow's writer leaves out their buffers.
 */
export function plainValues(type: DataType): TypeChange | undefined {
  if (DataType.isUtf8View(type)) return copyValues(new Utf8());
  if (DataType.isBinaryView(type)) return copyValues(new Binary());
  // Arrow does not count the nulls of a slice of such a column, and the Parquet writer refuses it.
  if (DataType.isNull(type)) return { type, convert: ({ length }) => makeData({ type, length }) };
  return DataType.isDictionary(type) ? plainDictionary(type) : undefined;
}

function copyValues(type: DataType): TypeChange {
  return {
    type,
    convert(data) {
      const read = columnReader(data);
      return buildColumn(
        type,
        Array.from({ length: data.length }, (_, row) => read(row)),
      );
    },
  };
}

function plainDictionary(type: Dictionary): TypeChange {
  const values = type.dictionary as DataType;
  return {
    type: values,
    convert(data) {
      const distinct = (data.dictionary?.data ?? []).flatMap((chunk) => {
        const read = columnReader(chunk);
        return Array.from({ length: chunk.length }, (_, row) =>
          convertValue(values, read(row), { column: 'dictionary' }),
        );
      });
      const keys = data.values as ArrayLike<number | bigint>;
      const rows = Array.from({ length: data.length }, (_, row) =>
        data.getValid(row) ? distinct[Number(keys[row])] : null,
      );
      return buildColumn(values, rows);
    },
  };
}

/**
 * Writes types that Parquet does not have as types that every reader knows: times and timestamps in seconds as
 * milliseconds, and 64-bit dates as 32-bit dates. A dictionary of other values than strings is written as its values.
 */
export function parquetChange(type: DataType): TypeChange | undefined {
  if (DataType.isTimestamp(type) && type.unit === TimeUnit.SECOND)
    return replaceValues(new TimestampMillisecond(type.timezone), toMs);
  if (DataType.isTime(type) && type.unit === TimeUnit.SECOND)
    return replaceValues(new TimeMillisecond(), (seconds) => Number(seconds) * 1000);
  if (DataType.isDate(type) && type.unit === DateUnit.MILLISECOND) return replaceValues(new DateDay(), toDay);
  if (!DataType.isDictionary(type)) return plainValues(type);
  if (DataType.isUtf8(type.dictionary as DataType)) return undefined;
  const plain = plainDictionary(type);
  const next = deepChange(plain.type, parquetChange);
  return next ? { type: next.type, convert: (data) => next.convert(plain.convert(data)) } : plain;
}

function replaceValues(type: DataType, convert: (value: bigint) => number | bigint): TypeChange {
  return {
    type,
    convert(data) {
      const { length, nullCount, nullBitmap, offset } = data;
      const given = data.values as ArrayLike<number | bigint>;
      const values = new (type.ArrayType as new (length: number) => (number | bigint)[])(length);
      // The values of nulls may be any numbers.
      for (let row = 0; row < length; row++) if (data.getValid(row)) values[row] = convert(BigInt(given[row]!));
      return makeData({ type, offset, length, nullCount, nullBitmap, data: values } as never);
    },
  };
}

const msPerDay = 86_400_000n;

function toMs(seconds: bigint): bigint {
  const ms = seconds * 1000n;
  return BigInt.asIntN(64, ms) === ms ? ms : outside();
}

const toDay = (ms: bigint): number => Number(ms / msPerDay - (ms % msPerDay < 0n ? 1n : 0n));

function outside(): never {
  throw new CatalogError(
    'InvalidInput',
    'A timestamp is outside of the years that Parquet can hold.',
    'Leave the row out, or use the format arrow.',
  );
}
