import assert from 'node:assert/strict';
import { Int64, Table, tableFromIPC, tableToIPC, vectorFromArray } from '#arrow';
import { SqlDatabase } from '#session/sql/database/sqlDatabase.ts';

suite('The database of SQL', () => {
  let database: SqlDatabase;
  setup(() => (database = new SqlDatabase()));
  teardown(() => database.close());

  const answered = (text: string): { names: string[]; values: string[] } => {
    const table = tableFromIPC(database.answer({ text, bound: [] }));
    const values = table.schema.fields.map((_, index) => String(table.getChildAt(index)?.get(0)));
    return { names: table.schema.names.map(String), values };
  };

  test('gives the columns in the order of the query, also those whose names are numbers', () => {
    const { names, values } = answered('select 1 as b, 2 as "10", 3 as "5", 4 as "__proto__"');
    assert.deepEqual(names, ['b', '10', '5', '__proto__']);
    assert.deepEqual(values, ['1', '2', '3', '4']);
  });

  test('gives all columns of one name, also where another has the name that one of them would get', () => {
    const { names, values } = answered('select 1 as a, 2 as a, 3 as a_2, 4 as a');
    assert.deepEqual(names, ['a', 'a_3', 'a_2', 'a_4']);
    assert.deepEqual(values, ['1', '2', '3', '4']);
  });

  test('gives the columns of a query without rows', () => {
    const table = tableFromIPC(database.answer({ text: 'select 1 as b, 2 as "1" where 0', bound: [] }));
    assert.deepEqual([table.numRows, table.schema.names], [0, ['b', '1']]);
  });

  test('sees that there are enough rows, whatever numbers they have', () => {
    const rows = tableToIPC(new Table({ id: vectorFromArray([9007199254740993n, 2n], new Int64()) }), 'stream');
    const place = { schema: 'main', name: 't' };
    database.define(place, rows);
    database.insert(place, rows);
    const query = { text: 'select id from t where id % 2 = 1 limit 1', bound: [] };
    assert.equal(database.isEnough(query, 1), true);
    assert.equal(database.isEnough(query, 2), false);
  });
});
