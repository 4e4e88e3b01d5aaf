import assert from 'node:assert/strict';
import { type Table, tableFromArrays, tableToIPC } from '#arrow';
import { columnsOf } from '#shared/arrow/arrowTypes.ts';
import { ColumnWidths } from '../../../../webviews/grid/columnWidths.ts';
import { pagedFrame } from '../../../../webviews/grid/frame.ts';

const [long, wide] = [123_456_789.123, 'a name that is much longer than the others'];

/** Rows in which the values of row 12 are the longest. */
const pageOf = (start: number, end: number): Table => {
  const rows = Array.from({ length: end - start }, (_, at) => start + at);
  return tableFromArrays({
    amount: Float64Array.from(rows, (row) => (row === 12 ? long : 1.5)),
    name: rows.map((row) => (row === 12 ? wide : `name ${row}`)),
  });
};

suite('The widths of columns', () => {
  test('fit the numbers of the first twenty rows, also if fewer of them are loaded at first', async () => {
    const columns = columnsOf(pageOf(0, 1).schema);
    const table = { title: 'sums', key: 'sums', columns, numRows: 1_000, version: 1, selectsColumns: true };
    const asked: number[] = [];
    const frame = pagedFrame(table, async (start, end) => {
      asked.push(end - start);
      // The grid draws what is loaded while it waits for more.
      if (asked.length === 2) widths.fitValues([0, 1], 0);
      return tableToIPC(pageOf(start, end), 'stream');
    });
    const widths = new ColumnWidths(frame, 33);
    await frame.show(0, 20, [0, 1]);
    assert.ok(asked.length > 1 && asked[0]! < 12, `the first page has ${asked[0]} rows`);
    const first = { amount: widths.width(0), name: widths.width(1) };
    assert.equal(widths.fitValues([0, 1], 0), true);
    const last = { amount: widths.width(0), name: widths.width(1) };
    assert.ok(first.amount < last.amount);
    assert.ok(last.amount >= String(long).length * widths.digit, `${last.amount} pixels for ${long}`);
    assert.equal(last.name, first.name, 'text may be cut, so its column does not move');
    assert.equal(widths.fitValues([0, 1], 0), false);
    frame.close();
  });
});
