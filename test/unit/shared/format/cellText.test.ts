import assert from 'node:assert/strict';
import * as a from '#arrow';
import { decimals, f16round, of, raw, seconds, texts } from './formattedColumns.ts';

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

  test('a zone at the end of the calendar is UTC, because the local day may be beyond it', () => {
    const type = new a.TimestampSecond('Europe/Berlin');
    assert.deepEqual(texts(raw(type, BigInt64Array.of(8_640_000_000_000n))), ['+275760-09-13 00:00:00Z']);
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
