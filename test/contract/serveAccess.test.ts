import assert from 'node:assert/strict';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { operations, type Operation } from '#client/operations.ts';
import { catalogErrorCodes, type CatalogErrorKind } from '#shared/errors.ts';
import { tempFolder } from '../harness/temp.ts';
import {
  arrowType,
  replaceFile,
  rows,
  runServe,
  startServe,
  writeKeys,
  type Answer,
  type ServeProcess,
} from './serveProcess.ts';

const root = '%24';
const list = { method: 'GET', path: `/v1/namespace/${root}/table/list` };

function refused(answer: Answer, kind: CatalogErrorKind, ...words: string[]): void {
  assert.ok(answer.status >= 400, `${answer.status} ${answer.body}`);
  const { error, code, detail } = JSON.parse(answer.body) as { error: string; code: number; detail: string };
  assert.equal(code, catalogErrorCodes[kind], `${error} ${detail}`);
  for (const word of words) assert.ok(`${error} ${detail}`.includes(word), answer.body);
}

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
      for (const path of [list.path, '/healthz', '/readyz', '/metrics']) {
        const answer = await server.send({ method: 'GET', path, headers: { 'x-api-key': key, ...more } });
        assert.equal(answer.status, 403, path);
        refused(answer, 'PermissionDenied');
      }
    }
  });

  test('says to anybody that it runs and is ready, and nothing else', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const { status, body } = await server.send({ method: 'GET', path });
      assert.deepEqual([status, body], [200, 'ok\n']);
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

suite('lance-catalog serve with a file of keys', function () {
  this.timeout(30_000);
  const [writer, reader, shopper] = ['writer-key-0123456789', 'reader-key-0123456789', 'shopper-key-0123456789'];
  const lines = [
    ['ana', writer, 'read-write', '*'],
    ['bob', reader, 'read-only', '*'],
    ['eve', shopper, 'read-write', 'shop'],
  ] as const;
  const as = (key: string, more: Record<string, string> = {}) => ({ headers: { 'x-api-key': key, ...more } });
  const shop = { 'x-service-database': 'shop' };
  const eu = { 'x-service-database': 'eu' };
  let keys: string;
  let server: ServeProcess;
  suiteSetup(async () => {
    keys = writeKeys(lines);
    server = await startServe([
      ...['--keys', keys, '--database', `shop=${tempFolder()}`, '--database', `eu=${tempFolder()}`],
      ...['--public-host', 'catalog.example.com'],
    ]);
    const made = await server.send({
      path: '/v1/table/t/create',
      headers: { 'x-api-key': writer, ...shop, ...arrowType },
      body: rows(2),
    });
    assert.equal(made.status, 200, made.body);
  });
  suiteTeardown(() => server.stop());

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
      ...(['ListNamespaces', 'DescribeNamespace', 'NamespaceExists', 'ListTables', 'ListAllTables'] as const),
      ...(['DescribeTable', 'TableExists', 'CountTableRows', 'QueryTable', 'ListTableVersions'] as const),
      ...(['DescribeTableVersion', 'GetTableStats', 'ListTableIndices', 'DescribeTableIndexStats'] as const),
      ...(['ListTableTags', 'GetTableTagVersion', 'ListTableBranches', 'ExplainTableQueryPlan'] as const),
      ...(['AnalyzeTableQueryPlan', 'DescribeTransaction', 'ListJobs', 'DescribeJob', 'QueryJobEvents'] as const),
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
    refused(answer, 'PermissionDenied', 'bob', 'reading');
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
    const ask = (headers: Record<string, string>) => server.send({ ...list, ...as(writer, headers) });
    const unknown = await ask({ 'x-service-database': 'us' });
    assert.equal(unknown.status, 404);
    refused(unknown, 'NamespaceNotFound', '"us"');
    refused(await ask({ host: 'us.catalog.example.com' }), 'NamespaceNotFound');
    refused(await ask({}), 'InvalidInput', 'x-service-database');
    refused(await ask({ host: 'eu.localhost', ...shop }), 'InvalidInput', 'two databases');
  });

  test('opens a key its own databases alone, and says nothing of others', async () => {
    assert.equal((await server.send({ ...list, ...as(shopper, shop) })).status, 200);
    // The one that it opens need not be named.
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
    for (const end = Date.now() + 5000; ; await sleep(50)) {
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

suite('The command line of lance-catalog serve', function () {
  this.timeout(60_000);
  const root = tempFolder();
  const open = `${tempFolder()}/open`;
  writeFileSync(open, `ana ${'0'.repeat(64)} read-only *\n`, { mode: 0o644 });
  chmodSync(open, 0o644);
  const env = { KEY: 'a-key-of-the-tests-0123456789', SHORT: 'short' };

  for (const [what, args, said] of [
    ['nothing to serve', ['--no-auth'], /needs --root DIR/],
    ['no decision about keys', ['--root', root], /--keys FILE, --api-key-env NAME and --no-auth/],
    ['two sources of keys', ['--root', root, '--no-auth', '--api-key-env', 'KEY'], /Give one of/],
    ['a variable that is not set', ['--root', root, '--api-key-env', 'NOT_SET'], /NOT_SET is not set/],
    ['another host without TLS', ['--root', root, '--api-key-env', 'KEY', '--host', '0.0.0.0'], /in the clear/],
    ['a name as host without TLS', ['--root', root, '--api-key-env', 'KEY', '--host', 'example.com'], /in the clear/],
    ['a proxy without keys', ['--root', root, '--no-auth', '--behind-proxy'], /needs keys/],
    ['half a certificate', ['--root', root, '--no-auth', '--tls-cert', 'x'], /together/],
    ['no port', ['--root', root, '--no-auth', '--port', '65536'], /--port needs a whole number/],
    ['a limit of 0', ['--root', root, '--no-auth', '--max-requests', '0'], /--max-requests needs/],
    ['an unknown option', ['--root', root, '--nope'], /--nope/],
    ['a database without a root', ['--database', 'a', '--no-auth'], /"a" has no root/],
    ['a secret on the command line', ['--root', root, '--storage-option', 'aws_secret_access_key=s'], /environment/],
    ['a key without a name', ['new-key'], /needs one NAME/],
  ] as const) {
    test(`answers ${what} with one sentence and 2`, () => {
      const { code, stdout, stderr } = runServe(args, env);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, said);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
    });
  }

  for (const [what, args, said] of [
    ['a root that is not there', ['--root', '/not/there', '--no-auth'], /no directory "\/not\/there"/],
    ['a file of keys that others can read', ['--root', root, '--keys', open], /mode 644.*chmod 600/],
    ['a file of keys that is not there', ['--root', root, '--keys', '/not/there'], /can't be read/],
    ['a key that could be guessed', ['--root', root, '--api-key-env', 'SHORT'], /under 16 characters/],
    ['a certificate that is none', ['--root', root, '--no-auth', '--tls-cert', open, '--tls-key', open], /TLS/],
  ] as const) {
    test(`does not start with ${what}, and says why`, () => {
      const { code, stdout, stderr } = runServe(['--port', '0', ...args], env);
      assert.deepEqual([code, stdout], [1, ''], stderr);
      assert.match(stderr, said);
      assert.ok(!stderr.includes(env.KEY));
    });
  }

  test('does not start on a port that is taken', async () => {
    const first = await startServe(['--root', root, '--no-auth']);
    try {
      const { code, stderr } = runServe(['--root', root, '--no-auth', '--port', String(first.port)]);
      assert.equal(code, 1);
      assert.match(stderr, /Can't listen on 127\.0\.0\.1:\d+ \(.*EADDRINUSE.*--port/);
    } finally {
      await first.stop();
    }
  });

  test('makes a key, and the line for the file beside it', () => {
    const made = runServe(['new-key', 'ana', '--read-only', '--database', 'shop']);
    assert.equal(made.code, 0);
    assert.match(made.stdout, /^lc_[\w-]{43}\n$/);
    assert.match(made.stderr, /^ana [0-9a-f]{64} read-only shop\n$/);
  });

  test('adds the line of a new key to a file that it makes for its owner alone, and repeats no name', () => {
    const keys = join(tempFolder(), 'keys');
    const made = ['ana', 'bob'].map((name) => runServe(['new-key', name, '--keys', keys]));
    assert.deepEqual(
      made.map(({ code, stderr }) => [code, stderr]),
      [
        [0, ''],
        [0, ''],
      ],
    );
    assert.equal(statSync(keys).mode & 0o777, 0o600);
    const text = readFileSync(keys, 'utf8');
    assert.match(text, /^ana [0-9a-f]{64} read-write \*\nbob [0-9a-f]{64} read-write \*\n$/);
    const again = runServe(['new-key', 'ana', '--keys', keys]);
    assert.deepEqual([again.code, again.stdout], [1, '']);
    assert.match(again.stderr, /Line 3 .*"ana"/);
    assert.equal(readFileSync(keys, 'utf8'), text);
  });

  test('has a help of its own', () => {
    const { code, stdout } = runServe(['--help']);
    assert.equal(code, 0);
    for (const word of ['--api-key-env', '--keys', '--tls-cert', '/readyz', 'new-key'])
      assert.ok(stdout.includes(word));
  });
});
