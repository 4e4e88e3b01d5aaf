import { Field, makeData, RecordBatch, Schema, Struct, type Data } from '#arrow';

/**
 * Builds the batch of keys and values for a merge. Both are nullable, because the engine joins them with rows that
 * have none.
 */
export function mergeBatch(key: Field, column: Field, keys: Data, values: Data): RecordBatch {
  const schema = new Schema([new Field(key.name, key.type, true), new Field(column.name, column.type, true)]);
  const children = [keys, values];
  return new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: keys.length, nullCount: 0, children }),
  );
}
