import assert from 'node:assert/strict';
import {
  clampSelection,
  exportedRows,
  isInRange,
  moved,
  rangeOf,
  selectCell,
  type Selection,
  wholeColumn,
  wholeRow,
  wholeTable,
} from '../../../../webviews/grid/selection.ts';

const size = { rows: 1_000, columns: 9 };
const at = (row: number, column: number): Selection => selectCell({ row, column });
const press = (from: Selection, key: string, { toEdge = false, extend = false } = {}): Selection | undefined =>
  moved(from, { key, toEdge, extend }, size, 20);
const active = (selection: Selection | undefined): number[] =>
  selection === undefined ? [] : [selection.active.row, selection.active.column];

suite('The selection of the grid', () => {
  test('an export has whole rows of a cell, of rows and of images, and else the selected columns', () => {
    const shown = [8, 7, 6, 5, 4, 3, 2, 1, 0];
    const exported = (selection: Selection, isGallery = false) => exportedRows(selection, { shown, size, isGallery });
    assert.deepEqual(exported(at(3, 4)), { start: 3, end: 4, columns: null });
    assert.deepEqual(exported(wholeRow(7, size)), { start: 7, end: 8, columns: null });
    const some: Selection = { anchor: { row: 9, column: 1 }, active: { row: 2, column: 3 } };
    assert.deepEqual(exported(some), { start: 2, end: 10, columns: [7, 6, 5] });
    assert.deepEqual(exported(some, true), { start: 2, end: 10, columns: null });
    assert.deepEqual(exported(wholeColumn(2, size)), { start: 0, end: 1_000, columns: [6] });
    assert.equal(exported(at(-1, 2)), undefined);
  });

  test('keys move by a cell, a page, to the edge and to the corners', () => {
    const from = at(500, 4);
    const ends: [string, { toEdge?: boolean }, number[]][] = [
      ['ArrowUp', {}, [499, 4]],
      ['ArrowDown', {}, [501, 4]],
      ['ArrowLeft', {}, [500, 3]],
      ['ArrowRight', {}, [500, 5]],
      ['PageUp', {}, [480, 4]],
      ['PageDown', {}, [520, 4]],
      ['Home', {}, [500, 0]],
      ['End', {}, [500, 8]],
      ['ArrowUp', { toEdge: true }, [0, 4]],
      ['ArrowDown', { toEdge: true }, [999, 4]],
      ['ArrowLeft', { toEdge: true }, [500, 0]],
      ['ArrowRight', { toEdge: true }, [500, 8]],
      ['Home', { toEdge: true }, [0, 0]],
      ['End', { toEdge: true }, [999, 8]],
    ];
    for (const [key, how, to] of ends) assert.deepEqual(active(press(from, key, how)), to, key);
    assert.equal(press(from, 'x'), undefined);
  });

  test('keys stop at the edges, and the header is above the first row', () => {
    assert.deepEqual(active(press(at(999, 8), 'ArrowDown')), [999, 8]);
    assert.deepEqual(active(press(at(990, 8), 'PageDown')), [999, 8]);
    assert.deepEqual(active(press(at(0, 0), 'ArrowLeft')), [0, 0]);
    assert.deepEqual(active(press(at(0, 3), 'ArrowUp')), [-1, 3]);
    assert.deepEqual(active(press(at(-1, 3), 'ArrowUp')), [-1, 3]);
    assert.deepEqual(active(press(at(-1, 3), 'ArrowRight')), [-1, 4]);
    assert.deepEqual(active(press(at(-1, 3), 'ArrowDown')), [0, 3]);
    assert.deepEqual(active(press(at(5, 3), 'PageUp')), [0, 3]);
  });

  test('Shift extends from the first cell, without the header', () => {
    const range = press(press(at(1, 4), 'ArrowUp', { extend: true })!, 'ArrowUp', { extend: true })!;
    assert.deepEqual(range, { active: { row: 0, column: 4 }, anchor: { row: 1, column: 4 } });
    assert.deepEqual(rangeOf(press(range, 'ArrowLeft', { extend: true })!), {
      startRow: 0,
      endRow: 2,
      startColumn: 3,
      endColumn: 5,
    });
    assert.deepEqual(press(range, 'ArrowDown'), at(1, 4));
  });

  test('whole rows, columns and the table', () => {
    assert.deepEqual(rangeOf(wholeRow(7, size)), { startRow: 7, endRow: 8, startColumn: 0, endColumn: 9 });
    assert.deepEqual(rangeOf(wholeColumn(2, size)), { startRow: 0, endRow: 1_000, startColumn: 2, endColumn: 3 });
    assert.deepEqual(rangeOf(wholeTable(size)), { startRow: 0, endRow: 1_000, startColumn: 0, endColumn: 9 });
    assert.ok(isInRange(rangeOf(wholeRow(7, size)), 7, 8));
    assert.ok(!isInRange(rangeOf(wholeRow(7, size)), 8, 8));
  });

  test('stays inside when columns are hidden or there are no rows', () => {
    assert.deepEqual(clampSelection(at(3, 8), { rows: 10, columns: 2 }), at(3, 1));
    assert.deepEqual(clampSelection(at(0, 0), { rows: 0, columns: 2 }), at(-1, 0));
    assert.deepEqual(
      active(moved(at(-1, 0), { key: 'ArrowDown', toEdge: false, extend: false }, { rows: 0, columns: 2 }, 1)),
      [-1, 0],
    );
  });
});
