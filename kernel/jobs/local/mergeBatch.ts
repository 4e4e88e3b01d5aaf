import { Field, makeData, RecordBatch, Schema, Struct, type Data } from '#arrow';

/**
 * Builds the source of a merge. Both columns are nullable, because the engine joins the source with rows that have no
 * match.
 */
export function mergeBatch(key: Field, column: Field, keys: Data, values: Data): RecordBatch {
  const schema = new Schema([new Field(key.name, key.type, true), new Field(column.name, column.type, true)]);
  const children = [keys, values];
  return new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: keys.length, nullCount: 0, children }),
  );
}
