import assert from 'node:assert/strict';
import { fails } from '../expect.ts';
import { Connecting } from './connecting.ts';
import { bytes, inTurn, json, refusal } from './faultyServer.ts';

const noTables = json({ tables: [] });
const describeA = 'POST /v1/table/a/describe';

suite('answers that are not as they should be', function () {
  this.timeout(20_000);
  const here = new Connecting();
  teardown(() => here.end());

  test('of the specification are recognized by their codes, and name the operation and the object', async () => {
    for (const [status, code, kind, hint] of [
      [401, 16, 'Unauthenticated', 'key'],
      [403, 15, 'PermissionDenied', 'access'],
      [404, 4, 'TableNotFound', 'listTables'],
      [409, 14, 'ConcurrentModification', 'again'],
      [503, 17, 'ServiceUnavailable', 'later'],
      [500, 18, 'Internal', 'log'],
    ] as const) {
      const server = await here.serve({ '*': refusal(status, code, 'a short reason') });
      const db = await here.catalog({ uri: server.uri });
      const error = await fails(() => db.dropTable('a', { namespacePath: [] }), kind, hint);
      assert.deepEqual([error.operation, error.identifier, error.status], ['DropTable', 'a', status]);
    }
  });

  test('of a gateway are recognized by their status, and a web page is reported as one', async () => {
    const page = '<!doctype html><html><body>Bad gateway</body></html>';
    for (const [status, kind] of [
      [401, 'Unauthenticated'],
      [403, 'PermissionDenied'],
      [409, 'ConcurrentModification'],
      [429, 'Throttling'],
      [502, 'ServiceUnavailable'],
      [504, 'ServiceUnavailable'],
    ] as const) {
      const server = await here.serve({ '*': bytes(status, 'text/html; charset=utf-8', page) });
      const db = await here.catalog({ uri: server.uri });
      const error = await fails(() => db.listNamespaces(), kind, String(status), 'a web page', server.uri);
      assert.doesNotMatch(error.message, /</);
    }
    const server = await here.serve({ '*': json({ message: 'No such route.' }, 400) });
    await fails(
      async () => (await here.catalog({ uri: server.uri })).listNamespaces(),
      'InvalidInput',
      'No such route',
    );
  });

  test('of success with a web page, with broken JSON or with another shape are no lists', async () => {
    for (const [body, said] of [
      [bytes(200, 'text/html', '<html>Sign in</html>'), 'a web page'],
      [bytes(200, 'application/json', '{"namespaces":["a"'), 'not JSON'],
      [json(['a']), 'not an object'],
      [json({ namespaces: [7] }), '"namespaces"'],
      [json({}), '"namespaces"'],
    ] as const) {
      const server = await here.serve({ '*': body });
      const db = await here.catalog({ uri: server.uri });
      const error = await fails(() => db.listNamespaces(), 'Internal', said);
      assert.deepEqual([error.operation, error.identifier], ['ListNamespaces', '/']);
    }
  });

  test('of 404 without words mean another server, and on a catalog server an operation that it lacks', async () => {
    const none = await here.serve({});
    const db = await here.catalog({ uri: none.uri });
    await fails(() => db.describeNamespace(['a']), 'InvalidInput', '404', 'address');
    assert.equal((await db.capabilities()).DescribeNamespace, 'unknown');

    const server = await here.serve({ 'GET /v1/namespace/%24/table/list': noTables });
    const catalog = await here.catalog({ uri: server.uri });
    const error = await fails(() => catalog.renameTable('a', 'b'), 'Unsupported', '404');
    assert.equal(error.status, 404);
    const can = await catalog.capabilities();
    assert.deepEqual([can.RenameTable, can.ListTables, can.DropTable], ['no', 'unknown', 'unknown']);
  });

  test('with the name alone become sentences, and build paths and causes stay out of them', async () => {
    const texts: Record<string, [status: number, code: number, error: string]> = {
      a: [404, 4, 'a'],
      b: [500, 18, 'Not supported: rename_table not implemented, /home/runner/work/lance/rust/src/namespace.rs:292:13'],
      c: [500, 18, 'Something broke\nCaused by: /home/runner/x.rs:1:2: the disk'],
    };
    const server = await here.serve({
      '*': (turn) => refusal(...texts[turn.seen.path.split('/')[3]!]!)(turn),
    });
    const db = await here.catalog({ uri: server.uri });
    await fails(() => db.renameTable('a', 'z'), 'TableNotFound', 'Table "a" does not exist.');
    await fails(() => db.renameTable('b', 'z'), 'Unsupported', 'RenameTable', '"b"', 'not implemented');
    const error = await fails(() => db.renameTable('c', 'z'), 'Internal', 'Something broke.');
    assert.match(String(error.cause), /the disk/);
  });

  test('of a missing table stand where its namespace can no longer be asked for', async () => {
    const server = await here.serve({
      'POST /v1/table/a%24x/exists': refusal(404, 4, 'x'),
      'POST /v1/table/a%24x/drop': refusal(404, 4, 'x'),
      'POST /v1/namespace/a/exists': refusal(503, 17, 'The server goes down.'),
    });
    const db = await here.catalog({ uri: server.uri });
    await fails(() => db.renameTable('x', 'x', ['a']), 'TableNotFound', 'Table "a/x" does not exist.');
    await fails(() => db.dropTable('x', ['a']), 'TableNotFound', 'Table "a/x" does not exist.');
  });

  test('without end, or that lead to themselves, are given up', async () => {
    const server = await here.serve({
      'GET /v1/namespace/%24/list': json({ namespaces: ['a'], page_token: 'same' }),
      'GET /v1/namespace/b/list': json({ namespaces: [], page_token: 'same' }),
      'GET /v1/namespace/%24/table/list': json({ tables: ['t'], page_token: 'same' }),
    });
    const db = await here.catalog({ uri: server.uri });
    await fails(() => db.tableNames(), 'Internal', 'the same page');
    await fails(() => db.listNamespaces(['b']), 'Internal', 'the same page');
    await fails(() => db.listNamespaces([], { pageToken: 'same' }), 'Internal', 'the same page');
    assert.deepEqual(await db.listNamespaces(), { namespaces: ['a'], pageToken: 'same' });
  });

  test('of 100,000 names come whole, in few pages', async () => {
    const total = 100_000;
    const server = await here.serve({
      'GET /v1/namespace/big/table/list': (turn) => {
        const query = new URLSearchParams(turn.seen.path.split('?')[1]);
        const [from, limit] = [Number(query.get('page_token') ?? 0), Number(query.get('limit'))];
        const tables = Array.from({ length: Math.min(limit, total - from) }, (_, index) => `table-${from + index}`);
        const next = from + tables.length;
        return json({ tables, ...(next < total && { page_token: String(next) }) })(turn);
      },
      '*': noTables,
    });
    const db = await here.catalog({ uri: server.uri });
    const names = await db.tableNames(['big']);
    assert.equal(new Set(names).size, total);
    const pages = server.seen.length;
    assert.ok(pages <= total / 1000 + 1, `${pages} pages`);
    assert.equal((await db.listTables(['big'], { limit: 7 })).tables.length, 7);
  });

  test('of a missing namespace may be an empty list, and are an error all the same', async () => {
    const server = await here.serve({
      'POST /v1/namespace/nope/describe': refusal(404, 1, 'nope'),
      'POST /v1/namespace/empty/describe': json({}),
      '*': json({ namespaces: [], tables: [] }),
    });
    const db = await here.catalog({ uri: server.uri });
    const error = await fails(() => db.listTables(['nope']), 'NamespaceNotFound', '"nope"');
    assert.equal(error.operation, 'ListTables');
    await fails(() => db.listNamespaces(['nope']), 'NamespaceNotFound', '"nope"');
    assert.deepEqual(await db.listTables(['empty']), { tables: [] });
  });

  test('that break off in the middle of a batch are never a short table', async () => {
    const { tableToIPC, tableFromArrays } = await import('#arrow');
    const whole = tableToIPC(tableFromArrays({ id: Int32Array.from({ length: 1000 }, (_, index) => index) }), 'stream');
    const type = 'application/vnd.apache.arrow.stream';
    for (const cut of [whole.length - 9, whole.length - 100, 400]) {
      const server = await here.serve({
        [describeA]: json({ version: 1 }),
        'POST /v1/table/a/query': bytes(200, type, whole.subarray(0, cut)),
        '*': noTables,
      });
      const table = await (await here.catalog({ uri: server.uri })).openTable('a');
      await fails(() => table.query().toArrow(), 'ServiceUnavailable', 'a');
    }
    const server = await here.serve({
      [describeA]: json({}),
      'POST /v1/table/a/query': bytes(200, 'text/html', '<html>'),
    });
    const table = await (await here.catalog({ uri: server.uri })).openTable('a');
    await assert.rejects(table.query().toArrow(), { name: 'CatalogError' });
  });

  test('are requested with encoded names, for any name', async () => {
    const server = await here.serve({ '*': json({}) });
    const db = await here.catalog({ uri: server.uri });
    const names = ['a\r\nx-admin: yes', 'a b', 'ü', 'a/../../b', '?x=1#y', '%2e', '..', '.'];
    for (const name of names) await db.describeNamespace([name]);
    for (const { path, headers } of server.seen) {
      assert.match(path, /^\/v1\/namespace\/[A-Za-z0-9%_.~!*'()-]+\/describe$/);
      assert.doesNotMatch(path, /\/\.\.?\//);
      assert.equal(headers['x-admin'], undefined);
    }
    assert.deepEqual(
      server.seen.map(({ path }) => decodeURIComponent(path.split('/')[3]!)),
      names,
    );
    await db.describeNamespace(['a$b', 'c']);
    assert.equal(server.seen.at(-1)!.path, '/v1/namespace/a%24b.c/describe?delimiter=.');
  });

  test('of servers that ignore modes are made good', async () => {
    const exists = { namespace: refusal(409, 2, 'a'), table: refusal(409, 5, 'a') };
    const server = await here.serve({
      'POST /v1/namespace/a/create': exists.namespace,
      'POST /v1/table/a/create': exists.table,
      'POST /v1/table/a/insert': json({ version: 2 }),
      'POST /v1/namespace/gone/drop': refusal(404, 1, 'gone'),
      '*': noTables,
    });
    const db = await here.catalog({ uri: server.uri });
    await db.createNamespace(['a'], { mode: 'exist_ok' });
    await fails(() => db.createNamespace(['a']), 'NamespaceAlreadyExists', '"a"');
    await fails(() => db.createNamespace(['a'], { mode: 'overwrite' }), 'Unsupported', '"a"', 'cascade');
    await db.dropNamespace(['gone'], { mode: 'skip' });
    await db.createTable('a', [{ id: 1 }], { mode: 'exist_ok' });
    await fails(() => db.createTable('a', [{ id: 1 }]), 'TableAlreadyExists', '"a"');
    await db.createTable('a', [{ id: 1 }], { mode: 'overwrite' });
    assert.ok(server.seen.at(-1)!.path.startsWith('/v1/table/a/insert?mode=overwrite'));
    assert.ok(server.seen.at(-1)!.body.length > 100);
  });

  test('of a server without cascade are made good by dropping what there is, the innermost first', async () => {
    const full = inTurn(refusal(409, 3, 'a'), json({}));
    const server = await here.serve({
      'POST /v1/namespace/a/drop': full,
      'GET /v1/namespace/a/list': json({ namespaces: ['b'] }),
      'GET /v1/namespace/a%24b/list': json({ namespaces: [] }),
      'GET /v1/namespace/a/table/list': json({ tables: ['t'] }),
      'GET /v1/namespace/a%24b/table/list': json({ tables: ['u', 'gone'] }),
      'POST /v1/table/a%24b%24gone/drop': refusal(404, 4, 'gone'),
      'GET /v1/namespace/%24/table/list': noTables,
      '*': json({}),
    });
    const db = await here.catalog({ uri: server.uri });
    await db.dropNamespace(['a'], { behavior: 'cascade' });
    const drops = server.calls
      .filter((call) => call.endsWith('/drop'))
      .map((call) => decodeURIComponent(call.split('/')[3]!));
    assert.deepEqual(drops, ['a', 'a$b$u', 'a$b$gone', 'a$b', 'a$t', 'a']);
  });
});
