import assert from 'node:assert/strict';
import { makeVector, Table } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { TableView } from '#catalog/view/tableView.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { entryOf } from '#engine/dir/files/manifestTable.ts';
import { createStagedTable } from '#engine/dir/files/staging.ts';
import { registerDir } from '#engine/register.ts';
import { isCatalogError, messageOf } from '#shared/errors.ts';
import { fails } from '../expect.ts';
import { type Moto, startMoto } from '../moto.ts';
import { type ServeProcess, startServe } from '../serve/serveProcess.ts';

const secretOf = (moto: Moto): string => moto.storageOptions['aws_secret_access_key']!;

/** Returns the store settings for a server, with the secret in its environment. */
function storageArguments(moto: Moto): string[] {
  return Object.entries(moto.storageOptions).flatMap(([name, value]) =>
    name === 'aws_secret_access_key'
      ? ['--storage-option-env', `${name}=TEST_STORE_SECRET`]
      : ['--storage-option', `${name}=${value}`],
  );
}

const serveFrom = (moto: Moto, root: string, secret = secretOf(moto)): Promise<ServeProcess> =>
  startServe(['--root', root, '--no-auth', ...storageArguments(moto)], { env: { TEST_STORE_SECRET: secret } });

const rowsOf = async (db: Catalog, name: string, path: string[], where?: string): Promise<unknown[]> => {
  const table = await db.openTable(name, path);
  const query = where === undefined ? table.query() : table.query().where(where);
  return (await query.toArray()).map((row) => ({ ...row }));
};

const idOf = ({ id }: { id: number }): number => id;
const idsOf = (rows: Table): number[] => Array.from(rows.getChild('id')!, Number);

suite('a root in an object store', function () {
  this.timeout(120_000);
  let moto: Moto;
  let server: ServeProcess | undefined;
  suiteSetup(async () => {
    registerDir();
    registerRest();
    moto = await startMoto();
  });
  suiteTeardown(async () => {
    await server?.stop();
    await moto.stop();
  });

  test('shows a table that was declared in one step, and to one writer', async () => {
    const location = moto.root('declared');
    const storageOptions = { ...moto.storageOptions };
    const db = await openDir({ root: location, storageOptions });
    await db.createNamespace(['shop']);
    await db.declareTable('t', ['shop']);
    const place = { location, isLocal: false, storageOptions };
    const listedAt = (await entryOf(place, 'shop$t'))!.location;
    const rows = new Table({ id: makeVector(Int32Array.of(1, 2)) });
    async function* batches() {
      yield* rows.batches;
    }
    await createStagedTable(place, 't', ['shop'], rows.schema, batches(), { listedAt });
    await fails(
      () => createStagedTable(place, 't', ['shop'], rows.schema, batches(), { listedAt }),
      'TableAlreadyExists',
    );
    assert.equal(await (await db.openTable('t', ['shop'])).countRows(), 2);
    await db.close();
  });

  test('tells a table that is only declared from one that is broken', async () => {
    const db = await openDir({ root: moto.root('states'), storageOptions: { ...moto.storageOptions } });
    await db.createNamespace(['shop']);
    await db.declareTable('later', ['shop']);
    await db.createTable('t', [{ id: 1 }], ['shop']);
    assert.equal(await db.isOnlyDeclared('later', ['shop']), true);
    assert.equal(await db.isOnlyDeclared('t', ['shop']), false);
    const { location } = await db.describeTable('t', ['shop']);
    await moto.spoil(`${location!.slice(`s3://${moto.bucket}/`.length)}/_versions/`);
    assert.equal(await db.isOnlyDeclared('t', ['shop']), false);
    await db.close();
  });

  test('lists tags with their branches, and says so where a file among them is none', async () => {
    const db = await openDir({ root: moto.root('tags'), storageOptions: { ...moto.storageOptions } });
    const table = await db.createTable('t', [{ id: 1 }]);
    await table.tags().create('here', 1);
    await table.branches().create('try');
    const branch = await db.openTable('t', { branch: 'try' });
    await branch.add([{ id: 2 }]);
    await branch.tags().create('there', 2);
    const tags = await table.tags().list();
    assert.deepEqual([tags.get('here')?.branch, tags.get('there')?.branch], [undefined, 'try']);
    await moto.spoil('tags/t.lance/_refs/tags/here');
    await fails(() => table.tags().list(), 'InvalidTableState', '"t"', '_refs/tags');
    assert.equal(await table.tags().getVersion('there'), 2);
    await db.close();
  });

  const subjects = {
    'dir, in this process': () =>
      connectNamespace('dir', { root: moto.root('dir'), storageOptions: { ...moto.storageOptions } }),
    'rest, over lance-catalog serve': async () => {
      server ??= await serveFrom(moto, moto.root('rest'));
      return connectNamespace('rest', { uri: server.address });
    },
  };
  for (const [name, open] of Object.entries(subjects)) {
    test(`sorts, filters and pages views: ${name}`, async () => {
      const db = await open();
      const rows = Array.from({ length: 2_000 }, (_, id) => ({ id, rest: (id * 7) % 40 }));
      const table = await db.createTable('views', rows.slice(0, 1_200));
      await table.add(rows.slice(1_200));
      await table.delete('id % 10 = 3');
      const pinned = await db.openTable('views', { version: await table.version() });
      const view = new TableView(pinned, {
        where: 'rest > 4',
        orderBy: [{ column: 'rest', descending: true }],
      });
      const wanted = rows
        .filter(({ id, rest }) => id % 10 !== 3 && rest > 4)
        .toSorted((a, b) => b.rest - a.rest || a.id - b.id);
      const first = await view.firstRows(50);
      assert.deepEqual(idsOf(first.rows), wanted.slice(0, 50).map(idOf));
      assert.equal((await view.list()).length, wanted.length);
      const pages = [];
      for (let at = 0; at < wanted.length; at += 500) pages.push(...idsOf(await view.rows(at, at + 500)));
      assert.deepEqual(pages, wanted.map(idOf));
      await view.close();
      await db.dropTable('views');
    });

    test(`takes, changes, gives and drops tables: ${name}`, async () => {
      const db = await open();
      await db.createNamespace(['shop']);
      await db.createNamespace(['shop', 'eu']);
      const table = await db.createTable(
        't',
        [
          { id: 1, name: 'a' },
          { id: 2, name: 'b' },
        ],
        ['shop', 'eu'],
      );
      assert.deepEqual(await db.tableNames(['shop', 'eu']), ['t']);
      await table.add([{ id: 3, name: 'c' }]);
      await table
        .mergeInsert('id')
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute([
          { id: 3, name: 'C' },
          { id: 4, name: 'd' },
        ]);
      await table.delete('id = 1');
      assert.equal(await table.countRows(), 3);
      assert.deepEqual(await rowsOf(db, 't', ['shop', 'eu'], 'id > 2'), [
        { id: 3, name: 'C' },
        { id: 4, name: 'd' },
      ]);
      await fails(() => db.createTable('t', [{ id: 1 }], ['shop', 'eu']), 'TableAlreadyExists', 'shop/eu/t');
      await fails(() => db.dropNamespace(['shop', 'eu']), 'NamespaceNotEmpty');
      await db.dropTable('t', ['shop', 'eu']);
      await fails(() => db.openTable('t', ['shop', 'eu']), 'TableNotFound');
      await db.dropNamespace(['shop'], { behavior: 'cascade' });
      assert.deepEqual((await db.listNamespaces()).namespaces, []);
      await db.close();
    });
  }

  test('says that the store refuses a wrong secret, and does not repeat it', async () => {
    const wrong = 'wrong-secret-of-the-tests';
    const db = await openDir({
      root: moto.root('dir'),
      storageOptions: { ...moto.storageOptions, aws_secret_access_key: wrong },
    });
    const said = await db.listTables().then(String, (error: unknown) => {
      assert.ok(isCatalogError(error, 'PermissionDenied'), messageOf(error));
      return error.message;
    });
    assert.match(said, /object store .* key.*secret/);
    assert.ok(!said.includes(wrong) && !said.includes(secretOf(moto)), said);
  });

  test('is not ready, says why in the log and answers clients clearly, when the secret is wrong', async () => {
    const wrong = 'wrong-secret-of-the-tests';
    const other = await serveFrom(moto, moto.root('rest'), wrong);
    try {
      const ready = await other.send({ method: 'GET', path: '/readyz' });
      assert.deepEqual([ready.status, ready.body], [503, 'not ready\n']);
      assert.equal((await other.send({ method: 'GET', path: '/healthz' })).status, 200);
      const line = await other.logged('not_ready');
      assert.match(String(line['problem']), /object store .* key.*secret/);
      const db = await connectNamespace('rest', { uri: other.address });
      await fails(() => db.listTables(), 'PermissionDenied');
      await db.close();
    } finally {
      await other.stop();
    }
    assert.ok(!other.said().includes(wrong) && !other.said().includes(secretOf(moto)));
  });

  test('names a bucket that is not there', async () => {
    const db = await openDir({ root: 's3://no-such-bucket/x', storageOptions: { ...moto.storageOptions } });
    await fails(() => db.listTables(), 'PermissionDenied');
  });
});
