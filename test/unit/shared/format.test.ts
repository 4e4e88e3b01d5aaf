import assert from 'node:assert/strict';
import * as a from '#arrow';
import { columnsOf, typeText } from '#shared/arrowTypes.ts';
import { columnFormatter, formatValue, noLimits } from '#shared/format.ts';

const field = (name: string, type: a.DataType) => new a.Field(name, type, true);
const item = (type: a.DataType) => field('item', type);

/** Texts of a column, `∅` for a null; through a stream, since that is where columns come from. */
function texts(vector: a.Vector, limits = noLimits): string[] {
  const back = a.tableFromIPC(a.tableToIPC(new a.Table({ column: vector }), 'stream')).getChildAt(0)!;
  const read = columnFormatter(back, { limits });
  return Array.from({ length: back.length }, (_, row) => {
    const cell = read(row);
    return cell.kind === 'null' ? '∅' : cell.text;
  });
}

const of = (type: a.DataType, values: unknown[]): a.Vector => a.vectorFromArray(values, type);
/** A column from what Arrow stores, for types whose builders round. */
const raw = (type: a.DataType, data: ArrayLike<number> | ArrayLike<bigint>, length = data.length): a.Vector =>
  new a.Vector([a.makeData({ type, length, nullCount: 0, data } as never)]);

const { f16round } = Math as unknown as { f16round: (value: number) => number };

const seconds = (iso: string): bigint => BigInt(Date.parse(iso) / 1000);

const words = (value: bigint, count: number): number[] =>
  Array.from({ length: count }, (_, i) => Number(BigInt.asUintN(32, value >> BigInt(32 * i))));
const decimals = (scale: number, bits: number, ...values: bigint[]): a.Vector =>
  raw(
    new a.Decimal(scale, bits === 128 ? 38 : 76, bits),
    Uint32Array.from(values.flatMap((value) => words(value, bits / 32))),
    values.length,
  );

suite('Numbers as text', () => {
  test('64-bit integers keep every digit', () => {
    assert.deepEqual(texts(of(new a.Int64(), [9007199254740993n, null, -9223372036854775808n])), [
      '9007199254740993',
      '∅',
      '-9223372036854775808',
    ]);
    assert.deepEqual(texts(of(new a.Uint64(), [18446744073709551615n])), ['18446744073709551615']);
  });

  test('floats are the shortest text that reads back as the same float', () => {
    assert.deepEqual(texts(of(new a.Float32(), [0.1, null, NaN, -Infinity, 16777216, 3.4028234663852886e38])), [
      '0.1',
      '∅',
      'NaN',
      '-Infinity',
      '16777216',
      '3.4028235e+38',
    ]);
    assert.deepEqual(texts(of(new a.Float64(), [0.1, -0, 5e-324, 1e21])), ['0.1', '-0', '5e-324', '1e+21']);
  });

  test('every 16-bit float reads back as itself', () => {
    const bits = Uint16Array.from({ length: 0x7c00 }, (_, i) => i);
    const values = raw(new a.Float16(), bits);
    const shown = texts(values);
    const wrong = shown.filter((text, i) => f16round(Number(text)) !== (values.get(i) as number));
    assert.deepEqual(wrong.slice(0, 3), []);
    assert.equal(shown[0x2e66], '0.1');
  });

  test('32-bit floats of any size read back as themselves', () => {
    const bits = Uint32Array.from({ length: 20_000 }, (_, i) => (i * 213_977) % 0x7f800000);
    const values = new Float32Array(bits.buffer);
    const wrong = texts(raw(new a.Float32(), values)).filter((text, i) => Math.fround(Number(text)) !== values[i]);
    assert.deepEqual(wrong, []);
  });

  test('decimals have their scale, negative ones too', () => {
    assert.deepEqual(texts(decimals(9, 128, 12345678901234567890123456789n, -5n, 0n)), [
      '12345678901234567890.123456789',
      '-0.000000005',
      '0.000000000',
    ]);
    const wide = 10n ** 75n + 1n;
    assert.deepEqual(texts(decimals(2, 256, -wide, 7n)), [`-1${'0'.repeat(73)}.01`, '0.07']);
    assert.deepEqual(texts(decimals(0, 128, -42n)), ['-42']);
    assert.deepEqual(texts(decimals(-3, 128, 42n)), ['42000']);
  });

  test('small integers and booleans are plain', () => {
    assert.deepEqual(texts(of(new a.Int8(), [-128, null, 127])), ['-128', '∅', '127']);
    assert.deepEqual(texts(of(new a.Bool(), [true, null, false])), ['true', '∅', 'false']);
    assert.deepEqual(
      texts(
        of(
          new a.Bool(),
          Array.from({ length: 11 }, (_, i) => i % 3 === 0),
        ).slice(9, 11),
      ),
      ['true', 'false'],
    );
  });
});

suite('Points and spans of time as text', () => {
  const ns = 1_708_480_568_831_982_966n;

  test('nanoseconds are exact', () => {
    assert.deepEqual(texts(raw(new a.TimestampNanosecond('UTC'), BigInt64Array.of(ns, 0n, -1n))), [
      '2024-02-21 01:56:08.831982966Z',
      '1970-01-01 00:00:00Z',
      '1969-12-31 23:59:59.999999999Z',
    ]);
  });

  test('each unit shows the digits it has, in groups of three', () => {
    assert.deepEqual(texts(raw(new a.TimestampMicrosecond('UTC'), BigInt64Array.of(ns / 1000n, 1_000n))), [
      '2024-02-21 01:56:08.831982Z',
      '1970-01-01 00:00:00.001Z',
    ]);
    assert.deepEqual(texts(raw(new a.TimestampMillisecond(), BigInt64Array.of(ns / 1_000_000n))), [
      '2024-02-21 01:56:08.831',
    ]);
    assert.deepEqual(texts(raw(new a.TimestampSecond(), BigInt64Array.of(-62_135_596_801n))), ['0000-12-31 23:59:59']);
  });

  test('a zone gives local time and offset, in summer and winter', () => {
    const times = BigInt64Array.of(seconds('2024-01-15T12:00:00Z'), seconds('2024-07-15T12:00:00Z'));
    assert.deepEqual(texts(raw(new a.TimestampSecond('Europe/Paris'), times)), [
      '2024-01-15 13:00:00+01:00',
      '2024-07-15 14:00:00+02:00',
    ]);
    assert.deepEqual(texts(raw(new a.TimestampSecond('Asia/Kathmandu'), times.slice(0, 1))), [
      '2024-01-15 17:45:00+05:45',
    ]);
    assert.deepEqual(texts(raw(new a.TimestampSecond('-03:30'), times.slice(0, 1))), ['2024-01-15 08:30:00-03:30']);
    assert.deepEqual(texts(raw(new a.TimestampSecond('Mars/Olympus'), times.slice(0, 1))), ['2024-01-15 12:00:00Z']);
  });

  test('a zone before it was agreed on has an offset of odd seconds', () => {
    const old = seconds('1900-01-01T00:00:00Z');
    assert.deepEqual(
      texts(raw(new a.TimestampSecond('Europe/Amsterdam'), BigInt64Array.of(old)))[0]!.slice(0, 10),
      '1900-01-01',
    );
  });

  test('a value outside of the calendar is its number and unit', () => {
    assert.deepEqual(texts(raw(new a.TimestampSecond(), BigInt64Array.of(2n ** 62n))), ['4611686018427387904 s']);
  });

  test('dates are days, and a date with a time of day shows both', () => {
    assert.deepEqual(texts(raw(new a.DateDay(), Int32Array.of(0, -1, 19_774))), [
      '1970-01-01',
      '1969-12-31',
      '2024-02-21',
    ]);
    assert.deepEqual(texts(raw(new a.DateMillisecond(), BigInt64Array.of(86_400_000n, 1n))), [
      '1970-01-02',
      '1970-01-01 00:00:00.001',
    ]);
  });

  test('times of day and durations', () => {
    assert.deepEqual(texts(raw(new a.TimeNanosecond(), BigInt64Array.of(86_399_000_000_001n, 0n))), [
      '23:59:59.000000001',
      '00:00:00',
    ]);
    assert.deepEqual(texts(raw(new a.TimeSecond(), Int32Array.of(3661))), ['01:01:01']);
    assert.deepEqual(texts(raw(new a.DurationMillisecond(), BigInt64Array.of(93_784_005n, -1n, 0n))), [
      '1d 2h 3m 4.005s',
      '-0.001s',
      '0s',
    ]);
  });

  test('intervals of all three units', () => {
    assert.deepEqual(texts(raw(new a.IntervalYearMonth(), Int32Array.of(14, -14, 0))), ['1y 2mo', '-1y -2mo', '0mo']);
    assert.deepEqual(texts(raw(new a.IntervalDayTime(), Int32Array.of(3, 4005, 0, 0), 2)), ['3d 4.005s', '0d']);
    assert.deepEqual(texts(raw(new a.IntervalMonthDayNano(), Int32Array.of(1, -2, 3, 0, 0, 0, -1, -1), 2)), [
      '1mo -2d 0.000000003s',
      '-0.000000001s',
    ]);
  });
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
    const limits = { ...noLimits, chars: 3 };
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
