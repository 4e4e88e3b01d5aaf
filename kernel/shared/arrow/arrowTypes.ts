import { DataType, DateUnit, type Dictionary, type Field, type Schema, Type, UnionMode } from '#arrow';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import { blobEncoding } from './blobs.ts';
import { type TimeUnit, timeUnitNames } from '#shared/format/times.ts';

const unitOf = (type: { unit: number }): string => timeUnitNames[type.unit as TimeUnit] ?? String(type.unit);
const childTexts = (type: DataType): string[] => (type.children ?? []).map((child: Field) => typeText(child.type));
const named = (type: DataType): string =>
  (type.children ?? []).map((child: Field) => `${child.name}: ${fieldTypeText(child)}`).join(', ');

/** A query returns blobs with the type of their descriptors, so the two types of a field of blobs have one text. */
const fieldTypeText = (field: Field): string => (blobEncoding(field) === undefined ? typeText(field.type) : 'blob');

/**
 * Formats an Arrow type: `int64`, `timestamp[us, UTC]`, `decimal128(10, 2)`, `list<utf8>`,
 * `fixed_size_list<float>[128]`, `struct<x: int32, y: utf8>`, `dictionary<int32, utf8>`. A type that this version does
 * not know is formatted as its number.
 */
export function typeText(type: DataType): string {
  if (DataType.isInt(type)) return `${type.isSigned ? '' : 'u'}int${type.bitWidth}`;
  if (DataType.isFloat(type)) return ['halffloat', 'float', 'double'][type.precision] ?? 'float';
  if (DataType.isDecimal(type)) return `decimal${type.bitWidth}(${type.precision}, ${type.scale})`;
  if (DataType.isDate(type)) return type.unit === DateUnit.DAY ? 'date32' : 'date64';
  if (DataType.isTime(type)) return `time${type.bitWidth}[${unitOf(type)}]`;
  if (DataType.isTimestamp(type)) return `timestamp[${unitOf(type)}${type.timezone ? `, ${type.timezone}` : ''}]`;
  if (DataType.isDuration(type)) return `duration[${unitOf(type)}]`;
  if (DataType.isInterval(type)) return `interval[${['year_month', 'day_time', 'month_day_nano'][type.unit] ?? ''}]`;
  if (DataType.isFixedSizeBinary(type)) return `fixed_size_binary[${type.byteWidth}]`;
  if (DataType.isFixedSizeList(type)) return `fixed_size_list<${childTexts(type)[0]}>[${type.listSize}]`;
  if (DataType.isList(type)) return `list<${childTexts(type)[0]}>`;
  if (DataType.isLargeList(type)) return `large_list<${childTexts(type)[0]}>`;
  if (DataType.isStruct(type)) return `struct<${named(type)}>`;
  if (DataType.isMap(type)) return `map<${childTexts(type.childType).join(', ')}>`;
  if (DataType.isDictionary(type)) return dictionaryText(type);
  if (DataType.isUnion(type)) return `${type.mode === UnionMode.Dense ? 'dense' : 'sparse'}_union<${named(type)}>`;
  return plain[type.typeId] ?? `type ${type.typeId}`;
}

const plain: Partial<Record<number, string>> = {
  [Type.Null]: 'null',
  [Type.Bool]: 'bool',
  [Type.Utf8]: 'utf8',
  [Type.LargeUtf8]: 'large_utf8',
  [Type.Utf8View]: 'utf8_view',
  [Type.Binary]: 'binary',
  [Type.LargeBinary]: 'large_binary',
  [Type.BinaryView]: 'binary_view',
};

const dictionaryText = (type: Dictionary): string =>
  `dictionary<${typeText(type.indices as DataType)}, ${typeText(type.dictionary as DataType)}>`;

/** Whether a type is text, in any of Arrow's layouts. */
export const isTextType = (type: DataType): boolean =>
  DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isUtf8View(type);

/** Whether a type is bytes, in any of Arrow's layouts. */
export const isBinaryType = (type: DataType): boolean =>
  DataType.isBinary(type) ||
  DataType.isLargeBinary(type) ||
  DataType.isBinaryView(type) ||
  DataType.isFixedSizeBinary(type);

/** The columns of a schema for the tree and the grid. */
export const columnsOf = (schema: Schema): ColumnInfo[] => schema.fields.map(columnOf);

function columnOf(field: Field): ColumnInfo {
  const { name, type, nullable } = field;
  const blob = blobEncoding(field);
  const fields = blob === undefined && DataType.isStruct(type) ? type.children.map(columnOf) : undefined;
  return { name, type: typeText(type), nullable, ...(blob !== undefined && { blob }), ...(fields && { fields }) };
}

/** Formats the columns of a schema in one line, for comparison and display: `id: int64, name: utf8`. */
export const schemaText = (schema: Schema): string =>
  columnsOf(schema)
    .map(({ name, type }) => `${name}: ${type}`)
    .join(', ');
