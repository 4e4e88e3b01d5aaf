import assert from 'node:assert/strict';
import { maxContentHeight, RowScroll } from '../../../../webviews/grid/rowScroll.ts';

const rowHeight = 33;
const viewHeight = 700;

function scrollOf(numRows: number): RowScroll {
  const scroll = new RowScroll(numRows, rowHeight);
  scroll.resize(viewHeight);
  return scroll;
}

suite('The vertical position of the grid', () => {
  test('rows that fit into an element scroll as they are', () => {
    const scroll = scrollOf(1_000);
    assert.equal(scroll.isScaled, false);
    scroll.follow(330);
    assert.deepEqual([scroll.firstRow, scroll.endRow, scroll.scrollTop], [10, 32, 330]);
  });

  for (const numRows of [1_000_000, 100_000_000]) {
    const name = numRows.toLocaleString('en-US');

    test(`the bar's two ends are the first and the last of ${name} rows`, () => {
      const scroll = scrollOf(numRows);
      assert.equal(scroll.contentHeight, maxContentHeight);
      scroll.follow(maxContentHeight - viewHeight);
      assert.equal(scroll.endRow, numRows);
      assert.equal(scroll.top, numRows * rowHeight - viewHeight);
      scroll.follow(0);
      assert.equal(scroll.firstRow, 0);
    });

    test(`a tick of the wheel moves fewer than five of ${name} rows, and every row can be reached`, () => {
      const scroll = scrollOf(numRows);
      scroll.moveTo(Math.floor(numRows / 2) * rowHeight);
      for (let tick = 0; tick < 1_000; tick++) {
        const before = scroll.firstRow;
        scroll.moveBy(120);
        // The browser rounds the position of the scroll bar and reports it back.
        scroll.follow(Math.round(scroll.scrollTop));
        const rows = scroll.firstRow - before;
        assert.ok(rows >= 3 && rows < 5, `${rows} rows`);
      }
    });
  }

  test('a drag of the bar moves in proportion', () => {
    const scroll = scrollOf(100_000_000);
    scroll.follow((maxContentHeight - viewHeight) / 4);
    assert.ok(Math.abs(scroll.firstRow / 100_000_000 - 0.25) < 1e-6, String(scroll.firstRow));
  });

  test('a row is revealed with as little movement as needed', () => {
    const scroll = scrollOf(100_000_000);
    scroll.reveal(50_000_000);
    assert.equal(scroll.top, 50_000_001 * rowHeight - viewHeight);
    const { top } = scroll;
    scroll.reveal(49_999_990);
    assert.equal(scroll.top, top);
    scroll.reveal(49_999_000);
    assert.equal(scroll.top, 49_999_000 * rowHeight);
  });

  test('a table of fewer rows than the view has does not scroll', () => {
    const scroll = scrollOf(3);
    scroll.moveBy(1_000);
    assert.deepEqual([scroll.top, scroll.firstRow, scroll.endRow], [0, 0, 3]);
    assert.deepEqual([scrollOf(0).firstRow, scrollOf(0).endRow], [0, 0]);
  });

  test('a larger view keeps its end inside the rows', () => {
    const scroll = scrollOf(100);
    scroll.moveTo(Infinity);
    scroll.resize(1_500);
    assert.deepEqual([scroll.top, scroll.endRow], [3_300 - 1_500, 100]);
  });
});
