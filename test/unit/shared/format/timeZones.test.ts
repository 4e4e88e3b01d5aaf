import assert from 'node:assert/strict';
import { makeData, TimestampMicrosecond, TimestampSecond, Vector } from '#arrow';
import { columnFormatter } from '#shared/format/cellText.ts';
import { shownZone, timestampText } from '#shared/format/times.ts';

/** Formats seconds since 1970 of a column with a zone, or without one. */
const shown = (
  at: string,
  column: string | null,
  choice: 'utc' | 'column' | 'local',
  local = 'Europe/Berlin',
): string =>
  timestampText(
    BigInt(Date.parse(at) / 1000),
    0,
    shownZone(column, choice, () => local),
  );

suite('The time zone in which timestamps are shown', () => {
  test('is that of the column, UTC, or that of the machine', () => {
    const at = '2024-02-21T01:49:28Z';
    assert.equal(shown(at, 'Asia/Tokyo', 'column'), '2024-02-21 10:49:28+09:00');
    assert.equal(shown(at, 'Asia/Tokyo', 'utc'), '2024-02-21 01:49:28Z');
    assert.equal(shown(at, 'Asia/Tokyo', 'local'), '2024-02-21 02:49:28+01:00');
  });

  test('a timestamp without a zone stays as it is', () => {
    for (const choice of ['utc', 'column', 'local'] as const)
      assert.equal(shown('2024-02-21T01:49:28Z', null, choice), '2024-02-21 01:49:28');
  });

  test('at the borders of summer time, the offset tells both hours of one name apart', () => {
    assert.equal(shown('2024-03-31T00:59:59Z', 'UTC', 'local'), '2024-03-31 01:59:59+01:00');
    assert.equal(shown('2024-03-31T01:00:00Z', 'UTC', 'local'), '2024-03-31 03:00:00+02:00');
    assert.equal(shown('2024-10-27T00:30:00Z', 'UTC', 'local'), '2024-10-27 02:30:00+02:00');
    assert.equal(shown('2024-10-27T01:30:00Z', 'UTC', 'local'), '2024-10-27 02:30:00+01:00');
  });

  test('before 1900, local time may have an offset with seconds', () => {
    assert.equal(shown('1890-01-01T00:00:00Z', 'UTC', 'local', 'Europe/Amsterdam').slice(0, 10), '1890-01-01');
    assert.equal(shown('1880-01-01T00:00:00Z', 'UTC', 'local', 'America/New_York'), '1879-12-31 19:03:58-04:56:02');
    assert.equal(shown('1880-01-01T00:00:00Z', 'America/New_York', 'utc'), '1880-01-01 00:00:00Z');
  });

  test('the formatter of a column uses the choice', () => {
    const zoned = new Vector([
      makeData({
        type: new TimestampMicrosecond('Asia/Tokyo'),
        length: 1,
        data: BigInt64Array.of(1_708_480_168_831_982n),
      }),
    ]);
    assert.equal(columnFormatter(zoned, { timeZone: 'utc' })(0).text, '2024-02-21 01:49:28.831982Z');
    assert.equal(columnFormatter(zoned)(0).text, '2024-02-21 10:49:28.831982+09:00');
    const plain = new Vector([
      makeData({ type: new TimestampSecond(), length: 1, data: BigInt64Array.of(1_708_480_168n) }),
    ]);
    assert.equal(columnFormatter(plain, { timeZone: 'local' })(0).text, '2024-02-21 01:49:28');
  });
});
