import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import {
  Binary,
  type DataType,
  DateDay,
  Decimal as DecimalType,
  DurationMillisecond,
  Field,
  FixedSizeList,
  Float16,
  Float32,
  Int32,
  Int64,
  List,
  makeData,
  Map_,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimestampMicrosecond,
  TimestampNanosecond,
  TimestampSecond,
  TimeSecond,
  Uint64,
  Uint8,
  Utf8,
} from '#arrow';
import { inferRows } from '#catalog/arrow/inferRows.ts';
import { readRows, type RowOptions } from '#catalog/arrow/rowValues.ts';
import { Decimal } from '#catalog/values/decimal.ts';
import { Duration } from '#catalog/values/duration.ts';
import { Time } from '#catalog/values/time.ts';
import { Timestamp } from '#catalog/values/timestamp.ts';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { isCatalogError } from '#shared/errors.ts';

const item = (type: DataType): Field => new Field('item', type, true);
const vectorOf = (type: DataType, size: number): DataType => new FixedSizeList(size, item(type));
const textMap = (value: DataType): DataType => {
  const entries = [new Field('key', new Utf8(), false), new Field('value', value, true)];
  return new Map_(new Field('entries', new Struct(entries), false) as never);
};

/** Returns the values of a column as rows have them. */
function read(type: DataType, values: readonly unknown[], options?: RowOptions): unknown[] {
  const table = inferRows(
    values.map((x) => ({ x })),
    new Schema([new Field('x', type, true)]),
  );
  return readRows(table, options).map(({ x }) => x);
}

const fails = (type: DataType, value: unknown, words: RegExp): void => assert.throws(() => read(type, [value]), words);

/** Whether the bits of a 16-bit float are not a number. */
const isNaNBits = (each: number): boolean => (each & 0x7c00) === 0x7c00 && (each & 0x3ff) !== 0;

const typeOf = (...values: unknown[]): string | undefined =>
  columnsOf(inferRows(values.map((x) => ({ x }))).schema)[0]?.type;

const largest = Number.MAX_SAFE_INTEGER;

suite('Values of rows', () => {
  test('are numbers for 64-bit integers that a number holds exactly, else bigints', () => {
    const values = [0n, -1n, BigInt(largest), BigInt(-largest), 2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n, -(2n ** 63n)];
    const found = [0, -1, largest, -largest, 2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n, -(2n ** 63n)];
    assert.deepEqual(read(new Int64(), values), found);
    assert.deepEqual(read(new Int64(), values, { int64: 'bigint' }), values);
    assert.deepEqual(read(new Uint64(), [2n ** 53n - 1n, 2n ** 64n - 1n, 1n]), [largest, 2n ** 64n - 1n, 1]);
    assert.deepEqual(read(new List(item(new Int64())), [[1n, 2n ** 60n, null]]), [[1, 2n ** 60n, null]]);
    assert.deepEqual(read(vectorOf(new Int64(), 2), [[1n, 2n]]), [[1, 2]]);
    assert.deepEqual(read(vectorOf(new Int64(), 2), [[1n, 2n]], { int64: 'bigint' }), [BigInt64Array.of(1n, 2n)]);
  });

  test('are dates, which carry digits below a millisecond', () => {
    const at = Date.UTC(2024, 1, 29, 12, 34, 56, 789);
    const [plain, finer] = read(new TimestampMicrosecond('UTC'), [new Date(at), BigInt(at) * 1000n + 1n]) as Date[];
    assert.deepEqual(plain, new Date(at));
    assert.equal(plain?.constructor, Date);
    assert.ok(finer instanceof Timestamp && finer instanceof Date);
    assert.deepEqual([finer.getTime(), finer.count, finer.unit], [at, BigInt(at) * 1000n + 1n, 'us']);
    assert.equal(JSON.stringify(finer), '"2024-02-29T12:34:56.789001Z"');
    assert.equal(`${String(finer)} ${inspect(finer)}`, '2024-02-29T12:34:56.789001Z 2024-02-29T12:34:56.789001Z');
    const [nanos] = read(new TimestampNanosecond(), [-1n]) as Date[];
    assert.deepEqual([nanos?.toISOString(), nanos?.getTime()], ['1969-12-31T23:59:59.999999999Z', -1]);
    assert.deepEqual(read(new DateDay(), [new Date('2024-03-01')]), [new Date('2024-03-01')]);
  });

  test('are exact beyond the years of a Date', () => {
    const [last, first, edge] = read(new TimestampSecond(), [
      2n ** 63n - 1n,
      -(2n ** 63n),
      8_640_000_000_000n,
    ]) as Date[];
    assert.equal(last?.toISOString(), '+292277026596-12-04T15:30:07.000Z');
    assert.equal(first?.toISOString(), '-292277022657-01-27T08:29:52.000Z');
    assert.ok(Number.isNaN(last?.getTime()));
    assert.equal(JSON.stringify([last]), '["+292277026596-12-04T15:30:07.000Z"]');
    assert.equal(inspect({ last }), '{ last: +292277026596-12-04T15:30:07.000Z }');
    assert.deepEqual([edge?.constructor, edge?.getTime()], [Date, 8.64e15]);
  });

  test('are ordinary dates once a setter has changed them', () => {
    const at = new Timestamp(1_709_210_096_789_001n, 'us');
    at.setUTCHours(0, 0, 0, 0);
    assert.equal(at.toISOString(), '2024-02-29T00:00:00.000Z');
    assert.deepEqual(read(new TimestampMicrosecond(), [at]), [new Date('2024-02-29')]);
    at.setTime(Number.NaN);
    assert.equal(inspect(at), 'Invalid Date');
    assert.throws(() => read(new TimestampMicrosecond(), [at]), /is an invalid Date/);
  });

  test('are decimals that compute, print and stay exact', () => {
    const [price, large] = read(new DecimalType(2, 38, 128), ['18.90', 10n ** 30n]) as Decimal[];
    assert.equal(Number(price) * 2, 37.8);
    assert.ok((price as unknown as number) > 18 && (price as unknown as number) < 19);
    assert.equal(`${String(price)} ${JSON.stringify(price)} ${inspect({ price })}`, '18.90 "18.90" { price: 18.90 }');
    assert.equal(large?.toString(), `1${'0'.repeat(30)}.00`);
    assert.deepEqual([price?.unscaled, price?.scale], [1890n, 2]);
    assert.deepEqual(Decimal.from('-0.05'), new Decimal(-5n, 2));
    assert.equal(String(new Decimal(12n, -3)), '12000');
    assert.throws(() => Decimal.from('1e3'), /Expected a decimal number such as "18.90", got "1e3"/);
    assert.throws(() => Object.assign(price as object, { scale: 1 }), TypeError);
  });

  test('are times and durations that say their unit', () => {
    const [noon] = read(new TimeSecond(), [new Time(43_200n, 's')]);
    const [short] = read(new DurationMillisecond(), [new Duration(1500n, 'ms')]);
    assert.equal(inspect({ noon, short }), '{ noon: 12:00:00, short: 1.500s }');
    assert.equal(JSON.stringify({ noon, short }), '{"noon":"12:00:00","short":"1.500s"}');
    assert.deepEqual([Number(noon), Number(short), Number(new Time(1500n, 'us'))], [43_200_000, 1500, 1.5]);
    assert.throws(() => new Time(1n, 'm' as 's'), /Expected "s", "ms", "us" or "ns" for "unit", got "m"/);
  });

  test('are typed arrays for vectors, and arrays if an element is null', () => {
    const [vector, hole, none] = read(vectorOf(new Float32(), 2), [[0.5, 1.5], [1, null], null]);
    assert.deepEqual([vector, hole, none], [Float32Array.of(0.5, 1.5), [1, null], null]);
    assert.deepEqual(read(vectorOf(new Float16(), 2), [[0.5, -65504]]), [Float32Array.of(0.5, -65504)]);
    assert.deepEqual(read(vectorOf(new Uint8(), 2), [[1, 2]]), [Uint8Array.of(1, 2)]);
    assert.deepEqual(read(new List(item(new Int32())), [[1, 2], [], [null]]), [[1, 2], [], [null]]);
    assert.deepEqual(
      (vector as Float32Array).map((each) => each * 2),
      Float32Array.of(1, 3),
    );
  });

  test('own their memory, so that a row sent to a worker does not take its batch along', () => {
    const vectors = Array.from({ length: 1000 }, () => [1, 2]);
    const [vector] = read(vectorOf(new Float32(), 2), vectors) as Float32Array[];
    assert.equal(vector?.buffer.byteLength, 8);
    const [bytes] = read(new Binary(), [Uint8Array.of(1, 2, 3), new Uint8Array(1000)]) as Uint8Array[];
    assert.equal(bytes?.buffer.byteLength, 3);
    assert.deepEqual(structuredClone({ vector, bytes }), { vector, bytes });
  });

  test('are plain objects, maps and bytes', () => {
    const type = new Struct([new Field('a', new Int64(), true), new Field('__proto__', new Utf8(), true)]);
    const [struct] = read(type, [JSON.parse('{ "a": 1, "__proto__": "x" }')]) as object[];
    assert.deepEqual(Object.entries(struct!), [
      ['a', 1],
      ['__proto__', 'x'],
    ]);
    assert.equal(Object.getPrototypeOf(struct), Object.prototype);
    assert.deepEqual(read(textMap(new Int32()), [new Map([['k', 1]])]), [new Map([['k', 1]])]);
    assert.deepEqual(read(new Binary(), [Uint8Array.of(1, 255)]), [Uint8Array.of(1, 255)]);
  });

  test('have every column as an own property, whatever its name', () => {
    const row = JSON.parse('{ "__proto__": 1, "constructor": 2, "a b": 3, "7": 4, "\\"\\n": 5 }') as object;
    const [found] = readRows(inferRows([row as Record<string, unknown>]));
    assert.deepEqual(Object.keys(found!).toSorted(), Object.keys(row).toSorted());
    assert.equal(Object.getPrototypeOf(found), Object.prototype);
    assert.equal(JSON.stringify(found), JSON.stringify(row));
  });

  test('can be written as JSON, whatever they are', () => {
    const table = inferRows(
      [
        {
          id: 2n ** 60n,
          small: 7n,
          list: [1n, 2n ** 60n],
          place: { x: 2n ** 60n, y: { z: -(2n ** 60n) } },
          map: new Map([['k', 2n ** 60n]]),
          vector: [0.5, 1.5],
          bytes: Uint8Array.of(1, 2, 255),
        },
      ],
      new Schema([
        new Field('id', new Int64(), true),
        new Field('small', new Int64(), true),
        new Field('list', new List(item(new Int64())), true),
        new Field(
          'place',
          new Struct([
            new Field('x', new Int64(), true),
            new Field('y', new Struct([new Field('z', new Int64(), true)]), true),
          ]),
          true,
        ),
        new Field('map', textMap(new Int64()), true),
        new Field('vector', vectorOf(new Float32(), 2), true),
        new Field('bytes', new Binary(), true),
      ]),
    );
    const text =
      '[{"id":"1152921504606846976","small":7,"list":[1,"1152921504606846976"],' +
      '"place":{"x":"1152921504606846976","y":{"z":"-1152921504606846976"}},"map":{"k":"1152921504606846976"},' +
      '"vector":[0.5,1.5],"bytes":"AQL/"}]';
    assert.equal(JSON.stringify(readRows(table)), text);
    assert.equal(JSON.stringify(readRows(table, { int64: 'bigint' })), text);
    const parts = readRows(table).map(({ vector, bytes, map, list }) => ({ vector, bytes, map, list }));
    assert.ok(text.includes(JSON.stringify(parts[0]?.vector)) && text.includes(JSON.stringify(parts[0]?.list)));
    assert.equal('toJSON' in BigInt.prototype || 'toJSON' in Float32Array.prototype, false);
  });

  test('print as tables show them, with short vectors', () => {
    const [long] = read(vectorOf(new Float32(), 768), [Array.from({ length: 768 }, () => 0.1)]);
    const [short] = read(vectorOf(new Float32(), 2), [[0.1, -2]]);
    const [bytes] = read(new Binary(), [Uint8Array.of(1, 2, 255)]);
    assert.equal(inspect({ long }), '{ long: Float32Array(768) [ 0.1, 0.1, 0.1, 0.1, … 764 more ] }');
    assert.equal(inspect({ short }), '{ short: Float32Array(2) [ 0.1, -2 ] }');
    assert.equal(inspect({ bytes }), '{ bytes: Uint8Array 0x0102ff (3 bytes) }');
    assert.equal(inspect(bytes), 'Uint8Array(3) [ 1, 2, 255 ]');
    assert.match(inspect(long), /668 more items/);
  });
});

suite('Types of the values of rows', () => {
  test('are inferred when no schema is given', () => {
    assert.equal(typeOf(Decimal.from('18.90'), Decimal.from('1.125')), 'decimal128(38, 3)');
    assert.equal(typeOf(new Decimal(10n ** 40n, 2)), 'decimal256(76, 2)');
    assert.equal(typeOf(new Timestamp(1n, 'ns'), new Date(0)), 'timestamp[ns, UTC]');
    assert.equal(typeOf(new Timestamp(2n ** 62n, 's')), 'timestamp[s, UTC]');
    assert.equal(typeOf(new Date(0)), 'timestamp[us, UTC]');
    assert.equal(typeOf(new Time(1n, 's'), new Time(1n, 'ms')), 'time32[ms]');
    assert.equal(typeOf(new Time(1n, 'us')), 'time64[us]');
    assert.equal(typeOf(new Duration(1n, 's'), new Duration(1n, 'ns')), 'duration[ns]');
    assert.equal(typeOf(new Map([['a', 1]]), new Map()), 'map<utf8, double>');
  });

  test('hold all values, or the row is named', () => {
    assert.throws(
      () => inferRows([{ x: new Decimal(10n ** 80n, 2) }]),
      (error) => isCatalogError(error, 'SchemaValidation') && /Column "x" needs 81 digits/.test(error.message),
    );
    fails(new TimestampSecond(), new Timestamp(1_500_000n, 'us'), /has digits finer than seconds.*Use a finer unit/);
    fails(
      new TimestampMicrosecond(),
      new Timestamp(2n ** 62n, 's'),
      /is the year 146138514283, which 64 bits of micro/,
    );
    fails(new TimestampMicrosecond(), 1_709_210_096_789, /is a number\. Use a Date/);
    fails(new TimeSecond(), new Time(1n, 'ms'), /is 00:00:00\.001, which has digits finer than seconds/);
    fails(new TimeSecond(), new Duration(1n, 's'), /is a Duration\. Use a Time/);
    fails(new DecimalType(2, 10, 128), Decimal.from('1.125'), /is 1\.125\. Use a number with at most 2 decimals/);
    fails(new Struct([new Field('a', new Utf8(), true)]), new Map([['a', 'b']]), /is a Map\. Use an object/);
    fails(textMap(new Utf8()), new Map([[null, 'b']]), /has a key that is null/);
    fails(new DateDay(), new Timestamp(1n, 'us'), /is not midnight UTC/);
  });

  test('have every 16-bit float', () => {
    const bits = Uint16Array.from({ length: 65_536 }, (_, each) => each);
    const type = new Float16();
    const field = new Field('x', type, true);
    const children = [makeData({ type, length: bits.length, nullCount: 0, data: bits })];
    const struct = makeData({ type: new Struct([field]), length: bits.length, nullCount: 0, children });
    const schema = new Schema([field]);
    const rows = readRows(new Table(schema, [new RecordBatch(schema, struct)]));
    const back = inferRows(rows, schema).batches[0]?.data.children[0]?.values as Uint16Array;
    assert.deepEqual(
      back,
      bits.map((each) => (isNaNBits(each) ? 0x7e00 : each)),
    );
    assert.deepEqual(read(new Float16(), [1 / 3, 2 ** -25, 1e-10, 65_503.9]), [1365 / 4096, 0, 0, 65_504]);
  });

  test('take values of another scale and unit if they are exact', () => {
    assert.deepEqual(read(new DecimalType(1, 10, 128), [Decimal.from('1.50')]), [new Decimal(15n, 1)]);
    assert.deepEqual(read(new DurationMillisecond(), [new Duration(2_000_000n, 'ns')]), [new Duration(2n, 'ms')]);
    assert.deepEqual(read(new TimestampMicrosecond(), [new Timestamp(1_001_000n, 'ns')]), [new Timestamp(1001n, 'us')]);
    assert.deepEqual(read(textMap(new Int32()), [{ k: 1 }]), [new Map([['k', 1]])]);
  });
});
