import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import {
  Binary,
  Bool,
  type DataType,
  DateDay,
  DateMillisecond,
  Decimal,
  Dictionary,
  Duration,
  Field,
  FixedSizeBinary,
  FixedSizeList,
  Float16,
  Float32,
  Float64,
  Int16,
  Int32,
  Int64,
  Int8,
  LargeBinary,
  LargeList,
  LargeUtf8,
  List,
  Map_,
  Null,
  Schema,
  Struct,
  Time,
  Timestamp,
  TimeUnit,
  Uint16,
  Uint32,
  Uint64,
  Uint8,
  Utf8,
} from '#arrow';
import { jsonSchema, jsonType } from '#catalog/arrow/jsonArrow.ts';
import { typeOfJson } from '#catalog/arrow/jsonArrowTypes.ts';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { isCatalogError } from '#shared/errors.ts';

/** Returns lists of lists with this number of levels. */
function nested(levels: number): unknown {
  let json: unknown = { type: 'int8' };
  for (let level = 0; level < levels; level++) json = { type: 'list', fields: [{ name: 'item', type: json }] };
  return json;
}

type Entries = { key: Utf8; value: Float32 };
const item = new Field('item', new Float32(), true);
const units = [TimeUnit.SECOND, TimeUnit.MILLISECOND, TimeUnit.MICROSECOND, TimeUnit.NANOSECOND];
const types: DataType[] = [
  new Null(),
  new Bool(),
  new Int8(),
  new Int16(),
  new Int32(),
  new Int64(),
  new Uint8(),
  new Uint16(),
  new Uint32(),
  new Uint64(),
  new Float16(),
  new Float32(),
  new Float64(),
  new Utf8(),
  new LargeUtf8(),
  new Binary(),
  new LargeBinary(),
  new FixedSizeBinary(16),
  new DateDay(),
  new DateMillisecond(),
  new Decimal(2, 10, 128),
  new Decimal(-3, 38, 256),
  ...units.map((unit) => new Timestamp(unit)),
  ...units.map((unit) => new Timestamp(unit, 'Europe/Berlin')),
  ...units.map((unit) => new Duration(unit)),
  new Time(TimeUnit.SECOND, 32),
  new Time(TimeUnit.MILLISECOND, 32),
  new Time(TimeUnit.MICROSECOND, 64),
  new Time(TimeUnit.NANOSECOND, 64),
  new List(item),
  new LargeList(item),
  new FixedSizeList(3, item),
  new Struct([new Field('x', new Int32(), false), new Field('y', new List(item), true)]),
  new Map_(
    new Field(
      'entries',
      new Struct<Entries>([new Field('key', new Utf8(), false), new Field('value', new Float32(), true)]),
      false,
    ),
  ),
  new Dictionary(new Utf8(), new Int16()),
  new Dictionary(new Utf8(), new Int8(), undefined, true),
];

suite('the JSON form of Arrow types', () => {
  test('keeps all that is in a type', () => {
    for (const type of types) {
      const back = typeOfJson(JSON.parse(JSON.stringify(jsonType(type))));
      assert.equal(typeText(back), typeText(type));
      assert.deepEqual(jsonType(back), jsonType(type));
    }
  });

  test('has the names and the numbers of the reference server', () => {
    assert.deepEqual(jsonType(new Float32()), { type: 'float32' });
    assert.deepEqual(jsonType(new Decimal(2, 10, 128)), { type: 'decimal128', length: 10_002 });
    assert.deepEqual(jsonType(new FixedSizeBinary(16)), { type: 'fixed_size_binary', length: 16 });
    assert.deepEqual(jsonType(new FixedSizeList(3, item)), {
      type: 'fixed_size_list',
      length: 3,
      fields: [{ name: 'item', nullable: true, type: { type: 'float32' } }],
    });
    assert.equal(jsonType(new Dictionary(new Utf8(), new Int16())).type, 'utf8');
  });

  test('keeps nullability and metadata of columns and of the schema', () => {
    const schema = new Schema(
      [new Field('id', new Int64(), false, new Map([['unit', 'kg']])), new Field('v', new Utf8(), true)],
      new Map([['owner', 'data']]),
    );
    const json = JSON.parse(JSON.stringify(jsonSchema(schema))) as ReturnType<typeof jsonSchema>;
    const back = typeOfJson({ type: 'struct', fields: json.fields }).children;
    assert.deepEqual(
      back.map(({ name, nullable }) => [name, nullable]),
      [
        ['id', false],
        ['v', true],
      ],
    );
    assert.deepEqual([...back[0]!.metadata], [['unit', 'kg']]);
    assert.deepEqual(json.metadata, { owner: 'data' });
  });

  test('may be nested as deep as tables are', () => {
    assert.equal(jsonType(typeOfJson(nested(60))).type, 'list');
  });

  test('without a unit means microseconds', () => {
    assert.equal(typeText(typeOfJson({ type: 'timestamp' })), 'timestamp[us]');
  });

  test('is refused where it is none', () => {
    for (const json of [
      null,
      7,
      {},
      { type: 7 },
      { type: 'blob' },
      { type: 'list' },
      { type: 'list', fields: [{}] },
      { type: 'timestamp', unit: 'h' },
      { type: 'fixed_size_binary', length: -1 },
      { type: 'utf8', keys: { type: 'utf8' } },
      { type: 'fixed_size_binary', length: 2 ** 32 + 4 },
      { type: 'fixed_size_list', length: 2 ** 31, fields: [{ name: 'item', type: { type: 'int8' } }] },
      { type: 'decimal128', length: 39_000 },
      { type: 'decimal32', length: 10_002 },
      { type: 'decimal64', length: 0 },
      nested(65),
      nested(15_000),
    ]) {
      assert.throws(
        () => typeOfJson(json),
        (error) => isCatalogError(error, 'InvalidInput'),
        inspect(json),
      );
    }
  });
});
