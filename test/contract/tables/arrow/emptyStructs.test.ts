import assert from 'node:assert/strict';
import { connect } from '@lancedb/lancedb';
import { Field, Int32, List, Map_, Schema, Struct, Table, tableToIPC, Utf8, type DataType } from '#arrow';
import { inferRows } from '#catalog/arrow/inferRows.ts';
import { copyTables } from '#catalog/copy/copyTables.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { fails } from '../../expect.ts';
import { startServing } from '../../serve/serving.ts';
import { forEachOfOurs } from '../../subjects.ts';

// The engine stores nothing for a struct without fields, and reads the columns after it from the wrong place.

const hint = 'give it at least one field';
const nothing = new Struct([]);

const column = (type: DataType): Schema =>
  new Schema([new Field('id', new Int32(), true), new Field('m', type, true), new Field('z', new Int32(), true)]);

const nested: readonly (readonly [path: string, type: DataType])[] = [
  ['m', nothing],
  ['m.tags', new Struct([new Field('tags', nothing, true), new Field('n', new Int32(), true)])],
  ['m[]', new List(new Field('item', nothing, true))],
  [
    'm[value]',
    new Map_(
      new Field(
        'entries',
        new Struct([new Field('key', new Utf8(), false), new Field('value', nothing, true)]) as never,
        false,
      ),
    ),
  ],
];

const given = [{ id: 1, m: { tags: {}, n: 3 }, z: 5 }];

/** Writes the table as another client would. */
async function writeWithout(root: string, name: string): Promise<void> {
  const native = await connect(root);
  (await native.createTable(name, inferRows(given) as never)).close();
  native.close();
}

forEachOfOurs('structs without fields', (makeCatalog, subject) => {
  test('are refused in the rows of a new table', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.createTable('t', given), 'InvalidInput', '"m.tags"', hint);
    await fails(() => db.createTable('t', [{ id: 1, m: [{}] }]), 'InvalidInput', '"m[]"', hint);
    const batches = async function* () {
      await Promise.resolve();
      yield* inferRows(given).batches;
    };
    await fails(() => db.createTable('t', batches()), 'InvalidInput', '"m.tags"');
    assert.deepEqual((await db.listTables()).tables, []);
    await db.createTable('t', [{ id: 1, m: { tags: { a: 1 }, n: 3 }, z: 5 }, given[0]!]);
  });

  test('are refused in schemas and Arrow tables, at any depth', async () => {
    const { db } = await makeCatalog();
    for (const [path, type] of nested) {
      const schema = column(type);
      await fails(() => db.createEmptyTable('t', schema), 'InvalidInput', `"${path}"`, hint);
      await fails(() => db.createTable('t', [{ id: 1 }], { schema }), 'InvalidInput', `"${path}"`);
      await fails(() => db.createTable('t', new Table(schema)), 'InvalidInput', `"${path}"`);
    }
    assert.deepEqual((await db.listTables()).tables, []);
  });

  test('are refused in new columns and new types', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [{ id: 1, z: 5 }]);
    await fails(() => table.addColumns([{ name: 'm', dataType: nothing }]), 'InvalidInput', '"m"', hint);
    await fails(() => table.addColumns(column(nothing)), 'InvalidInput', '"m"');
    const valueSql = "arrow_cast(NULL, 'List(Struct( ))')";
    await fails(() => table.addColumns([{ name: 'm', valueSql }]), 'InvalidInput', '"m"', hint);
    await fails(() => table.alterColumns([{ path: 'z', dataType: nothing }]), 'InvalidInput', '"z"');
    await fails(() => table.add(inferRows(given), { mode: 'overwrite' }), 'InvalidInput', '"m.tags"');
    await fails(() => table.mergeInsert('id').whenNotMatchedInsertAll().execute(inferRows(given)), 'InvalidInput');
    assert.deepEqual(await table.query().toArray(), [{ id: 1, z: 5 }]);
  });

  test('of other clients stay readable by selected columns, and are not optimized', async () => {
    const { db, root } = await makeCatalog();
    await writeWithout(root, 't');
    const table = await db.openTable('t');
    const right = async () => assert.deepEqual(await table.query().select(['id', 'z']).toArray(), [{ id: 1, z: 5 }]);
    await right();
    await fails(() => table.optimize(), 'InvalidTableState', 'm.tags', 'Drop the column');
    await right();
    const copy = () => copyTables({ catalog: db, identity: 'same' }, ['t'], { catalog: db, path: ['u'] });
    await fails(copy, 'InvalidInput', '"m.tags"');
    assert.deepEqual((await db.listTables()).tables, ['t']);
    await table.dropColumns(['m']);
    await table.optimize();
    assert.deepEqual(await table.query().toArray(), [{ id: 1, z: 5 }]);
  });

  if (subject.id === 'serve')
    test('are refused in requests of other clients', async () => {
      const root = tempFolder();
      const db = await openDir({ root });
      await db.createTable('t', [{ id: 1, z: 5 }]);
      const server = await startServing(root);
      const body = Buffer.from(tableToIPC(inferRows(given), 'stream'));
      const post = async (path: string) => {
        const headers = { 'x-api-key': server.key, 'content-type': 'application/vnd.apache.arrow.stream' };
        const response = await fetch(`${server.uri}/v1/table/${path}`, { method: 'POST', headers, body });
        return [response.status, await response.text()] as const;
      };
      for (const path of ['u/create', 't/insert?mode=overwrite']) {
        const [status, text] = await post(path);
        assert.equal(status, 400, text);
        assert.match(text, /m\.tags/);
      }
      assert.deepEqual((await db.listTables()).tables, ['t']);
      await db.close();
      await server.close();
    });
});
