import assert from 'node:assert/strict';
import { alignedRows } from '../../../kernel/cli/alignedRows.ts';

const names = ['id', 'name', 'description'];
const rows = [
  ['1', 'mug', 'a red mug'],
  ['2', 'lamp', 'a lamp'],
];

suite('Rows in a terminal', () => {
  test('have all columns in a pipe, and where they fit', () => {
    const all = ['id  name  description', '1   mug   a red mug', '2   lamp  a lamp'];
    for (const width of [undefined, 21, 80]) {
      const { align, shownColumns } = alignedRows(names, width);
      assert.deepEqual(align(rows), all);
      assert.equal(shownColumns(), 3);
    }
  });

  test('leave out the last columns that do not fit, and keep their widths', () => {
    const { align, shownColumns } = alignedRows(names, 20);
    assert.deepEqual(align(rows), ['id  name  …', '1   mug   …', '2   lamp  …']);
    assert.equal(shownColumns(), 2);
    assert.deepEqual(align([['3', 'pen', 'a pen that is much longer']]), ['3   pen   …']);
  });

  test('have one column in the narrowest terminal', () => {
    const { align } = alignedRows(names, 3);
    assert.deepEqual(align(rows), ['id  …', '1   …', '2   …']);
  });
});
