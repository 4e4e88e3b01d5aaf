import { DataType, Precision, type Field, type Schema } from '#arrow';
import { typeText } from '#shared/arrowTypes.ts';

/** The specification's JSON form of an Arrow schema (`JsonArrowSchema`). It names types and drops units and zones. */
export type JsonArrowSchema = { fields: JsonArrowField[]; metadata?: Record<string, string> };
export type JsonArrowField = {
  name: string;
  nullable: boolean;
  type: JsonArrowType;
  metadata?: Record<string, string>;
};
export type JsonArrowType = { type: string; fields?: JsonArrowField[]; length?: number };

export const jsonSchema = (schema: Schema): JsonArrowSchema => ({
  fields: schema.fields.map(jsonField),
  ...metadataOf(schema.metadata),
});

const jsonField = (field: Field): JsonArrowField => ({
  name: field.name,
  nullable: field.nullable,
  type: jsonType(field.type),
  ...metadataOf(field.metadata),
});

const metadataOf = (metadata: Map<string, string>) =>
  metadata.size > 0 ? { metadata: Object.fromEntries(metadata) } : {};

const floats = { [Precision.HALF]: 'float16', [Precision.SINGLE]: 'float32', [Precision.DOUBLE]: 'float64' };

// The names are those that the reference server gives.
function jsonType(type: DataType): JsonArrowType {
  const fields = () => ({ fields: (type.children as readonly Field[]).map(jsonField) });
  if (DataType.isFloat(type)) return { type: floats[type.precision] };
  if (DataType.isFixedSizeBinary(type)) return { type: 'fixed_size_binary', length: type.byteWidth };
  if (DataType.isTimestamp(type)) return { type: 'timestamp' };
  if (DataType.isDuration(type)) return { type: 'duration' };
  if (DataType.isTime(type)) return { type: `time${type.bitWidth}` };
  if (DataType.isDecimal(type)) return { type: `decimal${type.bitWidth}`, length: type.precision * 1000 + type.scale };
  if (DataType.isList(type)) return { type: 'list', ...fields() };
  if (DataType.isFixedSizeList(type)) return { type: 'fixed_size_list', length: type.listSize, ...fields() };
  if (DataType.isStruct(type)) return { type: 'struct', ...fields() };
  if (DataType.isMap(type)) return { type: 'map', ...fields() };
  if (DataType.isDictionary(type)) return jsonType(type.dictionary);
  return { type: typeText(type) };
}
