import assert from 'node:assert/strict';
import { runInNewContext } from 'node:vm';
import {
  type Data,
  DataType,
  Decimal,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Int32,
  Int8,
  List,
  Schema,
  Struct,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
  Utf8,
} from '#arrow';
import { inferRows, type Row } from '#catalog/arrow/inferRows.ts';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { isCatalogError } from '#shared/errors.ts';

const typeOf = (...values: unknown[]): string | undefined =>
  columnsOf(inferRows(values.map((a) => ({ a }))).schema)[0]?.type;

/** Returns the type of a column with this name. */
const named = (name: string, ...values: unknown[]): string | undefined =>
  columnsOf(inferRows(values.map((value) => ({ [name]: value }))).schema)[0]?.type;

const stored = (...list: unknown[]): unknown[] => [
  ...(inferRows([{ a: list }])
    .getChild('a')!
    .get(0) as Iterable<unknown>),
];

/** Returns the first stored values. */
const storedIn = (data: Data | undefined): bigint[] => [...((data?.values ?? []) as BigInt64Array)].slice(0, 3);

const refuses = (call: () => unknown, ...words: string[]): void => {
  assert.throws(call, (error: unknown) => {
    assert.ok(isCatalogError(error, 'SchemaValidation'), String(error));
    for (const word of words) assert.ok(error.message.includes(word), `${error.message} does not say ${word}`);
    return true;
  });
};

suite('rows become columns', () => {
  test('by one type each', () => {
    assert.equal(typeOf(1, 2), 'double');
    assert.equal(typeOf(1, 2.5), 'double');
    assert.equal(typeOf(2 ** 53), 'double');
    assert.equal(typeOf(Number.NaN, -0), 'double');
    assert.equal(typeOf(1n), 'int64');
    assert.equal(typeOf(1n, 2), 'int64');
    assert.equal(typeOf(1n, 2.5), 'double');
    assert.equal(typeOf('x'), 'utf8');
    assert.equal(typeOf(true), 'bool');
    assert.equal(typeOf(new Date(0)), 'timestamp[us, UTC]');
    assert.equal(typeOf(Uint8Array.of(1)), 'binary');
    assert.equal(typeOf(Buffer.from('x')), 'binary');
    assert.equal(typeOf([1, 2], [3, 4]), 'list<double>');
    assert.equal(typeOf([1, 2], [3]), 'list<double>');
    assert.equal(typeOf([0.5], []), 'list<double>');
    assert.equal(typeOf(['x'], []), 'list<utf8>');
    assert.equal(typeOf([[1, 2]], [[3, 4]]), 'list<list<double>>');
    assert.equal(typeOf({ x: 1, y: ['a'] }), 'struct<x: double, y: list<utf8>>');
  });

  test('of vectors by their name, as in LanceDB', () => {
    assert.equal(named('vector', [1, 2], [3, 4]), 'fixed_size_list<float>[2]');
    assert.equal(named('textEmbedding', [0.1, Number.NaN, Infinity]), 'fixed_size_list<float>[3]');
    assert.equal(
      named(
        'VECTORS',
        [[1, 2]],
        [
          [3, 4],
          [5, 6],
        ],
      ),
      'list<fixed_size_list<float>[2]>',
    );
    assert.equal(named('o', { vector: [1, 2] }), 'struct<vector: fixed_size_list<float>[2]>');
    assert.equal(named('vector', [1, 2], [3]), 'list<float>');
    assert.equal(named('vector', ['x']), 'list<utf8>');
    assert.equal(named('vector', [2 ** 24, -(2 ** 24)]), 'fixed_size_list<float>[2]');
    assert.equal(named('vector', [1_700_000_000_123, 1]), 'list<double>');
    assert.equal(named('vector', [1n, 2n]), 'list<int64>');
  });

  test('of typed arrays by the type of their elements', () => {
    assert.equal(typeOf(new Float32Array(3)), 'fixed_size_list<float>[3]');
    assert.equal(typeOf(new Float64Array(3)), 'fixed_size_list<double>[3]');
    assert.equal(typeOf(Int8Array.of(1, 2)), 'fixed_size_list<int8>[2]');
    assert.equal(typeOf(BigInt64Array.of(1n)), 'fixed_size_list<int64>[1]');
    assert.equal(typeOf(new Float32Array(3), new Float32Array(2)), 'list<float>');
    assert.equal(typeOf(new Float32Array(3), new Float64Array(3)), 'list<double>');
    assert.equal(typeOf(new Float32Array(2), [1, 2]), 'list<double>');
    assert.equal(typeOf([Float32Array.of(1, 2)]), 'list<fixed_size_list<float>[2]>');
  });

  test('with lists that hold their whole numbers exactly', () => {
    assert.equal(typeOf([16_777_217n, 1n]), 'list<int64>');
    assert.equal(typeOf([0.5, 1], [1_700_000_000_123, 1]), 'list<double>');
    assert.equal(typeOf([2 ** 60, 1]), 'list<double>');
    assert.deepEqual(stored(16_777_217n, 1n), [16_777_217n, 1n]);
    assert.deepEqual(stored(1_700_000_000_123, 1), [1_700_000_000_123, 1]);
    assert.deepEqual(stored(1_700_000_000_123, 0.1), [1_700_000_000_123, 0.1]);
  });

  test('with nulls where a value is null, undefined or not there', () => {
    const table = inferRows([{ a: 1, b: 'x' }, { a: null }, { a: undefined, b: 'y', c: true }]);
    assert.deepEqual(
      table.toArray().map((row) => row.toJSON()),
      [
        { a: 1, b: 'x', c: null },
        { a: null, b: null, c: null },
        { a: null, b: 'y', c: true },
      ],
    );
    assert.ok(table.schema.fields.every(({ nullable }) => nullable));
  });

  test('with exact values', () => {
    const at = new Date('2025-06-01T12:34:56.789Z');
    const rows = inferRows([
      {
        i: Number.MAX_SAFE_INTEGER,
        big: -(2n ** 63n),
        at,
        bytes: Uint8Array.of(0, 255),
        v: [1, -0.5],
        s: { x: 7, y: 'q' },
      },
    ]).toArray();
    const row: Record<string, unknown> = rows[0]?.toJSON() ?? {};
    assert.equal(row['i'], Number.MAX_SAFE_INTEGER);
    assert.equal(row['big'], -(2n ** 63n));
    assert.equal(row['at'], at.getTime());
    assert.deepEqual([...(row['bytes'] as Uint8Array)], [0, 255]);
    assert.deepEqual([...(row['v'] as Iterable<number>)], [1, -0.5]);
    assert.equal((row['s'] as { x: number }).x, 7);
  });

  test('of another realm too, as a notebook cell may have its own', () => {
    const rows = runInNewContext(
      `[{ at: new Date(5), bytes: new Uint8Array([1, 2]), v: new Float32Array(2), o: { x: 1 } }]`,
    ) as Row[];
    assert.deepEqual(
      columnsOf(inferRows(rows).schema).map(({ type }) => type),
      ['timestamp[us, UTC]', 'binary', 'fixed_size_list<float>[2]', 'struct<x: double>'],
    );
    assert.equal(inferRows(rows).toArray()[0]?.['at'], 5);
  });

  test('unless a column holds two types, which names row and column', () => {
    refuses(() => inferRows([{ a: 1 }, { a: 'x' }]), '"a"', 'row 1', 'a string', 'a number');
    refuses(() => inferRows([{ a: [1] }, { a: ['x'] }]), '"a"', 'row 1');
    refuses(() => inferRows([{ a: [1, 'x'] }]), '"a"', 'row 0');
    refuses(() => inferRows([{ a: { b: 1 } }, { a: { b: 'x' } }]), '"a.b"', 'row 1');
  });

  test('unless a value has no type of Arrow', () => {
    refuses(() => inferRows([{ a: () => 1 }]), '"a"', 'row 0', 'function');
    refuses(() => inferRows([{ a: Symbol('x') }]), 'symbol');
    refuses(() => inferRows([{ a: new Set() }]), 'Set');
    refuses(() => inferRows([{ a: new Map() }]), 'infer the type');
    refuses(() => inferRows([{ a: /x/ }]), 'RegExp');
    refuses(() => inferRows([{ a: new Date(Number.NaN) }]), 'invalid Date');
    refuses(() => inferRows([{ a: 2n ** 63n }]), 'Int64');
    refuses(() => inferRows([{ a: 2 ** 60 }, { a: 2n ** 62n + 1n }]), 'row 1');
  });

  test('unless a value holds itself', () => {
    const object: Record<string, unknown> = {};
    object['self'] = { deep: object };
    const list: unknown[] = [];
    list.push([list]);
    refuses(() => inferRows([{ a: 1 }, { a: object }]), '"a.self.deep"', 'row 1', 'itself');
    refuses(() => inferRows([{ a: list }]), '"a"', 'row 0', 'itself');
    const shared = { x: 1 };
    assert.equal(typeOf([shared, shared]), 'list<struct<x: double>>');
  });

  test('unless nothing says what a column is', () => {
    refuses(() => inferRows([{}]), 'Row 0 has no columns');
    refuses(() => inferRows([{}, {}]), 'No row has a column');
    refuses(() => inferRows([{ a: null }]), '"a"', 'schema');
    refuses(() => inferRows([{ a: [] }]), '"a[]"', 'every list is empty', 'schema');
    refuses(() => inferRows([{ a: new Map() }]), '"a[key]"', 'every Map is empty', 'schema');
    refuses(() => inferRows([]), 'schema');
    refuses(() => inferRows([7 as never]), 'Row 0');
  });
});

suite('rows with a schema', () => {
  const schema = new Schema([
    new Field('small', new Int8(), false),
    new Field('price', new Decimal(2, 10, 128), true),
    new Field('at', new TimestampSecond('UTC'), true),
    new Field('name', new Utf8(), true, new Map([['k', 'v']])),
    new Field('n', new Int32(), true),
  ]);

  test('follow it, in its order and with its metadata', () => {
    const table = inferRows([{ name: 'x', price: '-12.5', small: -128, at: new Date(5000), n: 3n }], schema);
    assert.deepEqual(
      table.schema.fields.map(({ name }) => name),
      ['small', 'price', 'at', 'name', 'n'],
    );
    assert.deepEqual(table.schema.fields[3]?.metadata, new Map([['k', 'v']]));
    const price = table.getChild('price')!.get(0) as Uint32Array;
    assert.deepEqual([...price], [0xffff_fb1e, 0xffff_ffff, 0xffff_ffff, 0xffff_ffff]);
    assert.equal(table.getChild('at')!.get(0), 5000);
    assert.equal(table.getChild('n')!.get(0), 3);
  });

  test('without rows are an empty table', () => {
    assert.equal(inferRows([], schema).numRows, 0);
    assert.equal(inferRows([], schema).schema.fields.length, 5);
  });

  test('of floats round fractions and refuse a whole number that they would change', () => {
    const vectors = new Schema([
      new Field('single', new Float32(), true),
      new Field('half', new Float16(), true),
      new Field('v', new FixedSizeList(2, new Field('item', new Float32(), true)), true),
    ]);
    const table = inferRows(
      [
        { single: 0.1, half: -65_504, v: [0.1, 2 ** 30] },
        { half: Infinity, v: [0, 5n] },
      ],
      vectors,
    );
    assert.equal(table.getChild('single')!.get(0), Math.fround(0.1));
    assert.deepEqual([...table.getChild('half')!], [-65_504, Infinity]);
    assert.deepEqual([...(table.getChild('v')!.get(0) as Iterable<number>)], [Math.fround(0.1), 2 ** 30]);
    refuses(() => inferRows([{}, { v: [1_700_000_000_123, 1] }], vectors), '"v"', 'row 1', '1700000000123', 'Float32');
    refuses(() => inferRows([{ v: [16_777_217n, 1n] }], vectors), '"v"', 'row 0', '16777217');
    refuses(() => inferRows([{ v: Int32Array.of(16_777_217, 0) }], vectors), '"v"', '16777217');
    refuses(() => inferRows([{ single: 16_777_217 }], vectors), '"single"', '16777217');
    refuses(() => inferRows([{ single: 1e300 }], vectors), '"single"');
    refuses(() => inferRows([{ half: 2049 }], vectors), '"half"', '2049', 'Float16');
    refuses(() => inferRows([{ half: -99_999.5 }], vectors), '"half"', '-99999.5', 'out of the range of a Float16');
  });

  test('of timestamps keep every unit exact, nested ones too', () => {
    const at = new Date('2024-02-29T12:34:56.789Z');
    const second = new Date('2024-02-29T12:34:56Z');
    const zoned = new TimestampNanosecond('UTC');
    const times = new Schema([
      new Field('s', new TimestampSecond(), true),
      new Field('ms', new TimestampMillisecond(), true),
      new Field('us', new TimestampMicrosecond(), true),
      new Field('ns', zoned, true),
      new Field('list', new List(new Field('item', zoned, true)), true),
      new Field('o', new Struct([new Field('at', zoned, true)]), true),
    ]);
    const table = inferRows(
      [
        { s: second, ms: at, us: at, ns: at, list: [at, null], o: { at } },
        { s: -1n, ms: 7n, us: 1_700_000_000_000_001n, ns: 1_709_210_096_789_000_001n, list: [3n], o: { at: 5n } },
        { ns: new Date(-1) },
      ],
      times,
    );
    const column = (name: string): Data => table.getChild(name)!.data[0]!;
    assert.deepEqual(storedIn(column('s')).slice(0, 2), [1_709_210_096n, -1n]);
    assert.deepEqual(storedIn(column('ms')).slice(0, 2), [1_709_210_096_789n, 7n]);
    assert.deepEqual(storedIn(column('us')).slice(0, 2), [1_709_210_096_789_000n, 1_700_000_000_000_001n]);
    assert.deepEqual(storedIn(column('ns')), [1_709_210_096_789_000_000n, 1_709_210_096_789_000_001n, -1_000_000n]);
    assert.deepEqual(storedIn(column('list').children[0]), [1_709_210_096_789_000_000n, 0n, 3n]);
    assert.equal(storedIn(column('o').children[0])[1], 5n);
    assert.equal(String(table.schema), String(times));
    assert.ok(DataType.isTimestamp(column('o').children[0]?.type));
    assert.deepEqual(
      ['s', 'ns', 'list', 'o'].map((name) => table.getChild(name)!.nullCount),
      [1, 0, 1, 1],
    );
    refuses(() => inferRows([{}, { ns: new Date('2300-01-01') }], times), '"ns"', 'row 1', '2300', 'coarser');
    refuses(() => inferRows([{ us: 2n ** 63n }], times), '"us"', 'row 0', 'coarser');
    refuses(() => inferRows([{}, { ns: new Date(Number.NaN) }], times), '"ns"', 'row 1', 'invalid Date');
    refuses(() => inferRows([{ ns: 5 }], times), '"ns"', 'nanoseconds', 'bigint');
  });

  test('are refused where a value does not fit it', () => {
    const row = { small: 1 };
    refuses(() => inferRows([{ small: 128 }], schema), '"small"', '128');
    refuses(() => inferRows([{ small: 1.5 }], schema), '1.5', 'Int8', 'CAST(… AS DOUBLE)');
    refuses(
      () => inferRows([{ ...row, n: 2 ** 53 + 2 }], schema),
      '"n"',
      'and a number of this size may have been rounded',
      'bigint',
    );
    refuses(() => inferRows([{ small: null }], schema), 'null');
    refuses(() => inferRows([{}], schema), '"small"', 'null');
    refuses(() => inferRows([{ ...row, colour: 1 }], schema), '"colour"', 'not in the schema');
    refuses(() => inferRows([{ ...row, name: 7 }], schema), '"name"', 'utf8');
    refuses(() => inferRows([{ ...row, price: '1.234' }], schema), '1.234', '2 decimals');
    refuses(() => inferRows([{ ...row, price: '123456789' }], schema), '10 digits');
    refuses(() => inferRows([{ ...row, at: new Date(1) }], schema), 'whole second');
    refuses(() => inferRows([{ ...row, at: 'today' }], schema), 'Date');
  });
});
