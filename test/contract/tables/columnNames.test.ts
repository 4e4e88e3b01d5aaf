import assert from 'node:assert/strict';
import { Field, Float64, Int64, Schema, Struct } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import type { Table } from '#catalog/table/table.ts';
import { narrowedFilter } from '#catalog/view/valueCondition.ts';
import { TableView } from '#catalog/view/tableView.ts';
import { fieldPathText, isColumnName } from '#shared/fieldPath.ts';
import { forEachSubject } from '../subjects.ts';

const names = [
  'Unit Price',
  "it's",
  'a"b',
  'Größe',
  'שלום',
  '😀',
  'a,b',
  'x$y',
  '1st',
  'select',
  'CASE',
  'case',
  '<b>',
  'new\nline',
  '__proto__',
  'constructor',
];
const inside = new Struct([new Field('Odd field', new Float64(), true)]);
const schema = new Schema([
  new Field('id', new Int64(), false),
  ...names.map((name) => new Field(name, new Float64(), true)),
  new Field('Odd struct', inside, true),
]);
/** The values of every column, in the order of the table. */
const values = [2, null, 3, 1];
const sorted = [3n, 0n, 2n, 1n];

const makeTable = async (db: Catalog): Promise<Table> => {
  const rows = values.map((value, id) =>
    Object.fromEntries([
      ['id', BigInt(id)],
      ...names.map((name) => [name, value] as const),
      ['Odd struct', { 'Odd field': value }],
    ]),
  );
  await db.createTable('t', rows, { schema });
  const table = await db.openTable('t');
  return db.openTable('t', { version: await table.version() });
};

forEachSubject('columns whose names are not plain words', (makeCatalog) => {
  test('are read, sorted by and filtered by their names', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db);
    const paths = [...names, fieldPathText(['Odd struct', 'Odd field'])];
    const all = await table.query().select(paths).toArrow();
    for (const [index, path] of paths.entries()) {
      assert.deepEqual([...all.getChildAt(index)!], values, path);
      assert.equal(isColumnName(path), index < names.length, path);
      const view = new TableView(table, { orderBy: [{ column: path }] });
      const rows = await view.rows(0, 4, { columns: ['id', path] });
      assert.deepEqual([...rows.getChildAt(0)!], sorted, path);
      assert.deepEqual([...rows.getChildAt(1)!], [1, 2, 3, null], path);
      const read = () => table.query().select([path]).offset(2).limit(1).toArrow();
      const where = await narrowedFilter(read, undefined, { column: path, isOther: false });
      assert.deepEqual(
        (await table.query().where(where).select(['id']).toArray()).map(({ id }) => Number(id)),
        [2],
        path,
      );
    }
  });
});
