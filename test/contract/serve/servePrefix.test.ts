import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { request } from 'undici';
import { connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { watchReplies } from '../upstream/replyPaths.ts';
import { type Answer, list, refused, type ServeProcess, startServe, writeKeys } from './serveProcess.ts';

const prefix = (value: string): Record<string, string> => ({ 'x-service-database-prefix': value });

// `send` of ServeProcess also checks that no response contains paths of the server.

suite('The database prefix of lance-catalog serve', function () {
  this.timeout(30_000);
  const [all, one, two] = ['all-databases-0123456789', 'one-database-0123456789', 'two-databases-0123456789'];
  let roots: { sales: string; eu: string; hr: string };
  let server: ServeProcess;

  suiteSetup(async () => {
    roots = { sales: tempFolder(), eu: tempFolder(), hr: tempFolder() };
    for (const [folder, table] of [
      [roots.sales, 'orders'],
      [join(roots.sales, 'north'), 'north_orders'],
      [join(roots.sales, 'sales'), 'sales_orders'],
      [roots.eu, 'eu_orders'],
    ] as const) {
      mkdirSync(folder, { recursive: true });
      const db = await openDir({ root: folder });
      await db.createTable(table, [{ id: 1 }]);
      await db.close();
    }
    writeFileSync(join(roots.sales, 'file'), 'not a folder');
    const keys = writeKeys([
      ['all', all, 'read-write', '*'],
      ['one', one, 'read-write', 'sales'],
      ['two', two, 'read-write', 'sales,eu'],
    ]);
    const databases = Object.entries(roots).flatMap(([name, root]) => ['--database', `${name}=${root}`]);
    server = await startServe(['--keys', keys, ...databases, '--public-host', 'catalog.example.com']);
  });
  suiteTeardown(() => server.stop());

  const ask = (key: string, headers: Record<string, string>): Promise<Answer> =>
    server.send({ ...list, headers: { 'x-api-key': key, ...headers } });
  const tables = async (key: string, headers: Record<string, string>): Promise<unknown> => {
    const answer = await ask(key, headers);
    assert.equal(answer.status, 200, answer.body);
    return (JSON.parse(answer.body) as { tables: unknown }).tables;
  };

  test('names the database by itself, and a folder below it after that', async () => {
    assert.deepEqual(await tables(all, prefix('sales')), ['orders']);
    assert.deepEqual(await tables(all, prefix('eu')), ['eu_orders']);
    assert.deepEqual(await tables(all, prefix('sales/north')), ['north_orders']);
    assert.deepEqual(await tables(two, { 'x-lancedb-database-prefix': 'sales/north' }), ['north_orders']);
  });

  test('is a folder below the database that a header or the host names', async () => {
    const database = { 'x-service-database': 'sales' };
    assert.deepEqual(await tables(all, { ...database, ...prefix('north') }), ['north_orders']);
    assert.deepEqual(await tables(all, { ...database, ...prefix('sales') }), ['sales_orders']);
    const host = { host: 'sales.catalog.example.com' };
    assert.deepEqual(await tables(all, { ...host, ...prefix('north') }), ['north_orders']);
  });

  test('is a folder of the one database that a key opens, unless it begins with its name', async () => {
    assert.deepEqual(await tables(one, prefix('north')), ['north_orders']);
    assert.deepEqual(await tables(one, prefix('sales/north')), ['north_orders']);
    assert.deepEqual(await tables(one, prefix('sales')), ['orders']);
    refused(await ask(one, prefix('eu')), 'NamespaceNotFound', '"sales"', '"eu"');
  });

  test('that leads nowhere is answered with 404, and without a path of the server', async () => {
    const database = { 'x-service-database': 'sales' };
    for (const [headers, ...words] of [
      [prefix('nowhere'), '"nowhere"'],
      [prefix('sales/nowhere'), '"sales"', '"nowhere"'],
      [{ ...database, ...prefix('nowhere/deep') }, '"sales"', '"nowhere/deep"'],
      [{ ...database, ...prefix('file') }, '"sales"', '"file"'],
    ] as const) {
      const answer = await ask(all, headers);
      assert.equal(answer.status, 404, answer.body);
      refused(answer, 'NamespaceNotFound', ...words);
      assert.doesNotMatch(answer.body, /mkdir|\/tmp\//);
    }
  });

  test('tells a key nothing of databases that it does not open', async () => {
    const [there, missing] = [await ask(two, prefix('hr')), await ask(two, prefix('us'))];
    refused(there, 'PermissionDenied', 'two');
    assert.equal(there.body.replaceAll('hr', ''), missing.body.replaceAll('us', ''));
  });

  test('is what a client sends for databasePrefix', async () => {
    registerRest();
    const db = await connectNamespace('rest', { uri: server.address, apiKey: all, databasePrefix: 'sales/north' });
    assert.deepEqual(await db.tableNames(), ['north_orders']);
    await db.close();
    const other = await connectNamespace('rest', { uri: server.address, apiKey: all, databasePrefix: 'sales/no' });
    await fails(() => other.tableNames(), 'NamespaceNotFound', '"sales"', '"no"');
    await other.close();
  });

  test('of a database whose folder has gone says that the server can not read it, and not where it was', async () => {
    rmSync(roots.hr, { recursive: true });
    const answer = await ask(all, { 'x-service-database': 'hr' });
    assert.equal(answer.status, 503, answer.body);
    refused(answer, 'ServiceUnavailable', '"hr"');
    // The log must name the path, because the administrator looks for the problem there.
    await server.logged('failure', ({ problem }) => String(problem).includes(roots.hr));
  });
});

/** Starts a server that sends this body in every response, and watches one response. */
async function watched(body: unknown): Promise<() => void> {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const replies = watchReplies(port, ['/srv/catalogs/sales']);
  await (await request(`http://127.0.0.1:${port}/`)).body.text();
  await new Promise((resolve) => void server.close(resolve));
  return () => replies.stop();
}

suite('The search of replies for paths', () => {
  test('finds one, with or without the slash that it begins with', async () => {
    for (const text of ['No folder /srv/catalogs/sales/a.', 'LanceRead: uri=srv/catalogs/sales/t.lance']) {
      const stop = await watched({ error: text });
      assert.throws(stop, /replies tell/);
    }
  });

  test('passes the fields that clients need to open the storage', async () => {
    (await watched({ location: '/srv/catalogs/sales/t.lance', table_uri: 'file:///srv/catalogs/sales/t.lance' }))();
  });
});
