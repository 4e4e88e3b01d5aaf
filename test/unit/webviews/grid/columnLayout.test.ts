import assert from 'node:assert/strict';
import {
  ColumnLayout,
  hide,
  hideOthers,
  moveBeside,
  mostWidth,
  noChoices,
  pin,
  setWidth,
  showAll,
  unpin,
} from '../../../../webviews/grid/columnLayout.ts';

const layoutOf = (numColumns: number, choices = noChoices): ColumnLayout =>
  new ColumnLayout([...Array(numColumns).keys()], choices, (column) => choices.widths[column] ?? 100 + column);

const to = (column: number, target: number, isAfter = false) => ({ all: [0, 1, 2, 3], column, target, isAfter });

suite('The columns of the grid', () => {
  test('lie side by side', () => {
    const layout = layoutOf(3);
    assert.deepEqual(
      [0, 1, 2].map((index) => layout.place(index)),
      [
        { column: 0, left: 0, width: 100 },
        { column: 1, left: 100, width: 101 },
        { column: 2, left: 201, width: 102 },
      ],
    );
    assert.deepEqual([layout.pinnedWidth, layout.scrolledWidth], [0, 303]);
  });

  test('only those in the view are in its window, also of 100,000', () => {
    const layout = new ColumnLayout([...Array(100_000).keys()], noChoices, () => 120);
    for (const left of [0, 1, 119, 120, 121, 5_999_990, 11_999_000]) {
      const { start, end } = layout.window(left, 1_000);
      assert.ok(start * 120 <= left && (start + 1) * 120 > left, `the first at ${left}`);
      assert.ok(end === 100_000 || end * 120 >= left + 1_000, `the last at ${left}`);
      assert.ok(end - start <= 10);
    }
  });

  test('pinned columns come first and do not scroll', () => {
    const layout = layoutOf(4, pin(pin(noChoices, 2), 1));
    assert.deepEqual(layout.shown, [2, 1, 0, 3]);
    assert.deepEqual([layout.numPinned, layout.pinnedWidth, layout.scrolledWidth], [2, 203, 203]);
    assert.deepEqual(layout.place(1), { column: 1, left: 102, width: 101 });
    assert.deepEqual(layout.place(2), { column: 0, left: 0, width: 100 });
    assert.deepEqual(layout.window(0, 50), { start: 2, end: 3 });
    assert.deepEqual(layoutOf(4, unpin(pin(noChoices, 2), 2)).shown, [0, 1, 2, 3]);
  });

  test('hidden columns leave no gap and come back', () => {
    const hidden = hide(pin(noChoices, 1), 1);
    assert.deepEqual(layoutOf(3, hidden).shown, [0, 2]);
    assert.deepEqual(layoutOf(3, hidden).numPinned, 0);
    assert.equal(layoutOf(3, hidden).shown.indexOf(1), -1);
    assert.deepEqual(layoutOf(3, showAll(hidden)).shown, [1, 0, 2]);
  });

  test('a column is moved beside another one, and is pinned beside a pinned one', () => {
    const moved = moveBeside(noChoices, to(3, 1));
    assert.deepEqual(layoutOf(4, moved).shown, [0, 3, 1, 2]);
    assert.deepEqual(layoutOf(4, moveBeside(moved, to(0, 2, true))).shown, [3, 1, 2, 0]);
    assert.deepEqual(layoutOf(5, moved).shown, [0, 3, 1, 2, 4], 'a column that is new in the table comes last');
    const pinned = moveBeside(pin(noChoices, 2), to(0, 2, true));
    assert.deepEqual([layoutOf(4, pinned).shown, layoutOf(4, pinned).numPinned], [[2, 0, 1, 3], 2]);
    const freed = moveBeside(pinned, to(2, 3, true));
    assert.deepEqual([layoutOf(4, freed).shown, layoutOf(4, freed).numPinned], [[0, 1, 3, 2], 1]);
    assert.equal(moveBeside(moved, to(1, 1)), moved);
  });

  test('all others can be hidden', () => {
    assert.deepEqual(layoutOf(3, hideOthers(pin(noChoices, 0), [0, 1, 2], 1)).shown, [1]);
  });

  test('all columns may be pinned, and none may be there', () => {
    const all = layoutOf(2, pin(pin(noChoices, 0), 1));
    assert.deepEqual([all.pinnedWidth, all.scrolledWidth, all.window(0, 100)], [201, 0, { start: 2, end: 2 }]);
    assert.deepEqual(layoutOf(0).window(0, 100), { start: 0, end: 0 });
  });

  test('a width stays between the bounds', () => {
    assert.equal(setWidth(noChoices, 1, -5).widths[1], 40);
    assert.equal(setWidth(noChoices, 1, 1e9).widths[1], mostWidth);
    assert.deepEqual(layoutOf(3, setWidth(noChoices, 1, 300)).place(2), { column: 2, left: 400, width: 102 });
  });

  test('choices of a table that has lost columns are left out', () => {
    assert.deepEqual(layoutOf(2, hide(pin(noChoices, 7), 9)).shown, [0, 1]);
  });
});
