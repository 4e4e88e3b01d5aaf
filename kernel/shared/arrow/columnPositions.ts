import { type Field, Schema } from '#arrow';

/**
 * Returns the schema in a form that keeps the types of all columns if several columns have the same name. `RecordBatch`
 * passes its columns to `Schema.assign`, and that method merges columns by name. So the first of two columns would get
 * the type of the second, and its values would be read as that type. The returned schema assigns columns by their
 * positions.
 */
export function keepPositions(schema: Schema): Schema {
  if (findDuplicate(schema) === undefined || Object.hasOwn(schema, 'assign')) return schema;
  const assign = (...columns: unknown[]): Schema => {
    const [fields] = columns;
    // Arrow also uses this method to add columns. The added columns have other names, so they are merged by name.
    if (columns.length !== 1 || !isSamePlaces(fields, schema.fields)) {
      return (Schema.prototype.assign as (...args: unknown[]) => Schema).apply(schema, columns);
    }
    return keepPositions(new Schema(fields, schema.metadata, schema.dictionaries, schema.metadataVersion));
  };
  return Object.defineProperty(schema, 'assign', { value: assign, configurable: true });
}

/** Returns a name that several columns of a schema have. */
export function findDuplicate(schema: Schema): string | undefined {
  const names = new Set<string>();
  for (const { name } of schema.fields) {
    if (names.has(name)) return name;
    names.add(name);
  }
  return undefined;
}

const isSamePlaces = (found: unknown, fields: readonly Field[]): found is Field[] =>
  Array.isArray(found) && found.length === fields.length && fields.every(({ name }, i) => found[i]?.name === name);
