import assert from 'node:assert/strict';
import { parseRow } from '../../../../webviews/grid/goToRow.ts';

suite('A typed row number', () => {
  test('counts from 1, with or without separators between digits', () => {
    for (const typed of ['1000000', ' 1,000,000 ', '1 000 000', '1_000_000', "1'000'000"])
      assert.deepEqual(parseRow(typed, 100_000_000), { row: 999_999 }, typed);
    assert.deepEqual(parseRow('100000000', 100_000_000), { row: 99_999_999 });
  });

  test('that is not in the table is explained in one sentence', () => {
    for (const [typed, got] of [
      ['0', '"0"'],
      ['11', '"11"'],
      ['-1', '"-1"'],
      ['1.5', '"1.5"'],
      ['1e1', '"1e1"'],
      ['', 'nothing'],
      ['x'.repeat(100), `"${'x'.repeat(40)}…"`],
    ] as const)
      assert.deepEqual(parseRow(typed, 10), { problem: `Expected a row number from 1 to 10, got ${got}.` });
    assert.deepEqual(parseRow('1', 0), { problem: 'The table has no rows.' });
  });
});
