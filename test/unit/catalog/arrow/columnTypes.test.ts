import assert from 'node:assert/strict';
import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  Decimal,
  Dictionary,
  DurationMillisecond,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  List,
  Map_,
  Null,
  Schema,
  Struct,
  TimestampNanosecond,
  TimeSecond,
  Uint64,
  Uint8,
  Utf8,
  Utf8View,
} from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { columnTypes } from '#catalog/arrow/columnTypes.ts';

const field = (type: DataType, nullable = false, name = 'column') => new Field(name, type, nullable);
const own = (name: string) => `import("lance-catalog").${name}`;
const struct = new Struct([field(new Int64(), false, 'id'), field(new Utf8(), true, 'two words')]);

/** The type of values, and that with bigints if it differs. */
const expected: [DataType, string, string?][] = [
  [new Null(), 'null'],
  [new Bool(), 'boolean'],
  [new Int32(), 'number'],
  [new Int64(), 'number', 'bigint'],
  [new Uint64(), 'number', 'bigint'],
  [new Float16(), 'number'],
  [new Utf8(), 'string'],
  [new Binary(), 'Uint8Array'],
  [new TimestampNanosecond('UTC'), 'Date'],
  [new DateDay(), 'Date'],
  [new TimeSecond(), own('Time')],
  [new DurationMillisecond(), own('Duration')],
  [new Decimal(2, 10, 128), own('Decimal')],
  [new FixedSizeList(2, field(new Float32(), true)), 'Float32Array'],
  [new FixedSizeList(2, field(new Float16())), 'Float32Array'],
  [new FixedSizeList(2, field(new Float64())), 'Float64Array'],
  [new FixedSizeList(2, field(new Uint8())), 'Uint8Array'],
  [new FixedSizeList(2, field(new Int16())), 'Int16Array'],
  [new FixedSizeList(2, field(new Int64())), 'number[]', 'BigInt64Array'],
  [new FixedSizeList(2, field(new Uint64())), 'number[]', 'BigUint64Array'],
  [new FixedSizeList(2, field(new Utf8())), 'string[]'],
  [new List(field(new Utf8())), 'string[]'],
  [new List(field(new Int64(), true)), '(number | null)[]', '(bigint | null)[]'],
  [struct, '{ id: number; "two words": string | null; }', '{ id: bigint; "two words": string | null; }'],
  [
    new Map_(
      new Field(
        'entries',
        new Struct<{ key: Utf8; value: Int32 }>([new Field('key', new Utf8()), new Field('value', new Int32(), true)]),
      ),
    ),
    'Map<string, number | null>',
  ],
  [new Dictionary(new Utf8(), new Int32()), 'string'],
  [new Utf8View(), 'any'],
];

suite('The TypeScript types of columns', () => {
  for (const [type, usual, withBigints] of expected) {
    test(`are those of the values in rows: ${typeText(type)}`, () => {
      const bigintType = withBigints ?? null;
      assert.deepEqual(columnTypes(new Schema([field(type)])), [{ name: 'column', type: usual, bigintType }]);
    });
  }

  test('have null if the column may hold null', () => {
    const found = columnTypes(new Schema([field(new Int64(), true, 'a'), field(new Null(), true, 'b')]));
    assert.deepEqual(found, [
      { name: 'a', type: 'number | null', bigintType: 'bigint | null' },
      { name: 'b', type: 'null', bigintType: null },
    ]);
  });

  test('are unknown for columns of one name, which rows refuse, and for too many columns', () => {
    assert.equal(columnTypes(new Schema([field(new Bool()), field(new Bool())])), undefined);
    const many = Array.from({ length: 1001 }, (_, index) => field(new Bool(), false, `c${index}`));
    assert.equal(columnTypes(new Schema(many)), undefined);
    assert.equal(columnTypes(new Schema(many.slice(1)))?.length, 1000);
  });
});
