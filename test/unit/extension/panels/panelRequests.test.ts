import assert from 'node:assert/strict';
import { isCatalogError } from '#shared/errors.ts';
import type { ColumnPosition, PanelTable } from '#shared/protocol/webviewMessages.ts';
import { checkCell, checkRows, columnName, namesOf } from '../../../../extension/panels/panelRequests.ts';

const refused = (error: unknown) => isCatalogError(error, 'InvalidInput');

const leaf = (name: string) => ({ name, type: 'int32', nullable: true });
const table: PanelTable = {
  title: 'places',
  key: 'places',
  columns: [leaf('id'), { ...leaf('at'), fields: [leaf('x'), { ...leaf('odd.name'), fields: [leaf('y')] }] }],
  numRows: 1,
  version: 1,
  selectsColumns: true,
};

suite('What the webview of a table asks for', () => {
  test('columns and nested fields have their names, by position', () => {
    assert.deepEqual(namesOf(table, [0, 1, [1, 0], [1, 1, 0]]), ['id', 'at', 'at.x', 'at.`odd.name`.y']);
    for (const position of [2, [], [2], [1, 2], [0, 0], [1, 0, 0]] satisfies ColumnPosition[]) {
      assert.equal(columnName(table.columns, position), undefined);
      assert.throws(() => namesOf(table, [0, position]), refused);
    }
    assert.throws(() => namesOf({ ...table, selectsColumns: false }, [0]), refused);
  });

  test('rows and cells of nested fields are asked for by positions only', () => {
    const rows = { key: 'places', start: 0, end: 10 };
    assert.deepEqual(checkRows({ ...rows, columns: [0, [1, 0]] }).columns, [0, [1, 0]]);
    const cell = { key: 'places', where: '', row: 0, isOther: false };
    assert.deepEqual(checkCell({ ...cell, column: [1, 1] }).column, [1, 1]);
    for (const column of ['id', -1, [0.5], [['at']], null, { length: 1 }]) {
      assert.throws(() => checkRows({ ...rows, columns: [column] }), refused);
      assert.throws(() => checkCell({ ...cell, column }), refused);
    }
  });
});
