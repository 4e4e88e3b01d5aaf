import assert from 'node:assert/strict';
import { noChoices } from '../../../../webviews/grid/columnLayout.ts';
import { columnKind } from '../../../../webviews/grid/columns/columnKinds.ts';
import { findColumns, setShown } from '../../../../webviews/grid/columns/columnSearch.ts';

suite('The list of columns', () => {
  const columns = [
    { name: 'id', type: 'int64' },
    { name: 'Name', type: 'dictionary<int32, utf8>' },
    { name: 'embedding', type: 'fixed_size_list<float>[128]' },
    { name: 'photo', type: 'binary' },
  ];
  const all = { text: '', kind: undefined };

  test('finds columns by a part of the name and by kind, in their order', () => {
    assert.deepEqual(findColumns(columns, noChoices, { text: ' na ', kind: undefined }), [1]);
    assert.deepEqual(findColumns(columns, noChoices, { text: '', kind: 'vector' }), [2]);
    assert.deepEqual(findColumns(columns, { ...noChoices, pinned: [3], order: [2, 1] }, all), [3, 2, 1, 0]);
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
