import { DataType, type Field, type Schema } from '#arrow';
import { type JsonArrowField, type JsonArrowSchema, jsonType } from '#catalog/arrow/jsonArrow.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import type { Json } from './requestBody.ts';

// Lance's own type names, such as `timestamp:us:UTC`. LanceDB's remote client reads and writes schemas with these
// names. The specification has other names, and fields for units and time zones.

/** A type in the JSON of LanceDB's remote client. */
type LanceType = { type: string; fields?: JsonArrowField[]; length?: number };

/**
 * Converts a schema to JSON with Lance's type names.
 * @param table the name of the table, for errors
 * @throws CatalogError Unsupported (0) for a column whose type has no such name
 */
export const lanceSchema = (schema: Schema, table: string): JsonArrowSchema => ({
  fields: schema.fields.map((field) => lanceField(field, { table, parents: [] })),
  ...metadataOf(schema.metadata),
});

type Location = { readonly table: string; readonly parents: readonly string[] };

function lanceField(field: Field, { table, parents }: Location): JsonArrowField {
  const path = [...parents, field.name];
  return {
    name: field.name,
    nullable: field.nullable,
    type: lanceType(field.type, { table, parents: path }),
    ...metadataOf(field.metadata),
  };
}

const metadataOf = (metadata: Map<string, string>) =>
  metadata.size > 0 ? { metadata: Object.fromEntries(metadata) } : {};

function lanceType(type: DataType, location: Location): LanceType {
  const fields = () => (type.children as readonly Field[]).map((field) => lanceField(field, location));
  if (DataType.isList(type)) return { type: 'list', fields: fields() };
  if (DataType.isLargeList(type)) return { type: 'large_list', fields: fields() };
  if (DataType.isFixedSizeList(type)) return { type: 'fixed_size_list', length: type.listSize, fields: fields() };
  if (DataType.isStruct(type)) return { type: 'struct', fields: fields() };
  if (DataType.isFixedSizeBinary(type)) return { type: 'fixed_size_binary', length: type.byteWidth };
  if (DataType.isDictionary(type)) {
    const [values, keys] = [scalarName(type.dictionary as DataType), scalarName(type.indices as DataType)];
    if (values !== undefined && keys !== undefined) return { type: `dict:${values}:${keys}:false` };
  }
  return { type: scalarName(type) ?? withoutName(type, location) };
}

const otherNames: Readonly<Record<string, string>> = {
  utf8: 'string',
  utf8_view: 'string',
  large_utf8: 'large_string',
  binary_view: 'binary',
  float16: 'halffloat',
  float32: 'float',
  float64: 'double',
  date32: 'date32:day',
  date64: 'date64:ms',
};
const sameNames = new Set(['null', 'bool', 'binary', 'large_binary']);

/** Returns the name of a type without children; `undefined` if there is none. */
function scalarName(type: DataType): string | undefined {
  if (DataType.isDecimal(type)) {
    const { bitWidth, precision, scale } = type;
    return bitWidth === 128 || bitWidth === 256 ? `decimal:${bitWidth}:${precision}:${scale}` : undefined;
  }
  if (DataType.isInt(type)) return typeText(type);
  const { type: name, unit, timezone, keys } = jsonType(type);
  if (keys) return undefined;
  if (name === 'timestamp') return `timestamp:${unit}:${timezone ?? '-'}`;
  if (name === 'time32' || name === 'time64' || name === 'duration') return `${name}:${unit}`;
  return otherNames[name] ?? (sameNames.has(name) ? name : undefined);
}

/** @throws CatalogError Unsupported (0), always */
function withoutName(type: DataType, { table, parents }: Location): never {
  throw new CatalogError(
    'Unsupported',
    `Can't describe table "${table}" to LanceDB's remote client: column "${parents.join('.')}" has the type ${typeText(type)}, which has no name in its protocol.`,
    'Open this table with connectNamespace("rest", …), or with the client lance_namespace in Python.',
  );
}

const unit = '(s|ms|us|ns)';
const patterns = {
  timestamp: new RegExp(`^timestamp:${unit}:(.+)$`),
  time: new RegExp(`^(time32|time64|duration):${unit}$`),
  date: /^(date32|date64):(?:day|ms)$/,
  decimal: /^decimal:(128|256):(\d{1,3}):(-?\d{1,3})$/,
  dictionary: /^dict:(.+):(u?int\d{1,2}):(?:false|true)$/,
};

/**
 * Converts the JSON form of a type with Lance's names to that of the specification. Other forms are returned as they
 * are; the reader of the specification's form checks them.
 */
export function typeOfLance(json: unknown): unknown {
  if (!isRecord(json) || typeof json['type'] !== 'string') return json;
  const { type, fields } = json;
  if (Array.isArray(fields)) {
    const converted = fields.map((field: unknown) =>
      isRecord(field) ? { ...field, type: typeOfLance(field['type']) } : field,
    );
    return { ...json, fields: converted };
  }
  const [, values, keys] = patterns.dictionary.exec(type) ?? [];
  return values === undefined ? { ...json, ...scalarOfName(type) } : { ...scalarOfName(values), keys: { type: keys } };
}

function scalarOfName(name: string): Json {
  const timestamp = patterns.timestamp.exec(name);
  if (timestamp) {
    const [, word, zone] = timestamp;
    return { type: 'timestamp', unit: word, ...(zone !== '-' && { timezone: zone }) };
  }
  const time = patterns.time.exec(name);
  if (time) return { type: time[1], unit: time[2] };
  const decimal = patterns.decimal.exec(name);
  if (decimal) return { type: `decimal${decimal[1]}`, length: Number(decimal[2]) * 1000 + Number(decimal[3]) };
  return { type: patterns.date.exec(name)?.[1] ?? name };
}
