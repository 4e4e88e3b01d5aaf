import {
  Binary,
  Bool,
  DateDay,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  Schema,
  TimestampMicrosecond,
  Utf8,
  type DataType,
} from '#arrow';
import { CatalogError } from '#shared/errors.ts';

// Parses the columns of a new table as the user types them: `id int64, note string, embedding vector[768]`.

const types: Record<string, () => DataType> = {
  int8: () => new Int8(),
  int16: () => new Int16(),
  int32: () => new Int32(),
  int64: () => new Int64(),
  float32: () => new Float32(),
  float64: () => new Float64(),
  bool: () => new Bool(),
  string: () => new Utf8(),
  binary: () => new Binary(),
  date: () => new DateDay(),
  timestamp: () => new TimestampMicrosecond('UTC'),
};

export const columnTypes = `${Object.keys(types).join(', ')}, vector[768]`;

/** Maximum length of a vector; no model produces longer vectors. */
const maxDimensions = 65_536;

/** Returns the error message for invalid columns; `undefined` if the columns are valid. */
export function columnsProblem(text: string): string | undefined {
  const read = readColumns(text);
  return typeof read === 'string' ? read : undefined;
}

/** Parses a schema. @throws CatalogError InvalidInput (13) if the text is not valid */
export function schemaOf(text: string): Schema {
  const read = readColumns(text);
  if (typeof read === 'string') throw new CatalogError('InvalidInput', read, '');
  return new Schema(read);
}

function readColumns(text: string): Field[] | string {
  const fields: Field[] = [];
  for (const part of text.split(',')) {
    const [, name, typeName, more] = /^\s*(\S+)\s*(\S*)\s*(.*)$/.exec(part) ?? [];
    if (name === undefined) return 'Write a name and a type for each column, for instance: id int64, note string.';
    if (!typeName) return `The column "${name}" needs a type: ${columnTypes}.`;
    if (more) {
      return typeOf(typeName.toLowerCase())
        ? `Write a comma after "${name} ${typeName}".`
        : `Expected a name without spaces and a type, got "${part.trim()}".`;
    }
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      return `Expected a column name of letters, digits and "_" that does not start with a digit, got "${name}".`;
    if (fields.some((field) => field.name === name)) return `Two columns have the name "${name}".`;
    const type = typeOf(typeName.toLowerCase());
    if (!type) return `Expected a type for the column "${name}", got "${typeName}". Use one of ${columnTypes}.`;
    fields.push(new Field(name, type, true));
  }
  return fields;
}

function typeOf(name: string): DataType | undefined {
  const dimensions = Number(/^vector\[(\d{1,6})\]$/.exec(name)?.[1]);
  if (dimensions > 0 && dimensions <= maxDimensions) {
    return new FixedSizeList(dimensions, new Field('item', new Float32(), true));
  }
  return Object.hasOwn(types, name) ? types[name]?.() : undefined;
}
