import assert from 'node:assert/strict';
import { tableFromArrays } from '#arrow';
import { copyRange } from '../../../../webviews/grid/copyRange.ts';
import { copyText } from '../../../../webviews/grid/copyText.ts';
import { type GridFrame, tableFrame } from '../../../../webviews/grid/frame.ts';

const numRows = 3000;
const ids = BigInt64Array.from({ length: numRows }, (_, row) => 9_007_199_254_740_993n + BigInt(row));
const names = Array.from({ length: numRows }, (_, row) => (row % 7 === 0 ? null : `a\t${row}`));
const whole = tableFrame(tableFromArrays({ id: ids, name: names }));

/** A frame that reads at most 500 rows at once, and counts the reads. */
function pagedFrame(text?: string): Pick<GridFrame, 'columns' | 'readRows'> & { reads: [number, number][] } {
  const reads: [number, number][] = [];
  return {
    reads,
    columns: whole.columns,
    readRows: async (start, end, columns, signal) => {
      reads.push([start, end]);
      const last = Math.min(end, start + 500);
      const read = await whole.readRows(start, last, columns, signal);
      return text === undefined ? read : { ...read, exactText: () => text };
    },
  };
}

const options = (change = {}) => ({
  form: 'tsv' as const,
  signal: new AbortController().signal,
  onProgress: () => {},
  confirm: () => Promise.resolve(true),
  ...change,
});

suite('Cells that are not loaded', () => {
  for (const form of ['tsv', 'csv', 'json', 'markdown'] as const)
    test(`are copied as ${form} as if they were loaded`, async () => {
      const result = await copyRange(pagedFrame(), { startRow: 10, endRow: 2990, columns: [1, 0] }, options({ form }));
      const rows = Array.from({ length: 2980 }, (_, at) => [
        names[at + 10] === null
          ? ({ text: '', kind: 'null' } as const)
          : ({ text: names[at + 10]!, kind: 'text' } as const),
        { text: String(ids[at + 10]), kind: 'number' } as const,
      ]);
      assert.ok(result.kind === 'text');
      assert.equal(result.text, copyText({ names: ['name', 'id'], rows }, form));
    });

  test('are read in few rows first, then in as many as a request may have', async () => {
    const frame = pagedFrame();
    await copyRange(frame, { startRow: 0, endRow: numRows, columns: [0] }, options());
    assert.deepEqual(frame.reads[0], [0, 8]);
    assert.deepEqual(frame.reads[1], [8, 2008]);
    assert.deepEqual(frame.reads[2], [508, 2508]);
  });

  test('of more than 10 MB are copied only after a question', async () => {
    const asked: number[] = [];
    const confirm = (bytes: number) => (asked.push(bytes), Promise.resolve(false));
    const range = { startRow: 0, endRow: numRows, columns: [1] };
    const result = await copyRange(pagedFrame('x'.repeat(10_000)), range, options({ confirm }));
    assert.deepEqual(result, { kind: 'declined' });
    assert.equal(asked.length, 1);
    assert.ok(Math.abs(asked[0]! - 30_000_000) < 5_000_000, String(asked[0]));
  });

  test('of more than the clipboard takes are not copied', async () => {
    const range = { startRow: 0, endRow: numRows, columns: [1] };
    const result = await copyRange(pagedFrame('x'.repeat(100_000)), range, options());
    assert.equal(result.kind, 'tooLarge');
  });

  test('are no longer read after a cancellation', async () => {
    const controller = new AbortController();
    const frame = pagedFrame();
    const onProgress = (rows: number) => rows > 0 && controller.abort();
    const copying = copyRange(
      frame,
      { startRow: 0, endRow: numRows, columns: [0] },
      options({ signal: controller.signal, onProgress }),
    );
    await assert.rejects(copying, { name: 'AbortError' });
    assert.equal(frame.reads.length, 2);
  });
});
