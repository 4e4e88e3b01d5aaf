import assert from 'node:assert/strict';
import { standardColumns } from '../../../../extension/panels/savedViews.ts';
import { describeView } from '../../../../extension/panels/viewDescription.ts';

suite('A view in words', () => {
  test('has its filter, order, hidden columns and version', () => {
    const view = {
      where: ' amount >\n 400',
      orderBy: [
        { column: 'amount', descending: true },
        { column: 'id', descending: false },
      ],
    };
    assert.equal(
      describeView({ view, columns: { ...standardColumns, hidden: ['x', 'y'] }, version: 3 }),
      'amount > 400 · by amount descending, id · 2 columns hidden · version 3',
    );
    assert.equal(describeView({ view: { where: '', orderBy: [] } }), 'all rows');
    const search = { text: 'red mug', isScan: false };
    assert.equal(describeView({ view: { where: 'x', orderBy: [], search } }), 'x · search "red mug"');
    assert.equal(describeView({ view: { where: 'x'.repeat(100), orderBy: [] } }).length, 80);
    const pairs = describeView({ view: { where: '😀'.repeat(60), orderBy: [] } });
    assert.ok(pairs.endsWith('😀…'), 'no half of a character');
  });
});
