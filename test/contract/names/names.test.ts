import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { promisify } from 'node:util';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { forEachSubject } from '../subjects.ts';

const run = promisify(execFile);
const rows = [{ id: 1 }, { id: 2 }];

/** Names that our rules refuse but upstream's own client accepts silently. */
const spaced = ['a b', 'a:b'];
const foreign = ['ümlaut', '東京'];

/** Roots with a namespace of each name that contains a table of the same name, created once by upstream's library. */
const made = new Map<readonly string[], Promise<string>>();
function madeByUpstream(names: readonly string[]): Promise<string> {
  const making = async (): Promise<string> => {
    const root = tempFolder();
    await run(python(), [inRoot('test/contract/python/oddNames.py'), root, ...names], { timeout: 60_000 });
    return root;
  };
  const root = made.get(names) ?? making();
  made.set(names, root);
  return root;
}

forEachSubject('names', (makeCatalog) => {
  test('of tables follow the rule where they are made, and nothing is left behind', async () => {
    const { db } = await makeCatalog();
    for (const name of ['', '.', '..', 'a b', 'a/b', '../up', 'a$b', 'ümlaut', 'a'.repeat(129), 'a\u0000b', 'a\r\nb']) {
      await fails(() => db.createTable(name, rows), 'InvalidInput', 'table');
      await fails(() => db.declareTable(name), 'InvalidInput', 'table');
    }
    await fails(() => db.createTable(7 as never, rows), 'InvalidInput', 'number');
    assert.deepEqual(await db.tableNames(), []);
    await db.createTable('A-z_0.9', rows);
    assert.deepEqual(await db.tableNames(), ['A-z_0.9']);
  });

  test('of up to 128 characters are names of tables', async () => {
    const { db } = await makeCatalog();
    const name = 'a'.repeat(128);
    await db.createTable(name, rows);
    assert.deepEqual(await db.tableNames(), [name]);
    assert.equal(await (await db.openTable(name)).countRows(), 2);
  });

  test('that hold nothing are refused by every call', async () => {
    const { db } = await makeCatalog();
    await fails(() => db.openTable(''), 'InvalidInput', 'table');
    await fails(() => db.dropTable(''), 'InvalidInput', 'table');
    await fails(() => db.tableExists(''), 'InvalidInput', 'table');
    await fails(() => db.listTables(['']), 'InvalidInput', 'namespace');
    await fails(() => db.openTable('t', 'shop' as never), 'InvalidInput', 'path');
  });

  test('that break the rule and do not exist are missing, not refused', async () => {
    const { db } = await makeCatalog();
    for (const name of [...spaced, ...foreign]) {
      await fails(() => db.openTable(name), 'TableNotFound', name);
      await fails(() => db.dropTable(name), 'TableNotFound', name);
      assert.equal(await db.tableExists(name), false);
      await fails(() => db.describeNamespace([name]), 'NamespaceNotFound', name);
      assert.equal(await db.namespaceExists([name]), false);
    }
  });

  for (const names of [spaced, foreign]) {
    test(`that upstream made are listed, opened, read and dropped whatever they are: ${names.join(', ')}`, async () => {
      const { db, root } = await makeCatalog();
      cpSync(await madeByUpstream(names), root, { recursive: true });
      assert.deepEqual((await db.listNamespaces()).namespaces.toSorted(), names.toSorted());
      for (const name of names) {
        assert.equal(await db.namespaceExists([name]), true);
        assert.deepEqual(await db.tableNames([name]), [name]);
        assert.equal(await db.tableExists(name, [name]), true);
        const table = await db.openTable(name, [name]);
        assert.deepEqual(await table.query().toArray(), [{ id: 1 }, { id: 2 }]);
        await table.add([{ id: 3 }]);
        assert.equal((await db.describeTable(name, [name])).numRows, 3);
      }
      const [first = '', second = ''] = names;
      await db.dropTable(first, [first]);
      assert.deepEqual(await db.tableNames([first]), []);
      await db.dropNamespace([first]);
      await db.dropNamespace([second], { behavior: 'cascade' });
      assert.deepEqual((await db.listNamespaces()).namespaces, []);
    });
  }

  test('are written with slashes for people', async () => {
    const { db } = await makeCatalog();
    await db.createNamespace(['shop']);
    await db.createNamespace(['shop', 'eu']);
    const error = await fails(() => db.openTable('orders', ['shop', 'eu']), 'TableNotFound', 'shop/eu/orders');
    assert.equal(error.identifier, 'shop/eu/orders');
  });
});
