import assert from 'node:assert/strict';
import { connectNamespace, type RestConfig } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { catalogErrorCodes, type CatalogErrorKind } from '#shared/errors.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { arrowType, list, refused, rows, type ServeProcess, startServe } from './serveProcess.ts';

suite('lance-catalog serve with one key in the environment', function () {
  this.timeout(30_000);
  const key = 'one-key-of-the-tests-0123456789';
  let server: ServeProcess;
  suiteSetup(async () => {
    server = await startServe(['--root', tempFolder(), '--api-key-env', 'TEST_KEY'], { env: { TEST_KEY: key } });
  });
  suiteTeardown(() => server.stop());

  test('serves who sends the key, in either of two headers', async () => {
    for (const headers of [{ 'x-api-key': key }, { authorization: `Bearer ${key}` }]) {
      const answer = await server.send({ ...list, headers });
      assert.deepEqual([answer.status, JSON.parse(answer.body)], [200, { tables: [] }]);
    }
  });

  test('is understood by our client, which names its own options', async () => {
    registerRest();
    const uri = server.address;
    const refusedWith = async (config: Partial<RestConfig>, kind: CatalogErrorKind, hint: string) => {
      const db = await connectNamespace('rest', { uri, apiKey: key, ...config });
      try {
        assert.equal((await fails(() => db.tableNames(), kind)).hint, hint);
      } finally {
        await db.close();
      }
    };
    await refusedWith({ apiKey: 'wrong' }, 'Unauthenticated', 'Send a key of this server as the option "apiKey".');
    const database = 'Name another database in the option "database", or start the server with --database zz=DIR.';
    await refusedWith({ database: 'zz' }, 'NamespaceNotFound', database);
    const prefix = 'Correct the option "databasePrefix", or leave it out.';
    await refusedWith({ databasePrefix: 'zz' }, 'NamespaceNotFound', prefix);
    await refusedWith({ uri: `${uri}/api` }, 'Unsupported', 'Check the path in uri.');
    // To other clients, the error names the header.
    const { body } = await server.send({ ...list, headers: { 'x-api-key': 'wrong' } });
    assert.match(body, /as x-api-key\./);
  });

  test('refuses every other key and none, whatever is asked', async () => {
    for (const headers of [
      {},
      { 'x-api-key': '' },
      { 'x-api-key': key.slice(0, -1) },
      { 'x-api-key': `${key}x` },
      { authorization: key },
      { authorization: `Basic ${key}` },
      { 'x-api-key': 'wrong', authorization: `Bearer ${key}` },
    ]) {
      for (const path of [list.path, '/v1/nothing', '/metrics', '/']) {
        const answer = await server.send({ method: 'GET', path, headers });
        assert.equal(answer.status, 401, `${path} ${JSON.stringify(headers)}`);
        refused(answer, 'Unauthenticated');
      }
    }
  });

  test('lets the key do everything', async () => {
    const headers = { 'x-api-key': key };
    assert.equal((await server.send({ path: '/v1/namespace/shop/create', headers })).status, 200);
    const made = await server.send({
      path: '/v1/table/shop%24t/create',
      headers: { ...headers, ...arrowType },
      body: rows(3),
    });
    assert.equal(made.status, 200, made.body);
    assert.equal((await server.send({ path: '/v1/table/shop%24t/count_rows', headers })).body, '3');
    assert.equal((await server.send({ path: '/v1/table/shop%24t/drop', headers })).status, 200);
  });

  test('refuses web pages and other hosts, before it looks at the key', async () => {
    for (const more of [{ origin: 'http://localhost' }, { origin: 'null' }, { host: 'evil.example' }]) {
      for (const path of [list.path, '/metrics']) {
        const answer = await server.send({ method: 'GET', path, headers: { 'x-api-key': key, ...more } });
        assert.equal(answer.status, 403, path);
        refused(answer, 'PermissionDenied');
      }
    }
  });

  test('says to anybody that it runs and is ready, and nothing else', async () => {
    for (const path of ['/healthz', '/readyz']) {
      for (const headers of [{}, { host: '10.1.2.3:8080' }]) {
        const { status, body } = await server.send({ method: 'GET', path, headers });
        assert.deepEqual([status, body], [200, 'ok\n']);
      }
    }
  });

  test('is found out by its address being a little wrong', async () => {
    registerRest();
    for (const [uri, kind, words] of [
      [`${server.address}/v1`, 'Unsupported', 'Remove the "/v1"'],
      [server.address.replace('http:', 'https:'), 'ServiceUnavailable', 'http://'],
    ] as const) {
      const db = await connectNamespace('rest', { uri, apiKey: key, retries: 0 });
      await fails(() => db.listTables(), kind, words);
      await db.close();
    }
  });

  test('counts for who has the key', async () => {
    await server.send({ ...list, headers: { 'x-api-key': key } });
    const { status, body } = await server.send({ method: 'GET', path: '/metrics', headers: { 'x-api-key': key } });
    assert.equal(status, 200);
    assert.match(body, /^lance_catalog_requests_total\{operation="ListTables",status="200"\} [1-9]\d*$/m);
    assert.match(body, /^lance_catalog_requests_total\{operation="ListTables",status="401"\} [1-9]\d*$/m);
    assert.match(body, /^lance_catalog_requests_in_flight 0$/m);
    assert.match(body, /^process_resident_memory_bytes \d{7,}$/m);
  });

  test('writes a line of JSON for each request, with the name of the key and no secret', async () => {
    await server.send({ path: '/v1/table/not-there/count_rows', headers: { 'x-api-key': key } });
    const line = await server.logged('request', ({ identifier }) => identifier === 'not-there');
    assert.deepEqual(
      { ...line, time: '', ms: 0, received: 0, sent: 0 },
      {
        time: '',
        level: 'info',
        event: 'request',
        method: 'POST',
        operation: 'CountTableRows',
        identifier: 'not-there',
        status: 404,
        code: catalogErrorCodes.TableNotFound,
        ms: 0,
        received: 0,
        sent: 0,
        key: 'environment',
        database: 'default',
        client: '127.0.0.1',
      },
    );
    for (const one of server.said().trimEnd().split('\n')) assert.doesNotThrow(() => JSON.parse(one), one);
    assert.ok(!server.said().includes(key.slice(0, 12)));
  });
});
