import assert from 'node:assert/strict';
import { noChoices } from '../../../../webviews/grid/columnLayout.ts';
import { expandColumn, gridColumns, presentColumns } from '../../../../webviews/grid/columnTree.ts';
import { columnKind } from '../../../../webviews/grid/columns/columnKinds.ts';
import { findColumns, listEntries, setShown } from '../../../../webviews/grid/columns/columnSearch.ts';

suite('The list of columns', () => {
  const columns = gridColumns([
    { name: 'id', type: 'int64', nullable: true },
    { name: 'Name', type: 'dictionary<int32, utf8>', nullable: true },
    { name: 'embedding', type: 'fixed_size_list<float>[128]', nullable: true },
    { name: 'photo', type: 'binary', nullable: true },
  ]);
  const present = [0, 1, 2, 3];
  const all = { text: '', kind: undefined };

  test('finds columns by a part of the name and by kind, in their order', () => {
    assert.deepEqual(findColumns(columns, present, noChoices, { text: ' na ', kind: undefined }), [1]);
    assert.deepEqual(findColumns(columns, present, noChoices, { text: '', kind: 'vector' }), [2]);
    assert.deepEqual(findColumns(columns, present, { ...noChoices, pinned: [3], order: [2, 1] }, all), [3, 2, 1, 0]);
  });

  test('finds a struct by its fields until they are columns, and has it above them', () => {
    const nested = gridColumns([
      { name: 'id', type: 'int64', nullable: true },
      {
        name: 'at',
        type: 'struct<x: bool, y: utf8>',
        nullable: true,
        fields: [
          { name: 'x', type: 'bool', nullable: true },
          { name: 'y', type: 'utf8', nullable: true },
        ],
      },
    ]);
    const [text, kind] = [
      { text: 'at.x', kind: undefined },
      { text: '', kind: 'boolean' as const },
    ];
    assert.deepEqual(findColumns(nested, [0, 1], noChoices, text), [1]);
    assert.deepEqual(findColumns(nested, [0, 1], noChoices, kind), [1]);
    const expanded = expandColumn(noChoices, nested, 1);
    const columnsNow = presentColumns(nested, expanded.expanded);
    assert.deepEqual(findColumns(nested, columnsNow, expanded, text), [2]);
    assert.deepEqual(listEntries(nested, columnsNow), [
      { column: 0, level: 0, isExpanded: false },
      { column: 1, level: 0, isExpanded: true },
      { column: 2, level: 1, isExpanded: false },
      { column: 3, level: 1, isExpanded: false },
    ]);
    // A column between the fields.
    assert.deepEqual(
      listEntries(nested, [2, 0, 3]).map(({ column }) => column),
      [1, 2, 0, 1, 3],
    );
  });

  test('knows the kinds of types', () => {
    const types = [
      'decimal128(10, 2)',
      'large_utf8',
      'bool',
      'timestamp[us, UTC]',
      'list<float>',
      'blob',
      'struct<a: bool>',
    ];
    const kinds = ['number', 'text', 'boolean', 'time', 'nested', 'binary', 'nested'];
    assert.deepEqual(
      [...types, 'null'].map((type) => columnKind(type)),
      [...kinds, 'other'],
    );
  });

  test('never hides the last column', () => {
    assert.deepEqual(setShown(noChoices, 4, [1, 2], false).hidden, [1, 2]);
    assert.deepEqual(setShown(noChoices, 4, [0, 1, 2, 3], false).hidden, [1, 2, 3]);
    assert.deepEqual(setShown({ ...noChoices, hidden: [1, 2] }, 4, [2], true).hidden, [1]);
  });
});
