import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Operation, operations } from '#catalog/contract.ts';
import { tempFolder } from '../../harness/temp.ts';
import {
  arrowType,
  list,
  refused,
  replaceFile,
  rows,
  type ServeProcess,
  startServe,
  writeKeys,
} from './serveProcess.ts';

const as = (key: string, more: Record<string, string> = {}) => ({ headers: { 'x-api-key': key, ...more } });

suite('lance-catalog serve with a file of keys', function () {
  this.timeout(30_000);
  const [writer, reader, shopper] = ['writer-key-0123456789', 'reader-key-0123456789', 'shopper-key-0123456789'];
  const lines = [
    ['ana', writer, 'read-write', '*'],
    ['bob', reader, 'read-only', '*'],
    ['eve', shopper, 'read-write', 'shop'],
  ] as const;
  const shop = { 'x-service-database': 'shop' };
  const eu = { 'x-service-database': 'eu' };
  let keys: string;
  let server: ServeProcess;
  suiteSetup(async () => {
    keys = writeKeys(lines);
    server = await startServe([
      '--keys',
      keys,
      '--database',
      `shop=${tempFolder()}`,
      '--database',
      `eu=${tempFolder()}`,
      '--public-host',
      'catalog.example.com',
    ]);
    const made = await server.send({
      path: '/v1/table/t/create',
      headers: { 'x-api-key': writer, ...shop, ...arrowType },
      body: rows(2),
    });
    assert.equal(made.status, 200, made.body);
  });
  suiteTeardown(() => server.stop());
  const ask = (headers: Record<string, string>) => server.send({ ...list, ...as(writer, headers) });

  test('lets a key for reading read', async () => {
    assert.equal((await server.send({ path: '/v1/table/t/count_rows', ...as(reader, shop) })).body, '2');
    const answer = await server.send({ path: '/v1/table/t/describe', ...as(reader, shop) });
    assert.equal(answer.status, 200, answer.body);
  });

  test('refuses every operation that changes something to a key for reading, before the body', async () => {
    const refusedOnes: string[] = [];
    for (const [operation, { method, path }] of Object.entries(operations)) {
      const answer = await server.send({
        method,
        path: path.replace('{id}', 'never').replace('{index_name}', 'never'),
        ...as(reader, shop),
        body: 'no JSON at all',
      });
      if (answer.status === 403) refusedOnes.push(operation);
    }
    const reading: readonly Operation[] = [
      'ListNamespaces',
      'DescribeNamespace',
      'NamespaceExists',
      'ListTables',
      'ListAllTables',
      'DescribeTable',
      'TableExists',
      'CountTableRows',
      'QueryTable',
      'ListTableVersions',
      'DescribeTableVersion',
      'GetTableStats',
      'ListTableIndices',
      'DescribeTableIndexStats',
      'ListTableTags',
      'GetTableTagVersion',
      'ListTableBranches',
      'ExplainTableQueryPlan',
      'AnalyzeTableQueryPlan',
      'DescribeTransaction',
      'ListJobs',
      'DescribeJob',
      'QueryJobEvents',
    ];
    assert.deepEqual(
      refusedOnes,
      Object.keys(operations).filter((operation) => !reading.some((one) => one === operation)),
    );
  });

  test('refuses the addresses of the service to a key for reading too', async () => {
    const answer = await server.send({
      path: '/v1/tables/new',
      headers: { ...as(reader, shop).headers, ...arrowType },
      body: rows(1),
    });
    assert.equal(answer.status, 403, answer.body);
    refused(answer, 'PermissionDenied', 'bob', 'read-only');
  });

  test('routes by the header of either name, and by the first label of the host', async () => {
    for (const headers of [
      { 'x-service-database': 'shop' },
      { 'x-lancedb-database': 'shop' },
      { host: 'shop.catalog.example.com' },
      { host: 'shop.localhost:1' },
      { host: 'shop.catalog.example.com', ...shop },
    ]) {
      const answer = await server.send({ ...list, ...as(reader, headers) });
      assert.deepEqual(JSON.parse(answer.body), { tables: ['t'] }, JSON.stringify(headers));
    }
    assert.deepEqual(JSON.parse((await server.send({ ...list, ...as(reader, eu) })).body), { tables: [] });
  });

  test('refuses a database that is not there, none, and two at once', async () => {
    const unknown = await ask({ 'x-service-database': 'us' });
    assert.equal(unknown.status, 404);
    refused(unknown, 'NamespaceNotFound', '"us"');
    refused(await ask({ host: 'us.catalog.example.com' }), 'NamespaceNotFound');
    refused(await ask({}), 'InvalidInput', 'x-service-database');
    refused(await ask({ host: 'eu.localhost', ...shop }), 'InvalidInput', 'different databases');
  });

  test('opens a key its own databases alone, and says nothing of others', async () => {
    assert.equal((await server.send({ ...list, ...as(shopper, shop) })).status, 200);
    // A client need not name the only database of its key.
    assert.deepEqual(JSON.parse((await server.send({ ...list, ...as(shopper) })).body), { tables: ['t'] });
    const [there, missing] = await Promise.all(
      ['eu', 'us'].map((name) => server.send({ ...list, ...as(shopper, { 'x-service-database': name }) })),
    );
    refused(there!, 'PermissionDenied');
    assert.equal(there!.body.replaceAll('eu', ''), missing!.body.replaceAll('us', ''));
  });

  test('keeps a prefix inside the database', async () => {
    for (const prefix of ['..', '../eu', 'a/../..', '/etc', 'a//b', '.', 'a\\b', '%2e%2e']) {
      const answer = await server.send({ ...list, ...as(shopper, { ...shop, 'x-service-database-prefix': prefix }) });
      assert.equal(answer.status, 400, prefix);
    }
    const missing = await server.send({ ...list, ...as(shopper, { ...shop, 'x-service-database-prefix': 'a/b' }) });
    assert.ok(missing.status >= 400, missing.body);
  });

  test('keeps the location of a table inside the database', async () => {
    const { body } = await server.send({ path: '/v1/table/t/describe', ...as(shopper) });
    const elsewhere = tempFolder();
    for (const location of [elsewhere, `file://${elsewhere}`, '../../outside', 's3://bucket/t.lance']) {
      for (const verb of ['register', 'declare']) {
        const answer = await server.send({
          path: `/v1/table/stolen/${verb}`,
          ...as(shopper),
          body: JSON.stringify({ location }),
        });
        assert.ok(answer.status >= 400, `${verb} ${location}: ${answer.status} ${answer.body} ${body}`);
      }
    }
  });

  test('reads the file again when it changes, and keeps the keys when it is wrong', async () => {
    const added = 'added-key-0123456789';
    replaceFile(keys, 'not a line of keys\n');
    const kept = await server.logged('keys_kept');
    assert.match(String(kept['problem']), /^Line 1 /);
    assert.equal((await server.send({ ...list, ...as(reader, shop) })).status, 200);

    writeKeys([lines[0], lines[2], ['new', added, 'read-only', 'eu']], keys);
    await server.logged('keys_read', ({ count }) => count === 3);
    assert.equal((await server.send({ ...list, ...as(reader, shop) })).status, 401);
    assert.equal((await server.send({ ...list, ...as(added) })).status, 200);

    chmodSync(keys, 0o640);
    await server.logged('keys_kept', ({ problem }) => String(problem).includes('mode 640'));
    assert.equal((await server.send({ ...list, ...as(added) })).status, 200);
    writeKeys(lines, keys);
    await server.logged('keys_read', ({ count, time }) => count === 3 && String(time) > String(kept['time']));
    for (const end = Date.now() + 15_000; ; await sleep(50)) {
      if ((await server.send({ ...list, ...as(reader, shop) })).status === 200) break;
      assert.ok(Date.now() < end);
    }
  });

  test('shows no key and no hash in its log', () => {
    for (const key of [writer, reader, shopper]) assert.ok(!server.said().includes(key));
    assert.doesNotMatch(server.said(), /[0-9a-f]{64}/);
    assert.ok(server.log().some((line) => line['key'] === 'ana'));
  });
});
