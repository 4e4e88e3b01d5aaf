import assert from 'node:assert/strict';
import { Int32 } from '#arrow';
import { BatchSize } from '#jobs/local/batchSize.ts';
import { type ComputingOptions, openComputing } from '#jobs/local/openComputing.ts';
import { functionOf, sql } from '../../../contract/backfill/driver/driving.ts';

/** Returns the batch sizes of a function that takes these seconds for a number of rows. */
function sizesOf(seconds: (rows: number) => number, most = 4096, batches = 40): number[] {
  const size = new BatchSize(most);
  return Array.from({ length: batches }, () => {
    const { rows } = size;
    size.took(rows, seconds(rows));
    return rows;
  });
}

suite('The rows that a function gets at once', () => {
  test('are few at first, and soon as many as there are at most of a function that takes no time', () => {
    assert.deepEqual(
      sizesOf(() => 0.001)
        .slice(0, 5)
        .concat(sizesOf(() => 0, 100).at(-1)!),
      [8, 64, 512, 1024, 1024, 100],
    );
    assert.equal(new BatchSize(3).rows, 3);
  });

  test('are what takes a quarter of a second of a slow one, and one row of one that takes longer', () => {
    assert.deepEqual([...new Set(sizesOf((rows) => rows / 20).slice(1))], [5]);
    assert.deepEqual([...new Set(sizesOf((rows) => rows).slice(1))], [1]);
  });

  test('are not fewer than a function needs that waits for sixteen at once, or that takes as long for one as for many', () => {
    for (const seconds of [0.1, 1, 5]) {
      const sizes = sizesOf((rows) => Math.ceil(rows / 16) * seconds, 4096, 200).slice(8);
      const [rows, batches] = [sizes.reduce((a, b) => a + b), sizes.reduce((a, b) => a + Math.ceil(b / 16), 0)];
      assert.ok(rows / batches > 12, sizes.join());
      assert.ok(Math.max(...sizes) <= 40, sizes.join());
    }
    assert.equal(
      sizesOf(() => 0.3).reduce((a, b) => Math.max(a, b)),
      1024,
    );
  });

  test('are as many as there are at most of SQL, which the engine has computed by then', async () => {
    const fn = functionOf(sql('id + 1'), { inputs: ['id'], type: new Int32() });
    const rowsOf = async (batchRows: number) => {
      // Until rows arrive, only these fields of a job are used.
      const options = { function: fn, column: 'c', onError: { mode: 'fail' }, batchRows } as unknown;
      await using computing = await openComputing(options as ComputingOptions);
      return computing.request.batchSize.rows;
    };
    assert.deepEqual([await rowsOf(4096), await rowsOf(10)], [1024, 10]);
  });

  test('become fewer when a function becomes slower', () => {
    let calls = 0;
    const sizes = sizesOf((rows) => rows / (++calls <= 20 ? 1e6 : 20));
    assert.deepEqual([sizes[20], sizes.at(-1)], [1024, 5]);
  });

  test('are learned from a batch once, though several of a size are on their way', () => {
    const size = new BatchSize(1024);
    size.took(8, 0.001);
    size.took(8, 0.001);
    assert.equal(size.rows, 64);
    size.took(8, 8);
    assert.equal(size.rows, 1);
    size.took(64, 0.001);
    assert.equal(size.rows, 1);
  });
});
