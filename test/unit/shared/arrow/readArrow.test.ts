import assert from 'node:assert/strict';
import { Field, Int32, List, makeBuilder, RecordBatch, Schema, Struct, Table, tableToIPC, Utf8, Vector } from '#arrow';
import { readArrow } from '#shared/arrow/readArrow.ts';

const fields = [
  new Field('words', new List(new Field('item', new Utf8(), true)), true),
  new Field('place', new Struct([new Field('x', new Int32(), true)]), true),
];

suite('Arrow data without rows', () => {
  test('has the columns of its schema, also nested ones, if there is no batch', () => {
    const table = readArrow(tableToIPC(new Table(new Schema(fields), []), 'stream'));
    assert.deepEqual(
      table.schema.fields.map(({ type }) => String(type)),
      fields.map(({ type }) => String(type)),
    );
    assert.equal(table.numRows, 0);
  });

  test('keeps the children of nested columns, if its batch is empty', () => {
    const empty = fields.map(({ type }) =>
      makeBuilder({ type, nullValues: [null] })
        .finish()
        .flush(),
    );
    const batch = new RecordBatch(Object.fromEntries(fields.map(({ name }, i) => [name, empty[i]!])));
    const [read] = readArrow(tableToIPC(new Table([batch]), 'stream')).batches;
    const children = read!.data.children.map((data) => data.children.map((child) => new Vector([child]).length));
    assert.deepEqual(children, [[0], [0]]);
  });
});
