import assert from 'node:assert/strict';
import { noChoices } from '../../../../webviews/grid/columnLayout.ts';
import { fromSettings, toSettings } from '../../../../webviews/grid/columnSettings.ts';

const columnsOf = (...names: string[]) => names.map((name) => ({ name }));

suite('What a user has set on columns', () => {
  const columns = columnsOf('id', '__proto__', 'name', 'score');
  const choices = { pinned: [3], hidden: [2], widths: { 1: 250, 3: 90 }, order: [3, 2, 1, 0] };

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
      choices: { pinned: [1], hidden: [], widths: { 1: 90 }, order: [1, 2] },
      rowHeight: 'small',
    });
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
