import {
  type Data,
  DataType,
  type Field,
  type FixedSizeList,
  makeVector,
  Precision,
  Type,
  type Union,
  UnionMode,
  type Vector,
} from '#arrow';
import { blobReader } from '#shared/format/blobCells.ts';
import { columnFormatter, unlimited, valueBytes } from '#shared/format/cellText.ts';
import { declaredImageMime, imageMime } from '#shared/format/images.ts';
import { halfValue } from '#shared/format/numbers.ts';
import { shownTimeZone } from './timeZone.ts';

/**
 * The whole value of a cell, without Arrow, so that what shows it needs no copy of Arrow. Items of nested values are
 * read when they are shown.
 */
export type CellValue =
  | { kind: 'null' }
  /** A value that an output has left out, and why. */
  | { kind: 'omitted'; text: string; reason: string }
  | { kind: 'number' | 'boolean' | 'time'; text: string }
  /** UTF-8, which may be too long to decode at once. */
  | { kind: 'text'; bytes: Uint8Array }
  /** `mime` is set for images. */
  | { kind: 'binary'; bytes: Uint8Array; mime: string | undefined }
  | VectorValue
  | NestedValue;

/** A list of numbers; `NaN` for a null item. `itemText` returns the exact text of an item. */
export type VectorValue = { kind: 'vector'; values: Float64Array; itemText: (index: number) => string };

/** A list, map or struct. `text` is its start. */
export type NestedValue = {
  kind: 'list' | 'map' | 'struct';
  size: number;
  text: string;
  item: (index: number) => { name: string; value: CellValue };
};

/** Limits of the text that stands for a nested value. */
const previewLimits = { chars: 60, items: 8, vector: 4, bytes: 8, nested: 200 };
const previewChars = 200;

/** Returns the value of a row of a column. */
export function valueOf(vector: Vector, row: number, field: Field | undefined): CellValue {
  let start = 0;
  for (const data of vector.data) {
    if (row < start + data.length) return fieldValue(data, row - start, field);
    start += data.length;
  }
  return { kind: 'null' };
}

/** Returns the value of a cell that an output has left out: with `load`, an image that the kernel may still have. */
export async function omittedValue(found: {
  text: string;
  reason: string;
  load?: () => Promise<Uint8Array | undefined>;
}): Promise<CellValue> {
  const { text, reason, load } = found;
  const bytes = await load?.().catch(() => undefined);
  return bytes ? { kind: 'binary', bytes, mime: imageMime(bytes) } : { kind: 'omitted', text, reason };
}

/** Returns the value of a field, whose metadata may declare bytes as an image, or values as blobs. */
function fieldValue(data: Data, index: number, field: Field | undefined): CellValue {
  const blob = blobReader(field, data)?.(index);
  if (blob?.kind === 'blob') return { kind: 'omitted', text: blob.text, reason: blob.reason ?? '' };
  return dataValue(data, index, field && declaredImageMime(field.metadata));
}

function dataValue(data: Data, index: number, mime?: string): CellValue {
  if (data.typeId === Type.Null || !data.getValid(index)) return { kind: 'null' };
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- the default is for all types with a short text
  switch (data.typeId) {
    case Type.Utf8:
    case Type.LargeUtf8:
    case Type.Utf8View:
      return { kind: 'text', bytes: valueBytes(data)(index) };
    case Type.Binary:
    case Type.LargeBinary:
    case Type.BinaryView:
      return binaryValue(valueBytes(data)(index), mime);
    case Type.FixedSizeBinary: {
      const { values, stride } = data;
      return binaryValue((values as Uint8Array).subarray(index * stride, (index + 1) * stride), mime);
    }
    case Type.List:
    case Type.LargeList: {
      const offsets = data.valueOffsets as ArrayLike<number | bigint>;
      return listValue(data, index, Number(offsets[index]), Number(offsets[index + 1]));
    }
    case Type.FixedSizeList: {
      const size = (data.type as FixedSizeList).listSize;
      return listValue(data, index, index * size, (index + 1) * size);
    }
    case Type.Struct:
      return structValue(data, index);
    case Type.Map:
      return mapValue(data, index);
    case Type.Union: {
      const { typeIdToChildIndex, mode } = data.type as Union;
      const child = data.children[typeIdToChildIndex[(data.typeIds as Int8Array)[index]!] ?? -1];
      const at = mode === UnionMode.Dense ? (data.valueOffsets as ArrayLike<number>)[index]! : index;
      return child ? dataValue(child, at) : { kind: 'null' };
    }
    case Type.Dictionary:
      return data.dictionary
        ? valueOf(data.dictionary, Number((data.values as ArrayLike<number | bigint>)[index]), undefined)
        : { kind: 'null' };
    default:
      return plainValue(data, index);
  }
}

function plainValue(data: Data, index: number): CellValue {
  const { kind, text } = columnFormatter(makeVector(data), { limits: unlimited, timeZone: shownTimeZone() })(index);
  if (kind === 'null') return { kind };
  return { kind: kind === 'number' || kind === 'boolean' ? kind : 'time', text };
}

const binaryValue = (bytes: Uint8Array, mime: string | undefined): CellValue => ({
  kind: 'binary',
  bytes,
  mime: bytes.length > 0 ? (imageMime(bytes) ?? mime) : undefined,
});

/** Returns the start of a nested value as text. */
const previewText = (data: Data, index: number): string =>
  columnFormatter(makeVector(data), { limits: previewLimits, timeZone: shownTimeZone() })(index).text.slice(
    0,
    previewChars,
  );

function listValue(data: Data, index: number, start: number, end: number): CellValue {
  const child = data.children[0]!;
  const size = end - start;
  const isNumbers = DataType.isFloat(child.type) || (data.typeId === Type.FixedSizeList && DataType.isInt(child.type));
  if (isNumbers && size > 0) return vectorValue(child, start, size);
  return {
    kind: 'list',
    size,
    text: previewText(data, index),
    item: (at) => ({ name: String(at), value: dataValue(child, start + at) }),
  };
}

function vectorValue(child: Data, start: number, size: number): VectorValue {
  const read = columnFormatter(makeVector(child), { limits: unlimited, timeZone: shownTimeZone() });
  const number = numberReader(child);
  return {
    kind: 'vector',
    values: Float64Array.from({ length: size }, (_, at) => (child.getValid(start + at) ? number(start + at) : NaN)),
    itemText: (at) => read(start + at).text,
  };
}

function numberReader(child: Data): (index: number) => number {
  const values = child.values as ArrayLike<number | bigint>;
  const isHalf = DataType.isFloat(child.type) && child.type.precision === Precision.HALF;
  return isHalf ? (index) => halfValue(Number(values[index])) : (index) => Number(values[index]);
}

function structValue(data: Data, index: number): NestedValue {
  const fields = (data.type as { children: Field[] }).children;
  return {
    kind: 'struct',
    size: fields.length,
    text: previewText(data, index),
    item: (at) => ({ name: fields[at]!.name, value: fieldValue(data.children[at]!, index, fields[at]) }),
  };
}

function mapValue(data: Data, index: number): NestedValue {
  const offsets = data.valueOffsets as ArrayLike<number | bigint>;
  const [start, end] = [Number(offsets[index]), Number(offsets[index + 1])];
  const [keys, values] = data.children[0]!.children;
  const keyText = columnFormatter(makeVector(keys!), { limits: previewLimits, timeZone: shownTimeZone() });
  return {
    kind: 'map',
    size: end - start,
    text: previewText(data, index),
    item: (at) => ({ name: keyText(start + at).text, value: dataValue(values!, start + at) }),
  };
}
