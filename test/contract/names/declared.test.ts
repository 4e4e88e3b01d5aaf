import assert from 'node:assert/strict';
import { Field, Int32, Schema } from '#arrow';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';

const rows = [{ id: 1 }, { id: 2 }];

forEachSubject('declared tables', (makeCatalog) => {
  test('reserve a name, and have a place', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    const { location } = await db.declareTable('later', ['shop']);
    assert.match(location, /later/);
    assert.equal(await db.tableExists('later', ['shop']), true);
    await fails(() => db.declareTable('later', ['shop']), 'TableAlreadyExists', 'later');
    await db.dropTable('later', ['shop']);
    assert.equal(await db.tableExists('later', ['shop']), false);
  });

  test('are told apart from those that are written, empty or not there', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('t', rows, ['shop']);
    await db.createEmptyTable('empty', new Schema([new Field('id', new Int32())]), ['shop']);
    await db.declareTable('later', ['shop']);
    for (const [name, isDeclared] of [
      ['t', false],
      ['empty', false],
      ['later', true],
    ] as const) {
      assert.equal(await db.isOnlyDeclared(name, ['shop']), isDeclared, name);
    }
    await fails(() => db.isOnlyDeclared('nope', ['shop']), 'TableNotFound', 'nope');
    await fails(() => db.isOnlyDeclared('t', ['nope']), 'NamespaceNotFound', 'nope');
  });

  test('have nothing to copy, and those beside them are copied', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('t', rows, ['shop']);
    await db.declareTable('later', ['shop']);
    const target = await openDir({ root: tempFolder() });
    const { tables, skipped } = await db.copy(['shop'], { catalog: target, path: ['shop'] });
    assert.deepEqual(
      tables.map(({ from }) => from),
      ['shop/t'],
    );
    const declared = {
      from: 'shop/later',
      reason: 'The table is declared but has no data yet.',
      why: 'declared',
    };
    assert.deepEqual(skipped, [declared]);
    assert.deepEqual(await db.copy(['shop', 'later'], { catalog: target, path: ['later'] }), {
      tables: [],
      skipped: [declared],
    });
    assert.deepEqual([await target.tableNames(), await target.tableNames(['shop'])], [[], ['t']]);
    await target.close();
  });

  test('are not made where no namespace is', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.declareTable('later', ['nope']), 'NamespaceNotFound', 'nope');
  });
});

forEachSubject('registered tables', (makeCatalog) => {
  test('that are deregistered keep their data, and come back with it', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('t', rows, ['shop']);
    const { location } = await db.deregisterTable('t', ['shop']);
    assert.equal(await db.tableExists('t', ['shop']), false);
    assert.ok(location !== undefined && location !== '');
    await db.registerTable('again', location.split('/').filter(Boolean).at(-1)!, ['shop']);
    assert.equal(await (await db.openTable('again', ['shop'])).countRows(), 2);
  });

  test('do not take a name that is taken', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createTable('a', rows, ['shop']);
    await db.createTable('b', rows, ['shop']);
    const { location } = await db.deregisterTable('b', ['shop']);
    const name = location!.split('/').filter(Boolean).at(-1)!;
    await fails(() => db.registerTable('a', name, ['shop']), 'TableAlreadyExists', 'a');
  });

  test('stay within the root', async () => {
    const { db } = await makeCatalog();
    for (const location of ['../elsewhere', '/etc', 'a/../../b']) {
      await fails(() => db.registerTable('t', location), 'InvalidInput', 't');
    }
    assert.deepEqual(await db.tableNames(), []);
  });

  test('that are not there are missed', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.deregisterTable('nope'), 'TableNotFound', 'nope');
  });
});
