import assert from 'node:assert/strict';
import {
  Dictionary,
  Field,
  Int32,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableFromIPC,
  tableToIPC,
  Utf8,
} from '#arrow';

const emptyBatch = (schema: Schema): RecordBatch => {
  const children = schema.fields.map(({ type }) => makeData({ type, length: 0 } as never));
  return new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length: 0, nullCount: 0, children }));
};

suite('Schemas of Arrow', () => {
  test('of twenty thousand columns are read in the time of a few', function () {
    this.timeout(20_000);
    const fields = Array.from({ length: 20_000 }, (_, at) => new Field(`column ${at}`, new Int32(), true));
    const bytes = tableToIPC(new Table([emptyBatch(new Schema(fields))]));
    const before = process.cpuUsage();
    assert.equal(tableFromIPC(bytes).schema.fields.length, fields.length);
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 1_000_000, `${(user + system) / 1000} ms`);
  });

  test('keep what is said of the schema and of its columns in a batch', () => {
    const words = new Dictionary(new Utf8(), new Int32(), 7);
    const said = new Map([['unit', 'kg']]);
    const schema = new Schema(
      [new Field('a', new Int32(), false, said), new Field('b', words, true)],
      new Map([['x', 'y']]),
    );
    const { schema: kept } = emptyBatch(schema);
    assert.deepEqual([kept.fields[0]?.nullable, [...kept.fields[0]!.metadata]], [false, [...said]]);
    assert.deepEqual([[...kept.metadata], [...kept.dictionaries.keys()]], [[['x', 'y']], [7]]);
    assert.notEqual(kept.fields[0]?.metadata, said, 'what is changed in one is not changed in the other');
  });

  test('take fields of others as before', () => {
    const one = new Schema([new Field('a', new Int32()), new Field('b', new Int32())]);
    const both = one.assign(new Field('b', new Utf8(), true), new Field('c', new Int32()));
    assert.equal(both.fields.map(String).join(), 'a: Int32,b: Utf8,c: Int32');
    assert.equal(new Schema([...one.fields, one.fields[0]!]).assign([...one.fields]).fields.length, 3);
  });
});
