import {
  type Data,
  DataType,
  DateUnit,
  type Field,
  Precision,
  type RecordBatch,
  type Schema,
  UnionMode,
  Vector,
} from '#arrow';
import { columnReader } from '#catalog/arrow/rowValues.ts';
import { isBinaryType } from '#shared/arrow/arrowTypes.ts';
import { columnFormatter, unlimited } from '#shared/format/cellText.ts';
import { doubleText, floatText, halfText, halfValue } from '#shared/format/numbers.ts';
import { isoTimestampText } from '#shared/format/times.ts';

/** Returns the text of a row; null for a null. */
type ReadText = (row: number) => string | null;
/** Returns the text of a row that is not null. */
type ReadValid = (row: number) => string;

// Values for other programs, as exact text:
//
// - integers and decimals have all their digits, floats the fewest digits that are exact
// - dates and timestamps are ISO 8601 in UTC, with a Z if the column has a time zone, and all digits of their unit
// - bytes are base64
// - in JSON, a 64-bit integer that a double does not hold exactly is a string, as are decimals, times and durations;
//   NaN and infinities are null, because JSON has no word for them
// - in CSV, lists, vectors, structs and maps are JSON

/** Returns a function from a row to the value in JSON, for one chunk of a column. */
export function jsonReader(data: Data | undefined): ReadValid {
  // Arrow leaves out a column that is shorter than its batch.
  if (!data) return () => 'null';
  const read = validJson(data);
  return (row) => (data.getValid(row) ? read(row) : 'null');
}

/** Returns a function from a row to the value in CSV, without quotes of CSV; null for a null. */
export function csvReader(data: Data | undefined): ReadText {
  if (!data) return () => null;
  if (DataType.isDictionary(data.type)) return dictionaryReader(data, csvReader);
  if (isNested(data.type)) {
    const read = jsonReader(data);
    return (row) => (data.getValid(row) ? read(row) : null);
  }
  const read = scalarText(data);
  return (row) => (data.getValid(row) ? read(row) : null);
}

const isNested = (type: DataType): boolean =>
  (type.children?.length ?? 0) > 0 || DataType.isStruct(type) || DataType.isUnion(type);

/** Returns a reader of the text of numbers, strings, times, booleans and bytes. */
function scalarText(data: Data): ReadValid {
  const { type } = data;
  if (DataType.isTimestamp(type)) {
    const { unit, timezone } = type;
    const counts = data.values as BigInt64Array;
    return (row) => isoTimestampText(counts[row]!, unit, Boolean(timezone));
  }
  if (DataType.isFloat(type)) return floatReader(data, type.precision);
  if (isBinaryType(type)) {
    const read = columnReader(data);
    return (row) => {
      const bytes = read(row) as Uint8Array;
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
    };
  }
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return columnReader(data) as ReadValid;
  if (DataType.isInt(type)) {
    const numbers = data.values as ArrayLike<number | bigint>;
    return (row) => String(numbers[row]);
  }
  const format = columnFormatter(new Vector([data]), { limits: unlimited });
  // A 64-bit date that has a time of day.
  if (DataType.isDate(type) && type.unit === DateUnit.MILLISECOND) return (row) => format(row).text.replace(' ', 'T');
  return (row) => format(row).text;
}

const floatTexts = [halfText, floatText, doubleText] as const;

function floatReader({ values }: Data, precision: Precision): ReadValid {
  const floats = values as ArrayLike<number>;
  const text = floatTexts[precision];
  return precision === Precision.HALF ? (row) => text(halfValue(floats[row]!)) : (row) => text(floats[row]!);
}

function validJson(data: Data): ReadValid {
  const { type } = data;
  if (DataType.isNull(type)) return () => 'null';
  if (DataType.isList(type) || DataType.isLargeList(type)) {
    const offsets = data.valueOffsets as ArrayLike<number | bigint>;
    return listReader(data, (row) => [Number(offsets[row]), Number(offsets[row + 1])]);
  }
  if (DataType.isFixedSizeList(type)) {
    const { listSize } = type;
    return listReader(data, (row) => [row * listSize, (row + 1) * listSize]);
  }
  if (DataType.isStruct(type)) {
    const members = membersOf(type.children, data);
    return (row) => objectText(members, row);
  }
  if (DataType.isMap(type)) return mapReader(data);
  if (DataType.isUnion(type)) {
    const { typeIdToChildIndex, mode } = type;
    const readers = data.children.map(jsonReader);
    const ids = data.typeIds as Int8Array;
    const offsets = mode === UnionMode.Dense ? (data.valueOffsets as Int32Array) : undefined;
    return (row) => readers[typeIdToChildIndex[ids[row]!] ?? -1]?.(offsets?.[row] ?? row) ?? 'null';
  }
  if (DataType.isDictionary(type)) {
    const read = dictionaryReader(data, jsonReader);
    return (row) => read(row) ?? 'null';
  }
  return jsonScalar(data);
}

function jsonScalar(data: Data): ReadValid {
  const { type } = data;
  const read = scalarText(data);
  if (DataType.isBool(type)) return read;
  if (DataType.isInt(type)) {
    if (type.bitWidth < 64) return read;
    return (row) => {
      const text = read(row);
      return Number.isSafeInteger(Number(text)) ? text : `"${text}"`;
    };
  }
  if (DataType.isFloat(type)) {
    return (row) => {
      const text = read(row);
      return /\d$/.test(text) ? text : 'null';
    };
  }
  return (row) => JSON.stringify(read(row));
}

function listReader(data: Data, range: (row: number) => [start: number, end: number]): ReadValid {
  const read = jsonReader(data.children[0]);
  return (row) => {
    const [start, end] = range(row);
    const items: string[] = [];
    for (let at = start; at < end; at++) items.push(read(at));
    return `[${items.join(',')}]`;
  };
}

/** A member of an object. `name` is JSON. */
type Member = { name: string; read: ReadValid };

/** Returns a function from a row to an object with all columns of a batch, in JSON. */
export function rowReader({ fields }: Schema, { data }: RecordBatch): ReadValid {
  const members = membersOf(fields, data);
  return (row) => objectText(members, row);
}

const membersOf = (fields: readonly Field[], { children }: Data): Member[] =>
  fields.map(({ name }, column) => ({ name: `${JSON.stringify(name)}:`, read: jsonReader(children[column]) }));

function objectText(members: readonly Member[], row: number): string {
  let text = '{';
  for (const [at, { name, read }] of members.entries()) text += (at === 0 ? '' : ',') + name + read(row);
  return `${text}}`;
}

/** Reads maps as objects. A key that is not a string becomes its text, or its JSON if it is nested. */
function mapReader(data: Data): ReadValid {
  const [keys, values] = data.children[0]!.children;
  const [readKey, read] = [csvReader(keys), jsonReader(values)];
  const offsets = data.valueOffsets as ArrayLike<number | bigint>;
  return (row) => {
    const entries: string[] = [];
    const end = Number(offsets[row + 1]);
    for (let at = Number(offsets[row]); at < end; at++)
      entries.push(`${JSON.stringify(readKey(at) ?? 'null')}:${read(at)}`);
    return `{${entries.join(',')}}`;
  };
}

function dictionaryReader(data: Data, create: (values: Data) => ReadText): ReadText {
  const chunks = (data.dictionary?.data ?? []).map((values) => ({ length: values.length, read: create(values) }));
  const keys = data.values as ArrayLike<number | bigint>;
  return (row) => {
    if (!data.getValid(row)) return null;
    let at = Number(keys[row]);
    for (const { length, read } of chunks) {
      if (at < length) return read(at);
      at -= length;
    }
    return null;
  };
}
