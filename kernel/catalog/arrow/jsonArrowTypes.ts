import {
  Decimal,
  Dictionary,
  Duration,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Int16,
  Int32,
  Int8,
  LargeList,
  List,
  Map_,
  Null,
  Schema,
  Struct,
  Time,
  TimeUnit,
  Timestamp,
  Uint16,
  Uint32,
  Uint8,
  type DataType,
} from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import { asRecord, isRecord } from '#shared/records.ts';
import { plainTypeOf, timeUnits } from './plainTypes.ts';

// Reads the JSON form of a schema that jsonArrow.ts writes. The JSON arrives from other processes, so everything in it
// is checked.

/** Maximum nesting depth of a type. Real tables have less; the call stack allows far more. */
const maxDepth = 64;

/** Maximum precision of a decimal by its bit width. */
const maxDigits: Readonly<Record<number, number>> = { 32: 9, 64: 18, 128: 38, 256: 76 };

/**
 * Converts a type from its JSON form, for instance `{ type: "timestamp", unit: "ms" }`. The default unit is
 * microseconds, as in the specification's reference server.
 * @throws CatalogError InvalidInput (13)
 */
export const typeOfJson = (json: unknown): DataType => typeAt(json, 0);

/** Types whose JSON form is incomplete without this field. */
const details: Readonly<Record<string, string>> = {
  timestamp: 'unit',
  duration: 'unit',
  time32: 'unit',
  time64: 'unit',
  decimal: 'length',
};

/** Returns the name of the first type in a JSON form that lacks a detail, such as the unit of a timestamp. */
function incompleteType(json: unknown, depth = 0): string | undefined {
  if (!isRecord(json) || typeof json['type'] !== 'string' || depth > maxDepth) return undefined;
  const { type, fields } = json;
  const detail = Object.hasOwn(details, type) ? details[type]! : undefined;
  if (detail !== undefined && (json[detail] ?? undefined) === undefined) return type;
  const children = Array.isArray(fields) ? fields : [];
  return children.map((field) => incompleteType(asRecord(field)['type'], depth + 1)).find((name) => name !== undefined);
}

/**
 * Converts a schema from its JSON form.
 * @param incomplete returns the error for a column whose type is not complete; the default units would be a guess
 * @throws CatalogError InvalidInput (13), or what `incomplete` returns
 */
export function schemaOfJson(json: unknown, incomplete: (column: string, type: string) => CatalogError): Schema {
  const fields = jsonFields(json);
  for (const { name, type } of fields) {
    const lacking = incompleteType(type);
    if (lacking !== undefined) throw incomplete(name, lacking);
  }
  return new Schema(fieldsOfJson(fields, 0), metadataOfJson(asRecord(json)['metadata']));
}

/**
 * Returns the columns of a schema in JSON form. A type that is incomplete, or that this version does not know, keeps
 * its name.
 */
export const columnsOfJson = (json: unknown): ColumnInfo[] =>
  jsonFields(json).map(({ name, type, nullable }) => ({
    name,
    type: jsonTypeText(type),
    nullable: nullable !== false,
  }));

function jsonTypeText(json: unknown, depth = 0): string {
  if (depth > maxDepth) return wrong(`a type with at most ${maxDepth} levels`);
  if (!isRecord(json) || typeof json['type'] !== 'string') return wrong('an Arrow type');
  try {
    if (incompleteType(json) === undefined) return typeText(typeOfJson(json));
  } catch (error) {
    if (!isCatalogError(error)) throw error;
  }
  const { type, fields, length } = json;
  const children = Array.isArray(fields) ? fields.map((field) => jsonTypeText(asRecord(field)['type'], depth + 1)) : [];
  const of = children.length > 0 ? `<${children.join(', ')}>` : '';
  return `${type}${of}${typeof length === 'number' ? `[${length}]` : ''}`;
}

type JsonField = { readonly name: string; readonly type: unknown; readonly nullable?: unknown };

const isJsonField = (field: unknown): field is JsonField => isRecord(field) && typeof field['name'] === 'string';

function jsonFields(json: unknown): readonly JsonField[] {
  const { fields } = asRecord(json);
  return Array.isArray(fields) && fields.every(isJsonField) ? fields : wrong('a list of fields with names');
}

function typeAt(json: unknown, depth: number): DataType {
  if (depth > maxDepth) return wrong(`a type with at most ${maxDepth} levels`);
  if (!isRecord(json) || typeof json['type'] !== 'string') return wrong('an Arrow type');
  const values = valueTypeOf(json['type'].toLowerCase(), json, depth);
  if (json['keys'] === undefined) return values;
  const keys = typeAt(json['keys'], depth + 1);
  if (!isKeyType(keys)) return wrong('an integer type for the keys of a dictionary');
  return new Dictionary(values, keys, undefined, json['ordered'] === true);
}

function valueTypeOf(name: string, json: Record<string, unknown>, depth: number): DataType {
  if (name === 'null') return new Null();
  const plain = plainTypeOf(name);
  if (plain) return plain;
  const length = lengthOf(json);
  const child = () => fieldsOfJson(json['fields'], depth + 1)[0] ?? wrong(`a ${name} with fields`);
  switch (name) {
    case 'timestamp': {
      const zone = json['timezone'];
      return new Timestamp(unitOf(json), typeof zone === 'string' ? zone : null);
    }
    case 'duration':
      return new Duration(unitOf(json));
    case 'time32':
      return new Time(unitOf(json, TimeUnit.MILLISECOND), 32);
    case 'time64':
      return new Time(unitOf(json), 64);
    case 'decimal32':
    case 'decimal64':
    case 'decimal128':
    case 'decimal256':
      return decimalOf(Number(name.slice('decimal'.length)), length);
    case 'fixed_size_binary':
      return new FixedSizeBinary(length);
    case 'fixed_size_list':
      return new FixedSizeList(length, child());
    case 'list':
      return new List(child());
    case 'large_list':
      return new LargeList(child());
    case 'struct':
      return new Struct(fieldsOfJson(json['fields'], depth + 1));
    case 'map': {
      const entries = child();
      return isEntries(entries) ? new Map_(entries, json['keysSorted'] === true) : wrong('a map with keys and values');
    }
    default:
      return wrong(`an Arrow type, got "${name.slice(0, 100)}"`);
  }
}

function decimalOf(bitWidth: number, encoded: number): Decimal {
  // `encoded` is precision × 1000 + scale. A negative scale (at least -128) makes `encoded` smaller than precision ×
  // 1000; adding 128 before the division corrects this.
  const precision = Math.floor((encoded + 128) / 1000);
  const digits = maxDigits[bitWidth]!;
  if (precision < 1 || precision > digits) return wrong(`a decimal with 1 to ${digits} digits`);
  return new Decimal(encoded - precision * 1000, precision, bitWidth);
}

function unitOf(json: Record<string, unknown>, absent: TimeUnit = TimeUnit.MICROSECOND): TimeUnit {
  const word = json['unit'];
  if (word === undefined || word === null) return absent;
  return typeof word === 'string' && Object.hasOwn(timeUnits, word)
    ? timeUnits[word]!
    : wrong('a unit: s, ms, us or ns');
}

function lengthOf(json: Record<string, unknown>): number {
  const length = json['length'] ?? 0;
  return typeof length === 'number' && Number.isInteger(length) && length >= 0 && length < 2 ** 31
    ? length
    : wrong('a length');
}

function fieldsOfJson(json: unknown, depth: number): Field[] {
  if (!Array.isArray(json)) return wrong('a list of fields');
  return json.map((field: unknown) => {
    if (!isRecord(field) || typeof field['name'] !== 'string') return wrong('a field with a name');
    return new Field(
      field['name'],
      typeAt(field['type'], depth),
      field['nullable'] !== false,
      metadataOfJson(field['metadata']),
    );
  });
}

function metadataOfJson(json: unknown): Map<string, string> {
  if (json === undefined || json === null) return new Map();
  if (!isRecord(json)) return wrong('metadata');
  return new Map(
    Object.entries(json).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : wrong('strings in the metadata'),
    ]),
  );
}

type Keys = Int8 | Int16 | Int32 | Uint8 | Uint16 | Uint32;
const isKeyType = (type: DataType): type is Keys =>
  type instanceof Int8 ||
  type instanceof Int16 ||
  type instanceof Int32 ||
  type instanceof Uint8 ||
  type instanceof Uint16 ||
  type instanceof Uint32;

const isEntries = (field: Field): field is Field<Struct<{ key: DataType; value: DataType }>> =>
  field.type instanceof Struct && field.type.children.length === 2;

function wrong(wanted: string): never {
  throw new CatalogError('InvalidInput', `Can't read the JSON form of an Arrow schema: expected ${wanted}.`, '');
}
