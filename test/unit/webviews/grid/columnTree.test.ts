import assert from 'node:assert/strict';
import type { ColumnInfo } from '#shared/protocol/webviewMessages.ts';
import { ColumnLayout, hide, moveBeside, noChoices, pin } from '../../../../webviews/grid/columnLayout.ts';
import {
  collapseColumn,
  expandColumn,
  gridColumns,
  maxNestedColumns,
  presentColumns,
} from '../../../../webviews/grid/columnTree.ts';

const plain = (name: string): ColumnInfo => ({ name, type: 'int32', nullable: false });
const struct = (name: string, ...fields: ColumnInfo[]): ColumnInfo => ({
  name,
  type: 'struct<…>',
  nullable: true,
  fields,
});

suite('Structs and their fields as columns', () => {
  // 0 id, 1 at, 2 name, 3 at.x, 4 at.geo, 5 at.geo.lat, 6 at.geo.lon
  const columns = gridColumns([
    plain('id'),
    struct('at', plain('x'), struct('geo', plain('lat'), plain('lon'))),
    plain('name'),
  ]);
  const shown = (choices = noChoices) =>
    new ColumnLayout(presentColumns(columns, choices.expanded), choices, () => 100).shown;
  const at = expandColumn(noChoices, columns, 1);
  const both = expandColumn(at, columns, 4);

  test('fields come in the place of their struct, also in depth, and go back', () => {
    assert.deepEqual(shown(), [0, 1, 2]);
    assert.deepEqual(shown(at), [0, 3, 4, 2]);
    assert.deepEqual(shown(both), [0, 3, 5, 6, 2]);
    assert.deepEqual(collapseColumn(both, columns, 4), at);
    assert.deepEqual(collapseColumn(both, columns, 1), noChoices);
    assert.deepEqual(expandColumn(at, columns, 1), at);
  });

  test('fields are where the struct was moved or pinned', () => {
    const all = presentColumns(columns, []);
    const moved = moveBeside(noChoices, { all, column: 1, target: 2, isAfter: true });
    assert.deepEqual(shown(expandColumn(moved, columns, 1)), [0, 2, 3, 4]);
    const pinned = expandColumn(pin(noChoices, 1), columns, 1);
    assert.deepEqual(shown(pinned), [3, 4, 0, 2]);
    assert.deepEqual(collapseColumn(pinned, columns, 1), pin(noChoices, 1));
  });

  test('a struct comes back where its first field was moved, hidden only if all fields were', () => {
    const all = presentColumns(columns, at.expanded);
    const moved = moveBeside(at, { all, column: 4, target: 0, isAfter: false });
    assert.deepEqual(shown(moved), [4, 0, 3, 2]);
    assert.deepEqual(shown(collapseColumn(moved, columns, 1)), [1, 0, 2]);
    assert.deepEqual(shown(collapseColumn(hide(at, 3), columns, 1)), [0, 1, 2]);
    assert.deepEqual(shown(collapseColumn(hide(hide(at, 3), 4), columns, 1)), [0, 2]);
    assert.deepEqual(shown(expandColumn(hide(noChoices, 1), columns, 1)), [0, 2]);
  });

  test('a field is null where its struct may be, and a blob has no fields', () => {
    assert.deepEqual(
      columns.map(({ nullable }) => nullable),
      [false, true, false, true, true, true, true],
    );
    const [blob] = gridColumns([{ name: 'b', type: 'struct<…>', nullable: true, blob: 'lance.blob.v2' }]);
    assert.deepEqual([blob!.type, blob!.fields], ['blob', []]);
    const fields = [{ name: 'c', type: 'struct<…>', nullable: true, blob: 'lance.blob.v2' }];
    const [, inner] = gridColumns([{ name: 's', type: 'struct<c: blob>', nullable: true, fields }]);
    assert.deepEqual([inner!.name, inner!.type, inner!.blob], ['s.c', 'blob', 'lance.blob.v2']);
  });

  test('structs with too many fields, or with a field without a name, stay whole', () => {
    const many = Array.from({ length: maxNestedColumns }, (_, index) => plain(`f${index}`));
    const found = gridColumns([struct('odd', plain('')), struct('small', plain('x')), struct('large', ...many)]);
    assert.deepEqual(
      found.slice(0, 3).map(({ fields }) => fields.length),
      [0, 1, 0],
    );
    assert.equal(found.length, 4);
  });
});
