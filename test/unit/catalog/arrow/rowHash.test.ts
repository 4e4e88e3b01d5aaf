import assert from 'node:assert/strict';
import {
  Binary,
  Bool,
  type DataType,
  Decimal,
  Dictionary,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  Int64,
  LargeUtf8,
  List,
  makeData,
  makeVector,
  Struct,
  Table,
  tableFromIPC,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from '#arrow';
import { RowChecksum } from '#catalog/arrow/rowHash.ts';

/** Returns the checksum of a table after it was serialized and read. */
function sumOf(...tables: Table[]): string {
  const sum = new RowChecksum();
  for (const table of tables)
    for (const batch of tableFromIPC(tableToIPC(table, 'stream')).batches) if (batch.numRows > 0) sum.add(batch);
  return sum.value;
}

const column = (type: DataType, values: readonly unknown[]): Table => new Table({ x: vectorFromArray(values, type) });
const of = (type: DataType, ...values: unknown[]): string => sumOf(column(type, values));

const vector = (size: number): DataType => new FixedSizeList(size, new Field('item', new Float32(), true));
const texts = (): DataType => new List(new Field('item', new Utf8(), true));

/** Different values of each type. */
const kinds: readonly [name: string, type: DataType, values: readonly unknown[]][] = [
  ['int32', new Int32(), [1, 2, -1, 0, null]],
  ['int64', new Int64(), [1n, 2n ** 40n, -1n, 0n, null]],
  ['float64', new Float64(), [1.5, -1.5, 0, Number.MIN_VALUE, null]],
  ['bool', new Bool(), [true, false, null]],
  ['utf8', new Utf8(), ['', 'a', 'ab', 'ba', 'a longer one', 'a longer onf', null]],
  ['binary', new Binary(), [Uint8Array.of(), Uint8Array.of(0), Uint8Array.of(0, 0), Uint8Array.of(1), null]],
  ['list', texts(), [[], [''], ['a', 'b'], ['ab'], ['b', 'a'], [null], null]],
  ['vector', vector(3), [[1, 2, 3], [3, 2, 1], [0, 0, 0], [1, null, 3], null]],
  ['dictionary', new Dictionary(new Utf8(), new Int32()), ['a', 'b', null]],
  [
    'decimal',
    new Decimal(2, 10, 128),
    [Uint32Array.of(125, 0, 0, 0), Uint32Array.of(125, 0, 0, 1), new Uint32Array(4), null],
  ],
  [
    'struct',
    new Struct([new Field('a', new Int32(), true), new Field('b', new Int32(), true)]),
    [{ a: 1, b: 2 }, { a: 2, b: 1 }, { a: null, b: null }, { a: 1, b: null }, null],
  ],
];

suite('The checksum of rows', () => {
  for (const [name, type, values] of kinds) {
    test(`tells the values of ${name} apart`, () => {
      const sums = values.map((value) => of(type, value));
      assert.equal(new Set(sums).size, values.length, sums.join('\n'));
    });

    test(`of ${name} is the same however the rows are cut into batches`, () => {
      const whole = of(type, ...values);
      assert.equal(sumOf(...values.map((value) => column(type, [value]))), whole);
      assert.equal(sumOf(column(type, values.slice(1)), column(type, values.slice(0, 1))), whole);
    });

    test(`of ${name} is the same for a slice of a batch`, () => {
      const table = column(type, values);
      const sum = new RowChecksum();
      for (const batch of table.slice(1).batches) sum.add(batch);
      assert.equal(sum.value, of(type, ...values.slice(1)));
    });
  }

  test('counts a row that is twice there twice', () => {
    assert.notEqual(of(new Int32(), 1, 2, 2), of(new Int32(), 1, 1, 2));
    assert.notEqual(of(new Int32(), 1, 2), of(new Int32(), 1, 1, 2));
  });

  test('does not mix up the columns of a row', () => {
    const one = new Table({ a: vectorFromArray([1, 2], new Int32()), b: vectorFromArray([3, 4], new Int32()) });
    const other = new Table({ a: vectorFromArray([3, 4], new Int32()), b: vectorFromArray([1, 2], new Int32()) });
    const crossed = new Table({ a: vectorFromArray([1, 2], new Int32()), b: vectorFromArray([4, 3], new Int32()) });
    assert.equal(new Set([one, other, crossed].map((table) => sumOf(table))).size, 3);
  });

  test('is of values and not of how they are stored', () => {
    const words = ['a', null, 'bc', 'a'];
    const plain = of(new Utf8(), ...words);
    assert.equal(of(new LargeUtf8(), ...words), plain);
    assert.equal(of(new Dictionary(new Utf8(), new Int32()), ...words), plain);
  });

  test('does not look at what lies under a null', () => {
    const sums = [9, 7].map((hidden) => {
      const data = makeData({
        type: new Int32(),
        length: 3,
        nullCount: 1,
        nullBitmap: Uint8Array.of(0b101),
        data: Int32Array.of(1, hidden, 3),
      });
      return sumOf(new Table({ x: makeVector(data) }));
    });
    assert.equal(sums[0], sums[1]);
    assert.equal(sums[0], of(new Int32(), 1, null, 3));
  });

  test('notices one flipped bit among a million rows', () => {
    const values = Float64Array.from({ length: 1_000_000 }, (_, row) => row / 3);
    const before = new RowChecksum();
    for (const batch of new Table({ x: vectorFromArray(values) }).batches) before.add(batch);
    new Uint8Array(values.buffer)[4_000_001]! ^= 1;
    const after = new RowChecksum();
    for (const batch of new Table({ x: vectorFromArray(values) }).batches) after.add(batch);
    assert.notEqual(after.value, before.value);
    assert.equal(after.rows, 1_000_000);
  });
});
