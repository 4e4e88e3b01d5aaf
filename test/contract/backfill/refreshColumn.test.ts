import assert from 'node:assert/strict';
import { connect } from '#catalog/connect.ts';
import { loadNative } from '#engine/native.ts';
import { registerDir } from '#engine/register.ts';
import { computedColumns } from '#jobs/definition/registration.ts';
import { tempFolder } from '../../harness/temp.ts';

suite("computed columns of the engine's own", () => {
  const root = tempFolder();
  suiteSetup(async () => {
    registerDir();
    const db = await connect(root);
    await db.createTable('t', [{ id: 1 }, { id: 2 }]);
    await db.close();
    const native = await (await loadNative()).connect(root);
    await (await native.openTable('t')).addColumns({ computed: [{ name: 'twice', valueSql: 'id * 2' }] });
    native.close();
  });

  test('a refresh fills the rows that have no value', async () => {
    const db = await connect(root);
    const table = await db.openTable('t');
    assert.equal(await table.countRows('twice IS NULL'), 2);
    const { numFilledRows, version } = await table.refreshColumn('twice');
    assert.equal(numFilledRows, 2);
    assert.equal(version, await table.version());
    assert.equal(await table.countRows('twice = id * 2'), 2);
    await db.close();
  });

  test('any other column is refused, and said to be filled otherwise', async () => {
    const db = await connect(root);
    const table = await db.openTable('t');
    await assert.rejects(table.refreshColumn('id'), /does not compute the column "id".*backfill/);
    await db.close();
  });

  test('is listed with its expression, as one that the engine fills', async () => {
    const db = await connect(root);
    const table = await db.openTable('t');
    const [column, ...others] = await computedColumns(table, AbortSignal.timeout(60_000));
    assert.deepEqual(others, []);
    assert.deepEqual([column?.column, column?.type, column?.keptBy, column?.rows], ['twice', 'double', 'engine', 2]);
    assert.equal(column?.function.kind === 'sql' && column.function.expression, 'id * 2');
    assert.deepEqual(column?.function.inputs, ['id']);
    await db.close();
  });
});
