import { Field, makeData, RecordBatch, Schema, Struct, type Data } from '#arrow';

/** Keys and values of a column as a merge takes them: the engine pairs them with rows that have none, so both may be null. */
export function mergeBatch(key: Field, column: Field, keys: Data, values: Data): RecordBatch {
  const schema = new Schema([new Field(key.name, key.type, true), new Field(column.name, column.type, true)]);
  const children = [keys, values];
  return new RecordBatch(
    schema,
    makeData({ type: new Struct(schema.fields), length: keys.length, nullCount: 0, children }),
  );
}
