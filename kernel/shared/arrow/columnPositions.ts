import { type Field, Schema } from '#arrow';

/**
 * Returns the schema in a form that keeps the types of all columns if several columns have the same name. `RecordBatch`
 * passes its columns to `Schema.assign`, which merges them by name: the first of two columns would get the type of the
 * second, and its values would be read as that type. Such columns differ in their positions only.
 */
export function keepPositions(schema: Schema): Schema {
  if (findDuplicate(schema) === undefined || Object.hasOwn(schema, 'assign')) return schema;
  const assign = (...columns: unknown[]): Schema => {
    const [fields] = columns;
    // Arrow adds columns by the same method; the names of those decide.
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
