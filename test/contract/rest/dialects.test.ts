import assert from 'node:assert/strict';
import { connectNamespace, type RestConfig } from '#catalog/connect.ts';
import { type Operation, operations, readingOperations } from '#catalog/contract.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { fails } from '../expect.ts';
import { Connecting } from './connecting.ts';
import { type Behaviors, bytes, inTurn, json, refusal, type Seen } from './faultyServer.ts';

const rows = [{ id: 1 }];
const isProbe = (call: string): boolean => call === 'GET /v1/namespace/%24/table/list?limit=1';

/** The service's own four endpoints; everything else is an empty 404. */
const service: Behaviors = {
  'GET /v1/tables': json({ tables: ['t'] }),
  'POST /v1/tables/new': json({}),
  'POST /v1/namespace/a/create': json({}),
  'GET /v1/namespace/a/list': json({ namespaces: ['b'], tables: ['u'] }),
};

suite('the dialect of a server', function () {
  this.timeout(20_000);
  const here = new Connecting();
  teardown(() => here.end());

  test('is asked for once, by a list, before any body is sent', async () => {
    const server = await here.serve({ '*': json({ tables: [] }) });
    const db = await here.catalog({ uri: server.uri });
    await db.createTable('new', rows);
    await db.tableNames();
    await db.createTable('other', rows);
    assert.ok(isProbe(server.calls[0]!), server.calls[0]);
    assert.equal(server.calls.filter(isProbe).length, 1);
    assert.ok(server.calls.includes('POST /v1/table/new/create?mode=create'));
  });

  test('is asked for once by calls that come together', async () => {
    const server = await here.serve({ '*': json({ tables: [] }) });
    const db = await here.catalog({ uri: server.uri });
    await Promise.all([db.tableNames(), db.tableNames(), db.createTable('new', rows), db.listTables()]);
    assert.equal(server.calls.filter(isProbe).length, 1);
  });

  test('that is the older service’s is spoken: lists, creating, and namespaces with their tables', async () => {
    const server = await here.serve(service);
    const db = await here.catalog({ uri: server.uri });
    assert.deepEqual(await db.tableNames(), ['t']);
    assert.equal(server.seen.at(-1)!.headers['content-type'], 'application/json');
    await db.createTable('new', rows);
    const sent = server.seen.find(({ path }) => path.startsWith('/v1/tables/new'))!;
    assert.equal(sent.headers['content-type'], 'application/vnd.apache.arrow.stream');
    assert.ok(sent.body.length > 100);
    await db.createNamespace(['a']);
    assert.deepEqual(await db.listNamespaces(['a']), { namespaces: ['b'] });
    assert.deepEqual(await db.listTables(['a']), { tables: ['u'] });
    const bodies = server.seen.filter(({ body, method }) => method === 'POST' && body.length > 100);
    assert.equal(bodies.length, 1, 'a body of rows is sent once');
  });

  test('stays open after an answer that decides nothing, and is asked for again', async () => {
    const list = inTurn(bytes(401, ''), bytes(401, ''), bytes(404, ''));
    const server = await here.serve({ ...service, 'GET /v1/namespace/%24/table/list': list });
    const db = await here.catalog({ uri: server.uri });
    await fails(() => db.listTables(), 'Unauthenticated');
    assert.deepEqual(await db.tableNames(), ['t']);
  });

  test('is not guessed when the connection fails: no body is sent then', async () => {
    const server = await here.serve({
      'GET /v1/namespace/%24/table/list': ({ response }) => void response.destroy(),
      '*': json({}),
    });
    const db = await here.catalog({ uri: server.uri });
    await fails(() => db.createTable('new', rows), 'ServiceUnavailable');
    assert.ok(server.calls.every((call) => !call.startsWith('POST')));
  });

  test('is found by the next caller if the first one cancels', async () => {
    const abort = new AbortController();
    const server = await here.serve({
      'GET /v1/namespace/%24/table/list': inTurn(() => abort.abort(new Error('enough')), json({ tables: ['t'] })),
    });
    const db = await here.catalog({ uri: server.uri });
    const cancelled = db.listTables([], { signal: abort.signal });
    const waiting = db.tableNames();
    await assert.rejects(cancelled, { message: 'enough' });
    assert.deepEqual(await waiting, ['t']);
  });
});

suite('what a connection sends', function () {
  this.timeout(20_000);
  const here = new Connecting();
  suiteSetup(() => registerRest());
  teardown(() => here.end());

  const headersOf = async (config: Omit<RestConfig, 'uri'>, host = ''): Promise<Seen['headers']> => {
    const server = await here.serve({ '*': json({ namespaces: [] }) });
    const uri = host ? `http://${host}` : server.uri;
    const endpoint = host ? { endpoint: `127.0.0.1:${server.port}` } : {};
    const db = await connectNamespace('rest', { uri, ...endpoint, ...config });
    here.atEnd(() => db.close());
    await db.listNamespaces();
    return server.seen[0]!.headers;
  };

  test('has the key, the token, the database and what else is configured', async () => {
    const headers = await headersOf({
      apiKey: 'k1',
      token: 't1',
      database: 'sales',
      databasePrefix: 'eu',
      headers: { 'X-Team': 'data' },
      'headers.x-trace': 'on',
    });
    assert.equal(headers['x-api-key'], 'k1');
    assert.equal(headers['authorization'], 'Bearer t1');
    assert.equal(headers['x-service-database'], 'sales');
    assert.equal(headers['x-service-database-prefix'], 'eu');
    assert.equal(headers['x-team'], 'data');
    assert.equal(headers['x-trace'], 'on');
  });

  test('has the database under another name where one is given, and not where the address holds it', async () => {
    const headerNames = { database: 'x-lancedb-database', databasePrefix: 'x-lancedb-database-prefix' };
    const headers = await headersOf({ database: 'sales', databasePrefix: 'eu', headerNames });
    assert.equal(headers['x-lancedb-database'], 'sales');
    assert.equal(headers['x-lancedb-database-prefix'], 'eu');
    assert.equal(headers['x-service-database'], undefined);
    const inHost = await headersOf({ database: 'sales', apiKey: 'k1' }, 'sales.eu.api.example.com');
    assert.equal(inHost['x-service-database'], undefined);
    assert.equal(inHost.host, 'sales.eu.api.example.com');
  });

  test('has the database on a host that only begins with its name', async () => {
    for (const host of [
      'sales.example.com',
      'sales.eu.example.com',
      'sales.api.example.com',
      'salesforce.eu.api.a.com',
    ]) {
      assert.equal((await headersOf({ database: 'sales' }, host))['x-service-database'], 'sales', host);
    }
  });

  test('has no header that a value or a name brings along', async () => {
    const uri = 'http://127.0.0.1:9';
    const secret = 'k1-secret\r\nx-admin: yes';
    const cases: [RestConfig, string][] = [
      [{ uri, apiKey: secret }, 'x-api-key'],
      [{ uri, token: 'tést ☃' }, 'authorization'],
      [{ uri, headers: { 'x-a': 'b\nc' } }, 'x-a'],
      [{ uri, 'headers.x-a': 'b\rc' }, 'x-a'],
      [{ uri, headers: { 'x-a\r\nx-admin': 'b' } }, 'not a valid header name'],
      [{ uri, headers: { '': 'b' } }, 'not a valid header name'],
      [{ uri, headers: { Host: 'other' } }, '"host"'],
      [{ uri, headers: { 'Transfer-Encoding': 'chunked' } }, '"transfer-encoding"'],
      [{ uri, 'headers.content-length': '0' }, '"content-length"'],
      [{ uri, apiKey: 'a', headers: { 'X-API-Key': 'b' } }, 'two different values'],
      [{ uri, database: 'a', headerNames: { database: 'x a' } }, 'not a valid header name'],
      [{ uri, apiKey: '' }, 'apiKey'],
    ];
    for (const [config, said] of cases) {
      const error = await fails(() => connectNamespace('rest', config), 'InvalidInput', said);
      assert.doesNotMatch(error.message, /k1-secret|tést/);
    }
  });

  test('is refused where its configuration is wrong, by the part that is', async () => {
    const uri = 'https://catalog.example.com';
    const cases: [RestConfig, string][] = [
      [{ uri: '' }, 'no URL'],
      [{ uri: 'nonsense' }, 'not the URL of a catalog server'],
      [{ uri: 'ftp://a.b' }, 'ftp://a.b'],
      [{ uri: 'https://user:hunter22@a.b' }, 'password'],
      [{ uri: 'https://a.b?key=hunter22' }, 'more than a server and a path'],
      [{ uri, endpoint: 'http://10.0.0.1' }, 'endpoint'],
      [{ uri, endpoint: '10.0.0.1', proxy: 'http://p:1' }, 'proxy'],
      [{ uri, proxy: 'hunter22' }, 'proxy'],
      [{ uri, ca: 'hunter22' }, 'ca'],
      [{ uri, delimiter: 'a' }, 'delimiter'],
      [{ uri, delimiter: '' }, 'delimiter'],
      [{ uri, timeouts: { body: -1 } }, 'timeouts.body'],
      [{ uri, retries: 1.5 }, 'retries'],
      [{ uri, hedaers: {} } as never, '"hedaers"'],
    ];
    for (const [config, said] of cases) {
      const error = await fails(() => connectNamespace('rest', config), 'InvalidInput', said);
      assert.doesNotMatch(error.message, /hunter22/);
    }
  });

  test('joins identifiers by the delimiter that is configured, and says which', async () => {
    const server = await here.serve({ '*': json({ namespaces: ['x'], properties: {} }) });
    const db = await here.catalog({ uri: server.uri, delimiter: '.' });
    await db.describeNamespace(['a', 'b']);
    await db.describeNamespace(['a.b', 'c']);
    await db.listNamespaces();
    assert.deepEqual(server.calls, [
      'POST /v1/namespace/a.b/describe?delimiter=.',
      'POST /v1/namespace/a.b%24c/describe',
      'GET /v1/namespace/%24/list?limit=100',
    ]);
  });

  test('goes to the path of the address too', async () => {
    const server = await here.serve({ '*': json({ namespaces: [] }) });
    const db = await here.catalog({ uri: `${server.uri}/catalogs/eu/` });
    await db.listNamespaces();
    assert.deepEqual(server.calls, ['GET /catalogs/eu/v1/namespace/%24/list?limit=100']);
  });
});

/** Returns a pattern that matches the calls of an operation in the form in which the stand-in records them. */
const addressOf = ({ method, path }: { method: string; path: string }): RegExp =>
  new RegExp(`^${method} ${path.replaceAll(/\{[a-z_]+\}/g, '[^/]+')}(\\?.*)?$`);

suite('what a server can do', function () {
  this.timeout(20_000);
  const here = new Connecting();
  teardown(() => here.end());

  test('is unknown at first and learnt from its answers', async () => {
    const server = await here.serve({
      'POST /v1/table/t/drop': refusal(404, 4, 't'),
      'POST /v1/table/t/rename': refusal(406, 0, 'No.'),
      'POST /v1/table/t/deregister': refusal(500, 18, 'Not supported: deregister_table not implemented'),
      'POST /v1/namespace/n/create': refusal(406, 0, 'No overwriting.'),
      'POST /v1/namespace/n/drop': refusal(403, 15, 'No.'),
      '*': json({ tables: [], namespaces: [] }),
    });
    const db = await here.catalog({ uri: server.uri });
    assert.ok(Object.values(await db.capabilities()).every((one) => one === 'unknown'));
    assert.equal(server.seen.length, 0);
    await fails(() => db.dropTable('t'), 'TableNotFound');
    await fails(() => db.renameTable('t', 'u'), 'Unsupported');
    await fails(() => db.deregisterTable('t'), 'Unsupported');
    await fails(() => db.createNamespace(['n'], { mode: 'overwrite' }), 'Unsupported');
    await fails(() => db.dropNamespace(['n']), 'PermissionDenied');
    await db.listNamespaces();
    const can = await db.capabilities();
    assert.equal(can.DropTable, 'yes');
    assert.equal(can.RenameTable, 'no');
    assert.equal(can.DeregisterTable, 'no');
    assert.equal(can.ListNamespaces, 'yes');
    // If a server refuses one mode, it may support the other modes. A missing permission says nothing about what the
    // server supports.
    assert.equal(can.CreateNamespace, 'unknown');
    assert.equal(can.DropNamespace, 'unknown');
  });

  test('is probed with unused names, and only by operations that read', async () => {
    const server = await here.serve({ '*': refusal(404, 4, 'x') });
    const db = await here.catalog({ uri: server.uri });
    const can = await db.capabilities({ probe: ['CountTableRows', 'RenameTable'] });
    assert.deepEqual([can.CountTableRows, can.RenameTable], ['yes', 'unknown']);
    assert.equal(server.calls.length, 1);
    assert.match(server.calls[0]!, /^POST \/v1\/table\/lance-catalog-probe-[0-9a-f-]{36}\/count_rows$/);
  });

  for (const operation of Object.keys(operations) as Operation[]) {
    test(`is not changed by a probe, even if it does all it is asked to: ${operation}`, async () => {
      const server = await here.serve({ '*': json({ tables: [], namespaces: [] }) });
      const db = await here.catalog({ uri: server.uri });
      const can = await db.capabilities({ probe: [operation] });
      if (!readingOperations.has(operation)) {
        assert.deepEqual(server.calls, []);
        assert.equal(can[operation], 'unknown');
      }
      const reading = [...readingOperations].map((name) => operations[name]);
      for (const call of server.calls)
        assert.ok(
          reading.some((one) => addressOf(one).test(call)),
          call,
        );
    });
  }
});
