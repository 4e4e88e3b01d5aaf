import {
  type Data,
  DenseUnion,
  Field,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from '#arrow';
import { streamOf } from './gridRows.ts';

/** Returns a saved output with this number of rows of the tests' own table. */
export const base64 = (rows: number): string => Buffer.from(streamOf(0, rows)).toString('base64');

/** Returns a saved output of one row with these columns. */
export function outputOf(columns: readonly (readonly [name: string, data: Data])[]): string {
  const schema = new Schema(columns.map(([name, { type }]) => new Field(name, type, true)));
  const children = columns.map(([, data]) => data);
  const row = makeData({ type: new Struct(schema.fields), length: 1, nullCount: 0, children });
  return Buffer.from(tableToIPC(new Table(schema, [new RecordBatch(schema, row)]), 'stream')).toString('base64');
}

export const utf8 = (value: string): Data => vectorFromArray([value], new Utf8()).data[0]!;

/** Returns a column that can be read but not drawn, because its row has a type that is not in the union. */
export function senseless(): Data {
  const type = new DenseUnion([0], [new Field('text', new Utf8(), true)]);
  return makeData({ type, length: 1, typeIds: Int8Array.of(5), valueOffsets: Int32Array.of(0), children: [utf8('x')] });
}
