import assert from 'node:assert/strict';
import { Field, Float64, Int32, Int64, Schema, Struct, Utf8 } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import type { Table } from '#catalog/table/table.ts';
import { countValues } from '#catalog/view/countValues.ts';
import { narrowedFilter } from '#catalog/view/valueCondition.ts';
import { TableView } from '#catalog/view/tableView.ts';
import { fieldPathText } from '#shared/fieldPath.ts';
import { forEachSubject } from '../subjects.ts';

const geo = new Struct([new Field('lat', new Float64(), true)]);
const address = new Struct([
  new Field('street', new Utf8(), true),
  new Field('Street', new Int32(), true),
  new Field('geo', geo, true),
  new Field('a.b', new Int32(), true),
  new Field('order', new Int32(), true),
]);
const schema = new Schema([new Field('id', new Int64(), false), new Field('address', address, true)]);

/** A null struct, a struct of nulls, and a null struct in a struct. */
const addresses = [
  { street: "d'Or", Street: 3, geo: { lat: 0.5 }, 'a.b': 1, order: 9 },
  { street: 'b', Street: 1, geo: null, 'a.b': 2, order: 7 },
  null,
  { street: null, Street: null, geo: { lat: null }, 'a.b': null, order: null },
  { street: 'a', Street: 2, geo: { lat: -1 }, 'a.b': 2, order: 8 },
];

/** The fields by their paths, and their values. */
const fields: readonly (readonly [path: readonly string[], values: readonly unknown[]])[] = [
  [
    ['address', 'street'],
    ["d'Or", 'b', null, null, 'a'],
  ],
  [
    ['address', 'Street'],
    [3, 1, null, null, 2],
  ],
  [
    ['address', 'geo', 'lat'],
    [0.5, null, null, null, -1],
  ],
  [
    ['address', 'a.b'],
    [1, 2, null, null, 2],
  ],
  [
    ['address', 'order'],
    [9, 7, null, null, 8],
  ],
];

const makeTable = async (db: Catalog): Promise<Table> => {
  await db.createTable(
    't',
    addresses.map((each, id) => ({ id: BigInt(id), address: each })),
    { schema },
  );
  const table = await db.openTable('t');
  return db.openTable('t', { version: await table.version() });
};

forEachSubject('nested fields by their paths', (makeCatalog) => {
  test('are columns of a query, null where a struct around them is', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db);
    const paths = fields.map(([path]) => fieldPathText(path));
    const rows = await table
      .query()
      .select(['id', ...paths])
      .toArrow();
    assert.equal(rows.numCols, 1 + fields.length);
    for (const [index, [path, values]] of fields.entries())
      assert.deepEqual([...rows.getChildAt(index + 1)!], values, path.join());
  });

  test('are sorted by, and read from a sorted view', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db);
    for (const [path, values] of fields) {
      const column = fieldPathText(path);
      const view = new TableView(table, { orderBy: [{ column, descending: true }] });
      await view.list();
      const rows = await view.rows(0, 5, { columns: [column] });
      const wanted = values.filter((value) => value !== null).toSorted((a, b) => (a! < b! ? 1 : -1));
      assert.deepEqual([...rows.getChildAt(0)!], [...wanted, ...values.filter((value) => value === null)], column);
      const first = await view.firstRows(2, { columns: [column] });
      assert.deepEqual([...first.rows.getChildAt(0)!], wanted.slice(0, 2), column);
      await view.close();
    }
  });

  test('are filtered by the value of a cell', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db);
    for (const [path, values] of fields) {
      const column = fieldPathText(path);
      for (const [row, value] of values.entries()) {
        const read = () => table.query().select([column]).offset(row).limit(1).toArrow();
        for (const isOther of [false, true]) {
          const where = await narrowedFilter(read, undefined, { column, isOther });
          const found = await table.query().where(where).select(['id']).toArray();
          const wanted = values.flatMap((each, id) => ((each === value) !== isOther ? [id] : []));
          assert.deepEqual(
            found.map(({ id }) => Number(id)),
            wanted,
            where,
          );
        }
      }
    }
  });

  test('have their values counted, those of text also by their start', async () => {
    const { db } = await makeCatalog();
    const table = await makeTable(db);
    for (const [path, values] of fields) {
      const counted = await countValues(table, {}, fieldPathText(path), { maxValues: 10 });
      const total = counted.values.reduce((sum, { count }) => sum + count, 0);
      assert.deepEqual([counted.values.length, total], [new Set(values).size, values.length], path.join());
    }
    const { values } = await countValues(table, {}, 'address.street', { start: 'D', maxValues: 10 });
    assert.deepEqual(
      values.map(({ text, literal }) => [text, literal]),
      [["d'Or", "'d''Or'"]],
    );
  });
});
