import {
  type Data,
  DataType,
  type Date_,
  DateUnit,
  type Decimal,
  type Duration,
  type Field,
  type Float,
  type Interval,
  IntervalUnit,
  Precision,
  type Time,
  type Timestamp,
  Type,
  type Union,
  UnionMode,
  type Vector,
} from '#arrow';
import { type BlobCell, blobReader } from './blobCells.ts';
import { declaredImageMime, imageMime } from './images.ts';
import {
  bytesText,
  countText,
  decimalText,
  doubleText,
  floatText,
  halfText,
  halfValue,
  roughText,
  wordsToBigInt,
} from './numbers.ts';
import {
  arrowDurationText,
  dateMillisecondText,
  dateText,
  intervalText,
  monthsText,
  shownZone,
  timestampText,
  timeText,
  type TimeZoneChoice,
} from './times.ts';

// Values are read from the buffers and not by `Vector.get`: that method returns decimals without their scale,
// timestamps as a double of milliseconds, and a new Vector for every list.

/** A value for display. `text` is complete on its own; `kind` distinguishes a null from the string "null". */
export type Cell =
  | { kind: 'null' | 'text' | 'number' | 'boolean' | 'time' | 'binary' | 'nested'; text: string }
  /** A fixed-size list of numbers; `NaN` for a null element. */
  | { kind: 'vector'; text: string; values: Float64Array }
  /** Bytes that look like an image, or that the field declares to be an image. The image may still be damaged. */
  | { kind: 'image'; text: string; mime: string; bytes: Uint8Array }
  | BlobCell;

/** How much of a long value is shown; the rest is replaced by `…` and a count. */
type FormatLimits = {
  /** Characters of a string. */
  readonly chars: number;
  /** Elements of a list or map. */
  readonly items: number;
  /** Elements of a vector; rounded to three digits if some are omitted. */
  readonly vector: number;
  /** Bytes of a binary value. */
  readonly bytes: number;
  /** Characters of a list or map, after which further items are left out. */
  readonly nested: number;
};

/** Limits for a cell on a screen. */
export const displayLimits: FormatLimits = { chars: 2000, items: 20, vector: 4, bytes: 8, nested: 40_000 };
/**
 * Limits for the whole value. Lists are still bounded, because 30 million nulls or empty strings take few or no bytes
 * in Arrow, but hundreds of megabytes as text.
 */
export const unlimited: FormatLimits = {
  chars: Infinity,
  items: Infinity,
  vector: Infinity,
  bytes: Infinity,
  nested: 2 ** 24,
};

type FormatOptions = {
  readonly limits?: FormatLimits;
  /** The column's field, whose metadata may declare bytes as an image, or values as blobs. */
  readonly field?: Field | undefined;
  /** In which zone timestamps are shown; that of the column by default. */
  readonly timeZone?: TimeZoneChoice;
};

/** Reads the value at an index of one chunk of a column. */
type Reader = (index: number) => Cell;
type Context = {
  readonly limits: FormatLimits;
  readonly mime: string | undefined;
  readonly nested: boolean;
  readonly timeZone: TimeZoneChoice;
};

/**
 * Returns a function from a row to its cell; exact for every Arrow type within the limits.
 * @throws RangeError from the returned function on a row outside the column
 */
export function columnFormatter(vector: Vector, options: FormatOptions = {}): (row: number) => Cell {
  const mime = options.field && declaredImageMime(options.field.metadata);
  const { limits = displayLimits, timeZone = 'column' } = options;
  const context = { limits, mime, nested: false, timeZone };
  const read = chunkReader(vector.data, context, (data) => blobReader(options.field, data) ?? readerOf(data, context));
  return (row) => {
    if (!(row >= 0 && row < vector.length)) throw new RangeError(`Row ${row} is outside of ${vector.length} rows.`);
    return read(row);
  };
}

function chunkReader(
  chunks: readonly Data[],
  context: Context,
  reader: (data: Data) => Reader = (data) => readerOf(data, context),
): Reader {
  const readers = chunks.map((data) => ({ data, read: reader(data) }));
  const only = readers[0];
  if (only && readers.length === 1) return only.read;
  return (row) => {
    let start = 0;
    for (const { data, read } of readers) {
      if (row < start + data.length) return read(row - start);
      start += data.length;
    }
    return nothing;
  };
}

const nothing: Cell = { kind: 'null', text: 'null' };

function readerOf(data: Data, context: Context): Reader {
  const make = makers[data.typeId];
  if (!make) return () => ({ kind: 'nested', text: `(type ${data.typeId})` });
  const read = make(data, context);
  return (index) => (data.getValid(index) ? read(index) : nothing);
}

const number = (text: string): Cell => ({ kind: 'number', text });
const time = (text: string): Cell => ({ kind: 'time', text });
const nested = (text: string): Cell => ({ kind: 'nested', text });

/** Creates a reader, by Arrow type. Readers are called for valid values only. */
const makers: Partial<Record<number, (data: Data, context: Context) => Reader>> = {
  [Type.Null]: () => () => nothing,
  [Type.Bool]: ({ values, offset }) => {
    const bits = values as Uint8Array;
    return (i) => {
      const at = offset + i;
      return { kind: 'boolean', text: ((bits[at >> 3] ?? 0) & (1 << (at % 8))) === 0 ? 'false' : 'true' };
    };
  },
  [Type.Int]:
    ({ values }) =>
    (i) =>
      number(String((values as ArrayLike<number | bigint>)[i])),
  [Type.Float]: (data) => {
    const read = floatReader(data);
    const text = [halfText, floatText, doubleText][(data.type as Float).precision] ?? doubleText;
    return (i) => number(text(read(i)));
  },
  [Type.Decimal]: ({ values, stride, type }) => {
    const words = values as Uint32Array;
    const { scale } = type as Decimal;
    return (i) => number(decimalText(wordsToBigInt(words.subarray(i * stride, (i + 1) * stride)), scale));
  },
  [Type.Date]: ({ values, type }) => {
    if ((type as Date_).unit === DateUnit.DAY) return (i) => time(dateText((values as Int32Array)[i]!));
    return (i) => time(dateMillisecondText((values as BigInt64Array)[i]!));
  },
  [Type.Time]: ({ values, type }) => {
    const { unit } = type as Time;
    return (i) => time(timeText(BigInt((values as ArrayLike<number | bigint>)[i]!), unit));
  },
  [Type.Timestamp]: ({ values, type }, { timeZone }) => {
    const { unit, timezone } = type as Timestamp;
    const zone = shownZone(timezone, timeZone);
    return (i) => time(timestampText((values as BigInt64Array)[i]!, unit, zone));
  },
  [Type.Duration]: ({ values, type }) => {
    const { unit } = type as Duration;
    return (i) => time(arrowDurationText((values as BigInt64Array)[i]!, unit));
  },
  [Type.Interval]: ({ values, type }) => intervalReader(values as Int32Array, (type as Interval).unit),
  [Type.Utf8]: (data, context) => textReader(variableBytes(data), context),
  [Type.LargeUtf8]: (data, context) => textReader(variableBytes(data), context),
  [Type.Utf8View]: (data, context) => textReader(viewBytes(data), context),
  [Type.Binary]: (data, context) => binaryReader(variableBytes(data), context),
  [Type.LargeBinary]: (data, context) => binaryReader(variableBytes(data), context),
  [Type.BinaryView]: (data, context) => binaryReader(viewBytes(data), context),
  [Type.FixedSizeBinary]: ({ values, stride }, context) =>
    binaryReader((i) => (values as Uint8Array).subarray(i * stride, (i + 1) * stride), context),
  [Type.List]: (data, context) => listReader(data, context),
  [Type.LargeList]: (data, context) => listReader(data, context),
  [Type.FixedSizeList]: (data, context) => {
    const [child] = data.children;
    if (child && (DataType.isFloat(child.type) || DataType.isInt(child.type)))
      return vectorReader(child, data.stride, context);
    return rangeReader(data, context, (i) => [i * data.stride, (i + 1) * data.stride]);
  },
  [Type.Struct]: (data, context) => {
    const fields = data.type.children.map((field: Field, i: number) => ({
      name: nameText(field.name),
      read: blobReader(field, data.children[i]!) ?? readerOf(data.children[i]!, inside(context)),
    }));
    return (i) => nested(`{${fields.map(({ name, read }) => `${name}: ${read(i).text}`).join(', ')}}`);
  },
  [Type.Map]: (data, context) => {
    const entries = data.children[0]!;
    const [key, value] = entries.children.map((child) => readerOf(child, inside(context)));
    const { limits } = context;
    const offsets = data.valueOffsets as ArrayLike<number | bigint>;
    return (i) => {
      const [start, end] = [Number(offsets[i]), Number(offsets[i + 1])];
      return nested(`{${itemTexts(start, end, limits, (k) => `${key!(k).text}: ${value!(k).text}`)}}`);
    };
  },
  [Type.Union]: (data, context) => {
    const { typeIdToChildIndex, mode } = data.type as Union;
    const readers = data.children.map((child) => readerOf(child, context));
    const ids = data.typeIds as Int8Array;
    const offsets = data.valueOffsets as ArrayLike<number> | undefined;
    return (i) =>
      readers[typeIdToChildIndex[ids[i]!] ?? -1]?.(mode === UnionMode.Dense && offsets ? offsets[i]! : i) ?? nothing;
  },
  [Type.Dictionary]: (data, context) => {
    if (!data.dictionary) return () => nothing;
    const read = chunkReader(data.dictionary.data, context);
    return (i) => read(Number((data.values as ArrayLike<number | bigint>)[i]));
  },
};

const inside = (context: Context): Context => ({ ...context, mime: undefined, nested: true });

const nameText = (name: string): string => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));

/** Formats the items from `start` up to `end` within the limits, and adds the number of omitted items. */
function itemTexts(start: number, end: number, limits: FormatLimits, text: (index: number) => string): string {
  const last = Math.min(end, start + limits.items);
  const parts: string[] = [];
  let at = start;
  for (let chars = 0; at < last && chars < limits.nested; at++) {
    const part = text(at);
    chars += part.length + 2;
    parts.push(part);
  }
  if (at < end) parts.push(`… ${countText(end - at)} more`);
  return parts.join(', ');
}

function listReader(data: Data, context: Context): Reader {
  const offsets = data.valueOffsets as ArrayLike<number | bigint>;
  return rangeReader(data, context, (i) => [Number(offsets[i]), Number(offsets[i + 1])]);
}

function rangeReader(data: Data, context: Context, range: (index: number) => [start: number, end: number]): Reader {
  const read = readerOf(data.children[0]!, inside(context));
  return (index) => {
    const [start, end] = range(index);
    return nested(`[${itemTexts(start, end, context.limits, (k) => read(k).text)}]`);
  };
}

function vectorReader(child: Data, size: number, context: Context): Reader {
  const isFloat = DataType.isFloat(child.type);
  const read = isFloat ? floatReader(child) : integerReader(child);
  const exact = readerOf(child, inside(context));
  const shown = Math.min(size, context.limits.vector);
  return (index) => {
    const start = index * size;
    const values = Float64Array.from({ length: size }, (_, k) => (child.getValid(start + k) ? read(start + k) : NaN));
    const head = Array.from({ length: shown }, (_, k) =>
      isFloat && shown < size && child.getValid(start + k) ? roughText(values[k]!) : exact(start + k).text,
    );
    return { kind: 'vector', text: shown < size ? `[${head.join(', ')}, …] ${size}` : `[${head.join(', ')}]`, values };
  };
}

const integerReader =
  ({ values }: Data): ((index: number) => number) =>
  (i) =>
    Number((values as ArrayLike<number | bigint>)[i]);

function floatReader({ values, type }: Data): (index: number) => number {
  const floats = values as ArrayLike<number>;
  if ((type as Float).precision !== Precision.HALF) return (i) => floats[i]!;
  return (i) => halfValue(floats[i]!);
}

function intervalReader(values: Int32Array, unit: IntervalUnit): Reader {
  if (unit === IntervalUnit.YEAR_MONTH) return (i) => time(monthsText(values[i]!));
  if (unit === IntervalUnit.DAY_TIME)
    return (i) => time(intervalText(0, values[2 * i]!, BigInt(values[2 * i + 1]!) * 1_000_000n));
  return (i) => {
    const nanoseconds = (BigInt(values[4 * i + 3]!) << 32n) | BigInt(values[4 * i + 2]! >>> 0);
    return time(intervalText(values[4 * i]!, values[4 * i + 1]!, nanoseconds));
  };
}

type BytesAt = (index: number) => Uint8Array;

/** Returns a function from an index to the bytes of a string or binary value. */
export const valueBytes = (data: Data): BytesAt =>
  data.typeId === Type.Utf8View || data.typeId === Type.BinaryView ? viewBytes(data) : variableBytes(data);

function variableBytes({ values, valueOffsets }: Data): BytesAt {
  const bytes = values as Uint8Array | undefined;
  const offsets = valueOffsets as ArrayLike<number | bigint>;
  return (i) => bytes?.subarray(Number(offsets[i]), Number(offsets[i + 1])) ?? new Uint8Array(0);
}

/**
 * Reads values from views of 16 bytes. A view has the length, then a value of up to 12 bytes; for a longer value it has
 * the start, the number of a buffer and the offset in the buffer.
 */
function viewBytes({ values, variadicBuffers }: Data): BytesAt {
  const views = values as Uint8Array;
  const view = new DataView(views.buffer, views.byteOffset, views.byteLength);
  return (i) => {
    const at = i * 16;
    const length = view.getInt32(at, true);
    if (length <= 12) return views.subarray(at + 4, at + 4 + length);
    const start = view.getInt32(at + 12, true);
    return variadicBuffers[view.getInt32(at + 8, true)]?.subarray(start, start + length) ?? new Uint8Array(0);
  };
}

// A byte order mark is not removed, because it is part of the value.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

function textReader(bytesAt: BytesAt, { limits, nested: quoted }: Context): Reader {
  return (index) => {
    const bytes = bytesAt(index);
    // A character has at most 4 bytes. So only the needed bytes are decoded, and not megabytes of text to show the
    // start.
    const whole = bytes.length <= limits.chars * 4;
    const decoded = utf8.decode(whole ? bytes : bytes.subarray(0, limits.chars * 4));
    const cut = !whole || decoded.length > limits.chars;
    const text = cut ? `${head(decoded, limits.chars)}… (${bytesText(bytes.length)})` : decoded;
    return { kind: 'text', text: quoted ? JSON.stringify(text) : text };
  };
}

/** Returns the first `length` UTF-16 units, without half of a surrogate pair at the end. */
const head = (text: string, length: number): string => text.slice(0, length).replace(/[\uD800-\uDBFF]$/, '');

function binaryReader(bytesAt: BytesAt, { limits, mime, nested: inner }: Context): Reader {
  return (index) => {
    const bytes = bytesAt(index);
    const picture = inner || bytes.length === 0 ? undefined : (imageMime(bytes) ?? mime);
    if (picture) return { kind: 'image', text: `${picture}, ${bytesText(bytes.length)}`, mime: picture, bytes };
    const shown = Math.min(bytes.length, limits.bytes);
    const hex = Array.from(bytes.subarray(0, shown), (byte) => byte.toString(16).padStart(2, '0')).join('');
    const text = shown < bytes.length ? `0x${hex}… (${bytesText(bytes.length)})` : `0x${hex}`;
    return { kind: 'binary', text };
  };
}
