import assert from 'node:assert/strict';
import { hide, noChoices } from '../../../../webviews/grid/columnLayout.ts';
import { fromSettings, toSettings } from '../../../../webviews/grid/columnSettings.ts';
import { expandColumn, gridColumns } from '../../../../webviews/grid/columnTree.ts';

const columnsOf = (...names: string[]) => names.map((name) => ({ name, parent: undefined, fields: [] }));

suite('What a user has set on columns', () => {
  const columns = columnsOf('id', '__proto__', 'name', 'score');
  const choices = { pinned: [3], hidden: [2], widths: { 1: 250, 3: 90 }, order: [3, 2, 1, 0], expanded: [] };

  test('is the same after it was kept', () => {
    const settings: unknown = JSON.parse(JSON.stringify(toSettings(columns, choices, 'large')));
    assert.deepEqual(fromSettings(columns, settings as ReturnType<typeof toSettings>), {
      choices,
      rowHeight: 'large',
    });
  });

  test('applies to the columns that another version of the table has', () => {
    const settings = toSettings(columns, choices, 'small');
    assert.deepEqual(fromSettings(columnsOf('new', 'score', 'id'), settings), {
      choices: { ...noChoices, pinned: [1], widths: { 1: 90 }, order: [1, 2] },
      rowHeight: 'small',
    });
  });

  test('has expanded structs and their fields by their paths', () => {
    const nested = gridColumns([
      { name: 'id', type: 'int64', nullable: false },
      {
        name: 'at',
        type: 'struct<x.y: int64, in: struct<z: int64>>',
        nullable: true,
        fields: [
          { name: 'x.y', type: 'int64', nullable: true },
          {
            name: 'in',
            type: 'struct<z: int64>',
            nullable: true,
            fields: [{ name: 'z', type: 'int64', nullable: true }],
          },
        ],
      },
    ]);
    const expanded = expandColumn(expandColumn({ ...noChoices, order: [1, 0], pinned: [1] }, nested, 1), nested, 3);
    const settings = toSettings(nested, hide(expanded, 2), 'small');
    assert.deepEqual(settings.expanded, ['at', 'at.in']);
    assert.deepEqual(settings.pinned, ['at.`x.y`', 'at.in.z']);
    assert.deepEqual(fromSettings(nested, settings).choices, hide(expanded, 2));
    // Another version has no struct any longer.
    const plain = gridColumns([{ name: 'at', type: 'int64', nullable: true }]);
    assert.deepEqual(fromSettings(plain, settings).choices, noChoices);
  });

  test('never hides all columns, and has valid widths and heights', () => {
    const settings = { ...toSettings(columns, noChoices, 'small'), hidden: ['id', 'id'], rowHeight: 'huge' };
    const wide = { ...settings, widths: [{ name: 'id', width: 1e9 }] };
    assert.deepEqual(fromSettings(columnsOf('id'), wide), {
      choices: { ...noChoices, widths: { 0: 2000 } },
      rowHeight: 'small',
    });
  });
});
