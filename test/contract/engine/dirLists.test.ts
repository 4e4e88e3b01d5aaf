import assert from 'node:assert/strict';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as upstream from '@lancedb/lancedb';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';

/** Creates a directory with tables whose names only upstream accepts. */
async function oddRoot(path: string[]): Promise<string> {
  const root = tempFolder();
  const theirs = await upstream.connectNamespace('dir', { root });
  await theirs.createNamespace(['shop']);
  for (const name of ['', 'has/slash', 'a b', 'ümlaut', 'plain']) await theirs.createTable(name, [{ id: 1 }], path);
  return root;
}

suite('lists of a directory with odd names', function () {
  this.timeout(30_000);

  for (const path of [[], ['shop']]) {
    const where = path.length === 0 ? 'the root' : 'a namespace';

    test(`give each table that can be opened once, in pages of any size, in ${where}`, async () => {
      const db = await openDir({ root: await oddRoot(path) });
      const names = await db.tableNames(path);
      for (const name of ['a b', 'plain', 'ümlaut']) assert.ok(names.includes(name), name);
      assert.equal(new Set(names).size, names.length);
      for (const name of names) assert.equal(await (await db.openTable(name, path)).countRows(), 1, name);
      for (const limit of [1, 2, 3]) {
        const seen: string[] = [];
        let pageToken: string | undefined;
        for (let pages = 0; pages < 20; pages++) {
          const page = await db.listTables(path, { limit, pageToken });
          assert.ok(page.tables.length <= limit);
          seen.push(...page.tables);
          ({ pageToken } = page);
          if (pageToken === undefined) break;
        }
        assert.deepEqual(seen, names, `pages of ${limit}`);
      }
    });
  }

  test('drop all that is left of a name of which the engine made several folders', async () => {
    const root = await oddRoot([]);
    const db = await openDir({ root });
    await db.dropTable('ümlaut');
    await db.dropTable('a b');
    assert.equal((await db.tableNames()).includes('ümlaut'), false);
    assert.deepEqual(
      (await readdir(root)).filter((entry) => /mlaut|a b/.test(entry)),
      [],
    );
  });

  test('have a table that is only declared, unless those are left out', async () => {
    const root = tempFolder();
    const db = await openDir({ root });
    await mkdir(join(root, 'soon.lance'));
    await writeFile(join(root, 'soon.lance', '.lance-reserved'), '');
    await db.createTable('now', [{ id: 1 }]);
    assert.deepEqual(await db.tableNames(), ['now', 'soon']);
    assert.deepEqual((await db.listTables([], { includeDeclared: false })).tables, ['now']);
    assert.equal(await (await db.createTable('soon', [{ id: 1 }])).countRows(), 1);
  });

  test('do not take the folder of a table in a namespace for a table in the root, whatever it is called', async () => {
    const root = tempFolder();
    const theirs = await upstream.connectNamespace('dir', { root });
    await theirs.createNamespace(['shop']);
    await theirs.createTable('theirs.lance', [{ id: 1 }], ['shop']);
    const db = await openDir({ root });
    await db.createTable('ours.lance', [{ id: 1 }], ['shop']);
    assert.deepEqual(await db.tableNames(), []);
    assert.ok(!(await theirs.listTables([])).tables.some((name) => name.includes('ours')));
    const folder = (await readdir(root)).find((name) => name.endsWith('theirs.lance'))!;
    const phantom = folder.slice(0, -'.lance'.length);
    await fails(() => db.openTable(phantom), 'TableNotFound', phantom);
    await fails(() => db.dropTable(phantom), 'TableNotFound', phantom);
    for (const name of ['ours.lance', 'theirs.lance']) {
      assert.equal(await (await db.openTable(name, ['shop'])).countRows(), 1);
    }
  });
});
