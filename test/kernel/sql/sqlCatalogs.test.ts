import assert from 'node:assert/strict';
import { type RecordBatch, Table } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import type { KernelProcess } from '#processes/kernelProcess.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { runStatement } from '#sql/runStatement.ts';
import { openSqlEngine } from '#sql/sqlEngine.ts';
import { fullKey, type ServeProcess, startServe, writeKeys } from '../../contract/serve/serveProcess.ts';
import { tempFolder } from '../../harness/temp.ts';
import { run, startKernel, valueOf } from '../support.ts';

/** Writes a table whose only row says where it is. */
async function place(catalog: Catalog, name: string, namespacePath: string[] = []): Promise<void> {
  for (let depth = 1; depth <= namespacePath.length; depth++) {
    const path = namespacePath.slice(0, depth);
    if (!(await catalog.namespaceExists(path))) await catalog.createNamespace(path);
  }
  await catalog.createTable(name, [{ at: [...namespacePath, name].join('/'), id: 1 }], { namespacePath });
}

suite('Tables of several catalogs in SQL', function () {
  this.timeout(120_000);
  const roots = { db: tempFolder(), company: tempFolder(), archive: tempFolder() };
  let db: Catalog;
  let company: Catalog;
  let server: ServeProcess;
  let archive: Catalog;

  suiteSetup(async () => {
    registerRest();
    db = await openDir({ root: roots.db });
    company = await openDir({ root: roots.company });
    server = await startServe(['--root', roots.archive, '--keys', writeKeys([['all', fullKey, 'read-write', '*']])]);
    archive = await connectNamespace('rest', { uri: server.address, apiKey: fullKey });
    await place(db, 'orders', ['shop']);
    await place(db, 'orders', ['twin']);
    await place(db, 'orders', ['deep', 'shop']);
    await place(company, 'orders', ['shop']);
    await place(company, 'orders', ['shop', 'eu']);
    await place(company, 'orders', ['system']);
    await place(company, 'orders');
    await place(archive, 'orders', ['shop']);
    await place(archive, 'a.b-c', ['select']);
  });
  suiteTeardown(async () => {
    await Promise.all([db?.close(), company?.close(), archive?.close()]);
    await server?.stop();
  });

  const engine = openSqlEngine();
  async function ask(text: string): Promise<Record<string, unknown>[]> {
    const others: Readonly<Record<string, Catalog>> = {
      company,
      archive,
      twin: company,
      deep: company,
      memory: company,
    };
    const statement = {
      text,
      catalog: db,
      otherCatalog: async (name: string) => (Object.hasOwn(others, name) ? others[name] : undefined),
      otherCatalogNames: async () => Object.keys(others),
    };
    const { schema, batches } = await runStatement(engine, statement, new AbortController().signal);
    const all: RecordBatch[] = [];
    for await (const batch of batches) all.push(batch);
    return new Table(schema, all).toArray().map((row) => row.toJSON() as Record<string, unknown>);
  }

  const names: readonly (readonly [written: string, at: string])[] = [
    ['company.shop.orders', 'shop/orders'],
    ['"company"."shop/eu".orders', 'shop/eu/orders'],
    ['company.orders', 'orders'],
    ['company.main.orders', 'orders'],
    ['memory.shop.orders', 'shop/orders'],
    ['company.system.orders', 'system/orders'],
    ['archive."select"."a.b-c"', 'select/a.b-c'],
    // A namespace of the default catalog comes first, whether or not its name has quotes.
    ['twin.orders', 'twin/orders'],
    ['"twin".orders', 'twin/orders'],
    ['deep.shop.orders', 'deep/shop/orders'],
    // The default catalog has the namespace, but not the table or the nested namespace.
    ['twin.shop.orders', 'shop/orders'],
  ];
  for (const [written, at] of names)
    test(`${written} is ${at}`, async () => {
      assert.deepEqual(await ask(`select "at" from ${written}`), [{ at }]);
      // The name is also that of its columns.
      assert.deepEqual(await ask(`select x."at" from ${written} as x where x.id = 1`), [{ at }]);
    });

  test('are written as one name if the first part is reserved', async () => {
    await place(db, 'orders', ['temp']);
    for (const written of ['temp.orders', 'TEMP.orders', 'system.shop.orders'])
      await assert.rejects(
        ask(`select * from ${written}`),
        /The name "(?:temp|TEMP|system)" before a table is reserved in SQL\. Write the table in the namespace as "/,
      );
    assert.deepEqual(await ask('select "at" from "temp/orders"'), [{ at: 'temp/orders' }]);
    // The name of the engine's first database is not reserved.
    await place(db, 'orders', ['memory']);
    assert.deepEqual(await ask('select a."at" from memory.orders a, shop.orders b'), [{ at: 'memory/orders' }]);
  });

  test('are joined, from a directory and from a server', async () => {
    const text = `select a."at" || ' ' || b."at" || ' ' || c."at" as places
      from shop.orders a join company.shop.orders b on a.id = b.id join archive.shop.orders c on b.id = c.id`;
    assert.deepEqual(await ask(text), [{ places: 'shop/orders shop/orders shop/orders' }]);
    // Two and three names of one catalog.
    const both = 'select count(*) as n from company.orders a, company.shop.orders b, company.main.orders c';
    assert.deepEqual(await ask(both), [{ n: 1n }]);
  });

  test('may have thousands of columns', async () => {
    const width = 3000;
    const row = Object.fromEntries(Array.from({ length: width }, (_, column) => [`c${column}`, column]));
    await db.createTable('wide', [row]);
    const [found] = await ask('select * from wide where c2999 > 5');
    assert.deepEqual(found, row);
    assert.deepEqual(await ask('select c7, c2999 from wide'), [{ c7: 7, c2999: 2999 }]);
  });

  test('are written by their names', async () => {
    const other = 'company."shop/eu".copied';
    assert.deepEqual(await ask(`create table ${other} as select * from archive.shop.orders`), [{ rows: 1n }]);
    assert.deepEqual(await ask(`insert into ${other} select * from company.orders`), [{ rows: 1n }]);
    assert.equal(await company.openTable('copied', { namespacePath: ['shop', 'eu'] }).then((t) => t.countRows()), 2);
    // The namespace of the default catalog comes first also for a new table.
    await ask('create table twin.made as select 1 as one');
    assert.equal(await db.tableExists('made', { namespacePath: ['twin'] }), true);
    await ask('create table company.made as select 1 as one');
    assert.equal(await company.tableExists('made'), true);
  });

  test('say which there are if a name is unknown', async () => {
    await assert.rejects(
      ask('select * from nope.shop.orders'),
      /There is no table nope\.shop\.orders in .*The catalog has .*\bshop\b.*Other catalogs are company, archive, twin/,
    );
    await assert.rejects(
      ask('select * from company.shop.nope'),
      /no table company\.shop\.nope in .*The namespace shop has the table orders/,
    );
    await assert.rejects(
      ask('create table nope.shop.orders as select 1 as one'),
      /Can't create the table nope\.shop\.orders: there is no namespace nope\/shop, and no other catalog nope.*Other catalogs are company/,
    );
  });
});

suite('Connections of the client in SQL cells', function () {
  this.timeout(120_000);
  let kernel: KernelProcess;
  const root = tempFolder();
  const connections = new Map<string, CatalogConfig>();
  const asked: (string | null)[] = [];

  suiteSetup(async () => {
    const other = await openDir({ root });
    await place(other, 'orders', ['shop']);
    await other.close();
    connections.set('company', { implementation: 'dir', root });
    kernel = await startKernel({
      catalog: { implementation: 'dir', root: tempFolder() },
      connection: async (name) => {
        asked.push(name);
        if (name === 'broken') throw new Error('The setting names no folder.');
        return { names: [...connections.keys()], config: connections.get(name ?? '') ?? null, problem: null };
      },
    });
  });
  suiteTeardown(() => kernel?.shutdown());

  test('are the first of three names', async () => {
    const text = '(await sql`select "at" from company.shop.orders`.toArray())[0]!.at';
    assert.equal(await valueOf(kernel, text), "'shop/orders'");
    assert.ok(asked.includes('company'));
  });

  test('come after a variable with the same name', async () => {
    const mine = tempFolder();
    const other = await openDir({ root: mine });
    await place(other, 'mine', ['shop']);
    await other.close();
    await run(kernel, `const company = await connect(${JSON.stringify(mine)})`);
    assert.equal(await valueOf(kernel, '(await sql`select "at" from company.shop.mine`).numRows'), '1');
    assert.match(
      String(await valueOf(kernel, 'await sql`select 1 from company.shop.orders`')),
      /The namespace shop has the table mine/,
    );
    await run(kernel, 'const own = company');
  });

  test('are found when they are added while the kernel runs, and named if a name is unknown', async () => {
    assert.match(
      String(await valueOf(kernel, 'await sql`select 1 from later.shop.orders`')),
      /no table later\.shop\.orders .*Other catalogs are company, own/,
    );
    connections.set('later', { implementation: 'dir', root });
    assert.equal(await valueOf(kernel, '(await sql`select 1 from later.shop.orders`).numRows'), '1');
  });

  test('that can not be opened are an error of the query', async () => {
    assert.match(
      String(await valueOf(kernel, 'await sql`select 1 from broken.shop.orders`')),
      /Can't use the connection "broken": The setting names no folder\. Check the connection\./,
    );
  });
});
