import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { Decimal, Field, FixedSizeList, Float32, Int32, Int64, Schema, TimestampMicrosecond, Utf8 } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { directoryOf, locationOfRows } from '#catalog/tableLocation.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { messageOf } from '#shared/errors.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { Connecting } from './connecting.ts';
import { json } from './faultyServer.ts';
import { type GravitinoOptions, GravitinoStandIn } from './gravitinoStandIn.ts';

const path = ['lake', 'sales'];
const schema = new Schema([
  new Field('id', new Int64(), false),
  new Field('note', new Utf8(), true),
  new Field('embedding', new FixedSizeList(4, new Field('item', new Float32(), true)), true),
]);

suite('the Lance REST service of Gravitino (stand-in)', function () {
  this.timeout(30_000);
  let folder: string;
  let ends: (() => Promise<void>)[];

  suiteSetup(() => registerRest());
  setup(() => {
    folder = tempFolder();
    ends = [];
  });
  teardown(async () => {
    for (const end of ends.toReversed()) await end();
  });

  async function open(
    options: Partial<GravitinoOptions> = {},
    config: object = {},
  ): Promise<{ db: Catalog; server: GravitinoStandIn; log: string[] }> {
    const opened: Catalog[] = [];
    const openDirectory = async (root: string) => {
      const db = await openDir({ root });
      opened.push(db);
      return db;
    };
    const server = await GravitinoStandIn.start({ folder, openDirectory, ...options });
    const log: string[] = [];
    const db = await connectNamespace(
      'rest',
      { uri: server.uri, retries: 0, ...config },
      { log: (line) => log.push(line) },
    );
    ends.push(async () => {
      await db.close();
      await server.stop();
      for (const one of opened) await one.close();
    });
    return { db, server, log };
  }

  /** Creates the schema `lake/sales` with the table `orders`, and registers `returns`, which has a row. */
  async function fill(db: Catalog): Promise<{ returns: string }> {
    await db.createNamespace(['lake'], { properties: { location: folder, owner: 'ann' } });
    await db.createNamespace(path);
    await db.createEmptyTable('orders', schema, path);
    const external = await openDir({ root: folder });
    await external.createTable('returns', [{ id: 7n, why: 'broken' }]);
    await external.close();
    const returns = join(folder, 'returns.lance');
    await db.registerTable('returns', returns, path);
    return { returns };
  }

  for (const options of [{}, { hasRights: true }, { hasPlain404: true }]) {
    const title = Object.keys(options)[0] ?? 'by default';
    test(`has catalogs, schemas and tables, and nothing at other levels (${title})`, async () => {
      const { db } = await open(options);
      assert.deepEqual(await db.listTables(), { tables: [] });
      await fill(db);
      assert.deepEqual(await db.listNamespaces(), { namespaces: ['lake'] });
      assert.deepEqual(await db.listTables(), { tables: [] });
      assert.deepEqual(await db.listNamespaces(['lake']), { namespaces: ['sales'] });
      assert.deepEqual(await db.listTables(['lake']), { tables: [] });
      assert.deepEqual(await db.listNamespaces(path), { namespaces: [] });
      assert.deepEqual(await db.tableNames(path), ['orders', 'returns']);
      assert.deepEqual((await db.listTables(path, { limit: 1 })).tables, ['orders']);
      await fails(() => db.listTables(['nowhere']), 'NamespaceNotFound', '"nowhere"');
    });

    test(`describes a table without its rows (${title})`, async () => {
      const { db } = await open(options);
      const { returns } = await fill(db);
      const columns = [
        { name: 'id', type: 'int64', nullable: false },
        { name: 'note', type: 'utf8', nullable: true },
        { name: 'embedding', type: 'fixed_size_list<float>[4]', nullable: true },
      ];
      for (let times = 0; times < 2; times += 1) {
        assert.deepEqual(await db.describeTable('orders', path), {
          name: 'orders',
          namespacePath: path,
          version: 1,
          columns,
          location: `${folder}/sales/orders/`,
        });
      }
      const { location, version, numRows } = await db.describeTable('returns', path);
      assert.deepEqual([location, version, numRows], [returns, undefined, undefined]);
      const table = await db.openTable('orders', path);
      assert.equal(String(await table.schema()), String(schema));
      assert.deepEqual(await db.describeNamespace(['lake']), { properties: { location: folder, owner: 'ann' } });
    });

    test(`says where the rows are, and how to open them there (${title})`, async () => {
      const { db, server } = await open(options);
      const { returns } = await fill(db);
      const table = await db.openTable('returns', path);
      const what = `The catalog server at ${server.uri} neither reads nor writes rows: it only describes table "lake/sales/returns", whose files are at "${returns}".`;
      const hint = `Open it there: connectNamespace("dir", { root: "${folder}" }), then openTable("returns").`;
      const calls: [string, () => Promise<unknown>][] = [
        ['QueryTable', () => table.query().toArray()],
        ['QueryTable', () => table.query().where('id = 7').limit(1).toArray()],
        ['QueryTable', () => table.vectorSearch([1, 2]).toArray()],
        ['CountTableRows', () => table.countRows()],
        ['InsertIntoTable', () => table.add([{ id: 8n, why: 'late' }])],
        [
          'MergeInsertIntoTable',
          () =>
            table
              .mergeInsert('id')
              .whenNotMatchedInsertAll()
              .execute([{ id: 8n, why: 'x' }]),
        ],
        ['UpdateTable', () => table.update({ values: { why: 'x' } })],
        ['DeleteFromTable', () => table.delete('id = 7')],
      ];
      for (const [operation, call] of calls) {
        const error = await fails(call, 'Unsupported');
        assert.equal(error.message, `${what} ${hint}`, operation);
        assert.deepEqual([error.operation, error.identifier], [operation, 'lake/sales/returns']);
        assert.equal(locationOfRows(error), returns);
      }
      const found = directoryOf(returns)!;
      const there = await openDir({ root: found.root });
      ends.push(() => there.close());
      assert.deepEqual(await (await there.openTable(found.table)).query().toArray(), [{ id: 7, why: 'broken' }]);
    });
  }

  test('names another client for a folder that a directory catalog does not list', async () => {
    const { db } = await open();
    await fill(db);
    const table = await db.openTable('orders', path);
    const error = await fails(() => table.toArrow(), 'Unsupported', `lance.dataset("${folder}/sales/orders/")`);
    assert.doesNotMatch(error.message, /connectNamespace/);
    // The folder is a real table: it opens under the name that a directory lists.
    symlinkSync(join(folder, 'sales', 'orders'), join(folder, 'linked.lance'), 'junction');
    const there = await openDir({ root: folder });
    ends.push(() => there.close());
    assert.equal(await (await there.openTable('linked')).countRows(), 0);
  });

  test('creates tables without rows, and says what to do with rows', async () => {
    const { db } = await open();
    await fill(db);
    await fails(
      () => db.createTable('late', [{ id: 1 }], path),
      'Unsupported',
      '"lake/sales/late"',
      'createEmptyTable()',
    );
    assert.equal(await db.tableExists('late', path), false);
    await db.createTable('late', undefined, path, { schema });
    assert.equal(await db.tableExists('late', path), true);
    await fails(() => db.createEmptyTable('late', schema, path), 'TableAlreadyExists', '"lake/sales/late"');
    await db.createEmptyTable('late', schema, path, { mode: 'exist_ok' });
    await db.createEmptyTable('late', new Schema([new Field('id', new Int32(), true)]), path, { mode: 'overwrite' });
    assert.deepEqual((await db.describeTable('late', path)).columns, [{ name: 'id', type: 'int32', nullable: true }]);
    await db.createNamespace(['other']);
    await db.createNamespace(['other', 's']);
    await fails(() => db.createEmptyTable('t', schema, ['other', 's']), 'InvalidInput', 'location must be specified');
  });

  test('declares, registers, deregisters and drops tables', async () => {
    const { db } = await open();
    const { returns } = await fill(db);
    const place = join(folder, 'declared.lance');
    assert.deepEqual(await db.declareTable('later', path, { location: place }), { location: place });
    assert.deepEqual((await db.describeTable('later', path)).columns, []);
    await fails(() => db.declareTable('later', path, { location: place }), 'TableAlreadyExists');
    assert.deepEqual(await db.deregisterTable('returns', path), { location: returns });
    await fails(() => db.openTable('returns', path), 'TableNotFound', '"lake/sales/returns"');
    await db.registerTable('again', returns, path);
    await db.dropTable('again', path);
    await fails(() => db.dropTable('again', path), 'TableNotFound');
    await fails(() => db.renameTable('orders', 'orders2', path), 'Unsupported', 'does not support RenameTable');
    assert.equal((await db.capabilities()).RenameTable, 'no');
    await fails(() => db.dropNamespace(path), 'NamespaceNotEmpty', '"lake/sales"');
    await db.dropNamespace(path, { behavior: 'cascade' });
    await db.dropNamespace(['lake']);
    await db.dropNamespace(['lake'], { mode: 'skip' });
    assert.deepEqual(await db.listNamespaces(), { namespaces: [] });
  });

  test('names the level that it does not have', async () => {
    const { db } = await open();
    await fill(db);
    const says = 'is at a level that this server does not have. Use one name for a catalog, two for a schema';
    await fails(() => db.createNamespace([...path, 'deep']), 'InvalidInput', `Namespace "lake/sales/deep" ${says}`);
    await fails(() => db.createEmptyTable('t', schema), 'InvalidInput', `Table "t" ${says}`);
    await fails(() => db.createEmptyTable('t', schema, ['lake']), 'InvalidInput', `Table "lake/t" ${says}`);
    await fails(() => db.describeNamespace([]), 'InvalidInput', says);
  });

  test('names the operations that it lacks, and they are known afterwards', async () => {
    const { db } = await open();
    await fill(db);
    const table = await db.openTable('orders', path);
    await fails(() => table.listIndices(), 'Unsupported', 'does not support ListTableIndices');
    await fails(() => table.tags().list(), 'Unsupported', 'does not support ListTableTags');
    await fails(() => table.listVersions(), 'Unsupported', 'does not support ListTableVersions');
    const found = await db.capabilities({ probe: ['QueryTable', 'CountTableRows', 'DescribeTable', 'ListTables'] });
    assert.deepEqual(
      [found.QueryTable, found.CountTableRows, found.ListTableTags, found.DescribeTable, found.ListTables],
      ['no', 'no', 'no', 'yes', 'yes'],
    );
  });

  test('leaves types open that it describes without their details', async () => {
    const { db } = await open();
    await fill(db);
    const fields = [new Field('at', new TimestampMicrosecond(), true), new Field('price', new Decimal(2, 10), true)];
    await db.createEmptyTable('open', new Schema(fields), path);
    const { columns } = await db.describeTable('open', path);
    assert.deepEqual(
      columns.map(({ type }) => type),
      ['timestamp', 'decimal'],
    );
    const table = await db.openTable('open', path);
    await fails(() => table.schema(), 'Unsupported', '"lake/sales/open"', 'column "at" as "timestamp"');
  });

  test('asks for a user or a token, and names what is wrong', async () => {
    const authorization = 'Bearer right-token-right-token';
    const { db } = await open({ authorization }, { token: 'right-token-right-token' });
    await fill(db);
    assert.deepEqual(await db.listNamespaces(), { namespaces: ['lake'] });
    const { db: wrong } = await open({ authorization }, { token: 'wrong-token-wrong-token' });
    const error = await fails(() => wrong.listNamespaces(), 'Unauthenticated');
    assert.doesNotMatch(error.message, /wrong-token/);
  });

  test('has secrets of its storage that no result, error or log shows', async () => {
    const { db, log } = await open();
    await fill(db);
    const table = await db.openTable('returns', path);
    const calls: (() => Promise<unknown>)[] = [
      () => db.describeTable('returns', path),
      () => db.describeTable('orders', path),
      () => db.describeNamespace(['lake']),
      () => db.describeNamespace(path),
      () => db.declareTable('later', path),
      () => db.createEmptyTable('new', schema, path),
      () => db.createTable('rows', [{ id: 1 }], path),
      () => db.isOnlyDeclared('orders', path),
      () => db.capabilities(),
      () => db.listTables(path),
      () => table.schema(),
      () => table.query().toArray(),
      () => table.countRows(),
      () => table.add([{ id: 1n, why: 'x' }]),
      () => db.deregisterTable('returns', path),
      () => db.dropTable('orders', path),
    ];
    const shown: string[] = [];
    const show = (value: unknown): void => {
      shown.push(inspect(value, { depth: 12, showHidden: true, getters: true }), String(value));
      try {
        shown.push(JSON.stringify(value, (_, one: unknown) => (typeof one === 'bigint' ? String(one) : one)) ?? '');
      } catch {
        // Not every value has a JSON form.
      }
    };
    for (const call of calls) {
      try {
        show(await call());
      } catch (error) {
        for (let at: unknown = error; at instanceof Error; at = at.cause) {
          show(at);
          shown.push(messageOf(at), at.stack ?? '');
        }
      }
    }
    show(db);
    show(table);
    const text = [...shown, ...log].join('\n');
    assert.ok(text.includes('returns.lance'), 'the location is shown');
    for (const secret of [GravitinoStandIn.secret, 'AKIDPLANTED']) assert.ok(!text.includes(secret), secret);
  });

  test('leaves storage options out of an error that repeats them', async () => {
    const here = new Connecting();
    ends.push(() => here.end());
    const storage_options = { secret_access_key: GravitinoStandIn.secret };
    const server = await here.serve({ '*': json({ error: 'Broken', code: 18, storage_options }, 500) });
    const db = await here.catalog({ uri: server.uri });
    const error = await fails(() => db.describeTable('t', path), 'Internal', 'Broken');
    assert.match(messageOf(error.cause), /"storage_options":"…"/);
    assert.ok(!inspect(error, { depth: 5 }).includes(GravitinoStandIn.secret));
  });
});
