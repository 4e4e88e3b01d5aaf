import assert from 'node:assert/strict';
import {
  Bool,
  type DataType,
  Decimal,
  Dictionary,
  Field,
  FixedSizeList,
  Float32,
  Int16,
  Int32,
  Int64,
  LargeUtf8,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimestampMicrosecond,
  Utf8,
  vectorFromArray,
} from '#arrow';
import { joinBatches } from '#catalog/arrow/joinBatches.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';

const rows = 1000;
const item = (type: DataType) => new Field('item', type, true);

/** Each type, with a function that returns the value of a row. */
const columns: readonly (readonly [DataType, (row: number) => unknown])[] = [
  [new Int32(), (row) => row - 7],
  [new Int64(), (row) => BigInt(row) * 1_000_000_007n],
  [new Bool(), (row) => row % 3 === 0],
  [new Utf8(), (row) => 'ü'.repeat(row % 5)],
  [new LargeUtf8(), (row) => `text ${row}`],
  [new Decimal(3, 20, 128), (row) => new Uint32Array([row, 0, 0, 0])],
  [new TimestampMicrosecond(), (row) => row * 1000],
  [new FixedSizeList(3, item(new Float32())), (row) => [row, row / 2, row % 4 ? 1 : null]],
  [new List(item(new Utf8())), (row) => Array.from({ length: row % 4 }, (_, at) => (at === 1 ? null : `${row} ${at}`))],
  [
    new Struct([new Field('a', new Int16(), true), new Field('b', new Bool(), true)]),
    (row) => ({ a: row % 6 ? row : null, b: row % 2 === 0 }),
  ],
];

suite('joining the batches that are written back', () => {
  for (const [type, valueOf] of columns) {
    test(`stretches of ${typeText(type)} become one batch with the same values`, () => {
      const schema = new Schema([new Field('value', type, true)]);
      const vector = vectorFromArray(
        Array.from({ length: rows }, (_, row) => (row % 11 === 0 ? null : valueOf(row))),
        type,
      );
      const batches = stretches(schema, vector.data[0]!);
      const joined = joinBatches(batches);
      assert.equal(joined.length, 1);
      const text = (some: readonly RecordBatch[]) =>
        new Table(schema, [...some]).toArray().map((row) => (row as { toString(): string }).toString());
      assert.equal(
        new Table(schema, joined).numRows,
        batches.reduce((total, { numRows }) => total + numRows, 0),
      );
      assert.deepEqual(text(joined), text(batches));
    });
  }

  test('values of a dictionary stay in the batches they are in', () => {
    const type = new Dictionary(new Utf8(), new Int32());
    const batches = stretches(
      new Schema([new Field('value', type, true)]),
      vectorFromArray(
        Array.from({ length: rows }, () => 'a'),
        type,
      ).data[0]!,
    );
    assert.deepEqual(joinBatches(batches), batches);
  });

  test('batches with rows enough are not copied', () => {
    const schema = new Schema([new Field('value', new Int32(), true)]);
    const data = vectorFromArray(new Int32Array(5000)).data[0]!;
    const batch = new RecordBatch(
      schema,
      makeData({ type: new Struct(schema.fields), length: 5000, nullCount: 0, children: [data] }),
    );
    assert.deepEqual(joinBatches([batch, batch]), [batch, batch]);
  });
});

/** Returns batches of one to eight rows, with a skipped row between them. */
function stretches(schema: Schema, data: ReturnType<typeof makeData>): RecordBatch[] {
  const batches: RecordBatch[] = [];
  for (let row = 3; row < rows - 10; row += 2 + (row % 8)) {
    const length = 1 + (row % 8);
    const children = [data.slice(row, length)];
    batches.push(
      new RecordBatch(schema, makeData({ type: new Struct(schema.fields), length, nullCount: 0, children })),
    );
  }
  return batches;
}
