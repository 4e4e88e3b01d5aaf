import assert from 'node:assert/strict';
import * as a from '#arrow';
import { columnsOf, typeText } from '#shared/arrow/arrowTypes.ts';
import { columnFormatter, displayLimits, unlimited } from '#shared/format/cellText.ts';
import { field, item, of, texts } from './formattedColumns.ts';

const formatValue = (vector: a.Vector, row: number, options?: Parameters<typeof columnFormatter>[1]) =>
  columnFormatter(vector, options)(row);

/** Returns one list of the first values of a column. */
const listOf = (child: a.Data, length: number): a.Data<a.List> =>
  a.makeData({
    type: new a.List(item(child.type)),
    length: 1,
    nullCount: 0,
    valueOffsets: Int32Array.of(0, length),
    child,
  });

suite('Strings, bytes and nested values as text', () => {
  test('a null is told from the string "null"', () => {
    const column = of(new a.Utf8(), ['null', null]);
    assert.deepEqual(formatValue(column, 0), { kind: 'text', text: 'null' });
    assert.deepEqual(formatValue(column, 1), { kind: 'null', text: 'null' });
  });

  test('strings are kept as they are, with a byte order mark too', () => {
    const values = ['', 'größer', '\uFEFFx', 'a\nb', '😀'];
    assert.deepEqual(texts(of(new a.Utf8(), values)), values);
    assert.deepEqual(texts(of(new a.LargeUtf8(), values)), values);
    assert.deepEqual(texts(of(new a.Utf8View(), [...values, 'longer than twelve bytes'])), [
      ...values,
      'longer than twelve bytes',
    ]);
  });

  test('a long string is cut between characters and says its size', () => {
    const limits = { ...unlimited, chars: 3 };
    assert.deepEqual(texts(of(new a.Utf8(), ['abc', 'ab😀d', 'x'.repeat(5000)]), limits), [
      'abc',
      'ab… (7 bytes)',
      'xxx… (5,000 bytes)',
    ]);
  });

  test('bytes are hex, a long value its head and size', () => {
    const values = [Uint8Array.of(0, 255), Uint8Array.of(), null];
    assert.deepEqual(texts(of(new a.Binary(), values)), ['0x00ff', '0x', '∅']);
    assert.deepEqual(texts(of(new a.LargeBinary(), values)), ['0x00ff', '0x', '∅']);
    assert.equal(formatValue(of(new a.Binary(), [new Uint8Array(1234)]), 0).text, '0x0000000000000000… (1,234 bytes)');
    assert.deepEqual(texts(of(new a.FixedSizeBinary(2), [Uint8Array.of(1, 2)])), ['0x0102']);
  });

  test('pictures are known by their first bytes or by their field', () => {
    const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1);
    const webp = new TextEncoder().encode('RIFF0000WEBP');
    const kinds = [
      png,
      Uint8Array.of(0xff, 0xd8, 0xff),
      new TextEncoder().encode('GIF89a'),
      webp,
      new TextEncoder().encode('RIFF0000WAVE'),
    ];
    const read = columnFormatter(of(new a.Binary(), kinds));
    assert.deepEqual(
      kinds.map((_, row) => read(row).text),
      [
        'image/png, 9 bytes',
        'image/jpeg, 3 bytes',
        'image/gif, 6 bytes',
        'image/webp, 12 bytes',
        '0x5249464630303030… (12 bytes)',
      ],
    );
    const declared = new a.Field('p', new a.Binary(), true, new Map([['mime', 'image/avif']]));
    const cell = formatValue(of(new a.Binary(), [Uint8Array.of(1)]), 0, { field: declared });
    assert.equal(cell.kind === 'image' && cell.mime, 'image/avif');
    const script = new a.Field('p', new a.Binary(), true, new Map([['mime', 'text/html']]));
    assert.equal(formatValue(of(new a.Binary(), [Uint8Array.of(1)]), 0, { field: script }).kind, 'binary');
  });

  test('vectors are numbers, short when there are many', () => {
    const type = new a.FixedSizeList(5, item(new a.Float32()));
    const column = of(type, [[0.1, 1, -2.5, 3, 123.456], null, [NaN, 1, 2, 3, null]]);
    assert.deepEqual(texts(column), ['[0.1, 1, -2.5, 3, 123.456]', '∅', '[NaN, 1, 2, 3, null]']);
    const cell = formatValue(column, 0);
    assert.equal(cell.text, '[0.1, 1, -2.5, 3, …] 5');
    assert.equal(cell.kind === 'vector' && cell.values[4], Math.fround(123.456));
    assert.deepEqual(texts(column.slice(2, 3)), ['[NaN, 1, 2, 3, null]']);
  });

  test('lists, structs and maps quote their strings', () => {
    assert.deepEqual(texts(of(new a.List(item(new a.Utf8())), [['a"b', null, 'null'], null, []])), [
      '["a\\"b", null, "null"]',
      '∅',
      '[]',
    ]);
    assert.deepEqual(texts(of(new a.LargeList(item(new a.Int32())), [[1, 2], []])), ['[1, 2]', '[]']);
    assert.deepEqual(texts(of(new a.FixedSizeList(2, item(new a.Int64())), [[1n, 2n]])), ['[1, 2]']);
    const bytes = of(new a.FixedSizeList(6, item(new a.Int8())), [[-128, 127, 3, 4, 5, 6]]);
    assert.deepEqual(texts(bytes, displayLimits), ['[-128, 127, 3, 4, …] 6']);
    const struct = new a.Struct([field('x', new a.Int32()), field('two words', new a.Utf8())]);
    assert.deepEqual(texts(of(struct, [{ x: 1, 'two words': 'q' }, null, { x: null, 'two words': null }])), [
      '{x: 1, "two words": "q"}',
      '∅',
      '{x: null, "two words": null}',
    ]);
    const entries = new a.Struct([new a.Field('key', new a.Utf8(), false), field('value', new a.Int32())]);
    const map = new a.Map_(field('entries', entries) as never);
    assert.deepEqual(texts(of(map, [new Map([['k', 1]]), null, new Map()])), ['{"k": 1}', '∅', '{}']);
  });

  test('a slice of a list column reads its own rows', () => {
    const column = of(new a.List(item(new a.Int32())), [[1], [2, 3], null, [4]]);
    assert.deepEqual(texts(column.slice(1, 4)), ['[2, 3]', '∅', '[4]']);
  });

  test('a long list says how many are left out', () => {
    const column = of(new a.List(item(new a.Int32())), [Array.from({ length: 2000 }, (_, i) => i)]);
    assert.match(formatValue(column, 0).text, /^\[0, 1, .*19, … 1,980 more\]$/);
  });

  test('a list of 30 million nulls, which take no bytes, is a bounded text, also in a list', () => {
    const count = 30_000_000;
    const nulls = a.makeData({ type: new a.Null(), length: count });
    const flat = listOf(nulls, count);
    for (const data of [flat, listOf(flat, 1)]) {
      const { text } = formatValue(new a.Vector([data]), 0, { limits: unlimited });
      assert.ok(text.length < 17_000_000, `${text.length} characters`);
      assert.match(text, /null, … [\d,]+ more\]+$/);
    }
  });

  test('dictionaries show what they stand for', () => {
    assert.deepEqual(texts(of(new a.Dictionary(new a.Utf8(), new a.Int32()), ['x', null, 'y', 'x'])), [
      'x',
      '∅',
      'y',
      'x',
    ]);
  });

  test('a column in several pieces reads across them', () => {
    const pieces = of(new a.Int32(), [1, 2]).concat(of(new a.Int32(), [3]), of(new a.Int32(), [null, 5]));
    const read = columnFormatter(pieces);
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((row) => read(row).text),
      ['1', '2', '3', 'null', '5'],
    );
    assert.throws(() => read(5), RangeError);
  });

  test('a column of nulls alone', () => {
    assert.deepEqual(texts(new a.Vector([a.makeData({ type: new a.Null(), length: 2 })])), ['∅', '∅']);
  });
});

suite('Arrow types in words', () => {
  test('name their units, sizes and children', () => {
    const entries = new a.Struct([new a.Field('key', new a.Utf8(), false), field('value', new a.Int32())]);
    const types: [a.DataType, string][] = [
      [new a.Int64(), 'int64'],
      [new a.Uint8(), 'uint8'],
      [new a.Float16(), 'halffloat'],
      [new a.Float32(), 'float'],
      [new a.Float64(), 'double'],
      [new a.Utf8(), 'utf8'],
      [new a.LargeUtf8(), 'large_utf8'],
      [new a.Utf8View(), 'utf8_view'],
      [new a.Binary(), 'binary'],
      [new a.Bool(), 'bool'],
      [new a.Null(), 'null'],
      [new a.Decimal(2, 10), 'decimal128(10, 2)'],
      [new a.Decimal(2, 40, 256), 'decimal256(40, 2)'],
      [new a.TimestampMicrosecond('UTC'), 'timestamp[us, UTC]'],
      [new a.TimestampNanosecond(), 'timestamp[ns]'],
      [new a.DateDay(), 'date32'],
      [new a.TimeMicrosecond(), 'time64[us]'],
      [new a.DurationSecond(), 'duration[s]'],
      [new a.IntervalMonthDayNano(), 'interval[month_day_nano]'],
      [new a.FixedSizeBinary(16), 'fixed_size_binary[16]'],
      [new a.FixedSizeList(128, item(new a.Float32())), 'fixed_size_list<float>[128]'],
      [new a.List(item(new a.Utf8())), 'list<utf8>'],
      [new a.LargeList(item(new a.Utf8())), 'large_list<utf8>'],
      [new a.Struct([field('x', new a.Int32()), field('y', new a.Utf8())]), 'struct<x: int32, y: utf8>'],
      [new a.Map_(field('entries', entries) as never), 'map<utf8, int32>'],
      [new a.Dictionary(new a.Utf8(), new a.Int32()), 'dictionary<int32, utf8>'],
      [new a.DenseUnion([0], [field('x', new a.Int32())]), 'dense_union<x: int32>'],
    ];
    for (const [type, words_] of types) assert.equal(typeText(type), words_);
  });

  test('columns keep their names, order and nullability', () => {
    const schema = new a.Schema([new a.Field('b', new a.Int64(), false), field('a', new a.Utf8())]);
    assert.deepEqual(columnsOf(schema), [
      { name: 'b', type: 'int64', nullable: false },
      { name: 'a', type: 'utf8', nullable: true },
    ]);
  });
});
