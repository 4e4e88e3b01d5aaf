import assert from 'node:assert/strict';
import { reuseRuns } from '#jobs/local/answers.ts';

const runs = (found: readonly number[]): number[][] => Array.from(reuseRuns(found), ({ start, end }) => [start, end]);

suite('values that a backfill reuses', () => {
  test('are copied for consecutive rows at once', () => {
    assert.deepEqual(runs([-1, -1, 4, 5, 6, 9]), [
      [0, 2],
      [2, 5],
      [5, 6],
    ]);
    assert.deepEqual(runs([]), []);
  });

  test('are never copied to a row that has none', () => {
    // The value of row 3 is at position 2, because some rows before row 3 have no value or were deleted.
    assert.deepEqual(runs([-1, -1, 0, 2, -1]), [
      [0, 2],
      [2, 3],
      [3, 4],
      [4, 5],
    ]);
  });
});
