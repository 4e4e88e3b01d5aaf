import assert from 'node:assert/strict';
import { symlinkSync, unlinkSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { basename } from 'node:path';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { operations } from '#catalog/contract.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import {
  type Answer,
  arrowType,
  list,
  refused,
  rows,
  type ServeProcess,
  startServe,
  writeKeys,
} from './serveProcess.ts';

const [all, bound, reader] = [
  'key-of-everything-0123456789',
  'key-of-one-namespace-0123456789',
  'key-to-read-0123456789',
];
const mount = '/at/shop%24eu';
const prefer = { prefer: 'arrow_description' };

/** Tables outside of the namespace `shop/eu`; some have the name of a table in it. */
const outside: readonly (readonly string[])[] = [
  ['orders'],
  ['secret'],
  ['shop', 'orders'],
  ['shop', 'eu2', 'secret'],
  ['private', 'secret'],
];

/** Returns a base path with this number of names. */
const deep = (levels: number): string => `/at/${Array(levels).fill('a').join('%24')}`;

/** Runs a call for each item at the same time: most of the time of a refused request is waiting. */
async function atOnce<T>(items: readonly T[], call: (item: T) => Promise<void>): Promise<void> {
  await Promise.all(items.map(call));
}

function json(answer: Answer): unknown {
  assert.equal(answer.status, 200, answer.body);
  return JSON.parse(answer.body);
}

suite('A namespace as the root of lance-catalog serve', function () {
  this.timeout(120_000);
  const root = tempFolder();
  let server: ServeProcess;
  /** The whole catalog, opened beside the server. */
  let dir: Catalog;

  suiteSetup(async () => {
    registerRest();
    dir = await openDir({ root });
    for (const path of [['shop'], ['shop', 'eu'], ['shop', 'eu', 'north'], ['shop', 'eu2'], ['private']])
      await dir.createNamespace(path);
    for (const path of outside)
      await dir.createTable(path.at(-1)!, [{ s: `SECRET of ${path.join('/')}` }], path.slice(0, -1));
    await dir.createTable('orders', [{ s: 'own' }], ['shop', 'eu']);
    await dir.createTable('deep', [{ s: 'own' }], ['shop', 'eu', 'north']);
    const keys = writeKeys([
      ['all', all, 'read-write', '*'],
      ['team', bound, 'read-write', '* namespace=shop/eu'],
      ['reader', reader, 'read-only', '* namespace=shop/eu'],
      ['lost', 'key-of-a-lost-namespace-0123456789', 'read-write', '* namespace=shop/gone'],
    ]);
    server = await startServe(['--keys', keys, '--root', root]);
  });
  suiteTeardown(async () => {
    await dir.close();
    await server.stop();
  });

  /** Sends a request whose path is not normalized, as an attacker would. */
  const send = (key: string, path: string, body: unknown = {}, more: Record<string, string> = {}, method = 'POST') =>
    new Promise<Answer>((resolve, reject) => {
      const headers = { 'x-api-key': key, 'content-type': 'application/json', ...more };
      const sent = httpRequest({ host: '127.0.0.1', port: server.port, path, method, headers }, (response) => {
        let text = '';
        response.setEncoding('latin1').on('data', (piece: string) => (text += piece));
        response.once('error', reject);
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
        );
      });
      sent.once('error', reject);
      sent.end(method === 'GET' ? undefined : body instanceof Uint8Array ? body : JSON.stringify(body));
    });
  /** Lists the tables of the root, with the bound key. */
  const tables = async (base: string): Promise<Answer> =>
    send(bound, `${base}/v1/namespace/%24/table/list`, {}, {}, 'GET');
  /** Everything outside of the namespace: names, versions and rows. */
  async function outsideNow(): Promise<unknown> {
    const seen: unknown[] = [];
    for (const path of [[], ['shop'], ['shop', 'eu2'], ['private']]) {
      const { namespaces } = await dir.listNamespaces(path);
      seen.push(path, namespaces, await dir.tableNames(path));
    }
    for (const path of outside) {
      const table = await dir.openTable(path.at(-1)!, path.slice(0, -1));
      seen.push(
        await table.version(),
        (await table.query().toArray()).map((row) => row['s']),
        (await table.schema()).names,
      );
      table.close();
    }
    return seen;
  }

  /** The two ways to the namespace: a base path with any key, and a key that is bound to it. */
  const ways = [
    ['by a base path', all, mount],
    ['by its key', bound, ''],
  ] as const;

  for (const [way, key, base] of ways) {
    suite(way, () => {
      test('lists, describes and reads what is in it, under its own names', async () => {
        assert.deepEqual(json(await send(key, `${base}/v1/namespace/%24/table/list`, {}, {}, 'GET')), {
          tables: ['orders'],
        });
        assert.deepEqual(json(await send(key, `${base}/v1/namespace/%24/list`, {}, {}, 'GET')), {
          namespaces: ['north'],
          tables: ['orders'],
        });
        assert.deepEqual(json(await send(key, `${base}/v1/table`, {}, {}, 'GET')), {
          tables: ['orders', 'north$deep'],
        });
        assert.deepEqual(json(await send(key, `${base}/v1/tables`, {}, {}, 'GET')), { tables: ['orders'] });
        const described = json(
          await send(key, `${base}/v1/table/north%24deep/describe`, { id: ['north', 'deep'] }, prefer),
        );
        assert.partialDeepStrictEqual(described, { table: 'deep', namespace: ['north'], version: 1 });
      });

      test('runs queries in other processes on its own table', async () => {
        const count = (predicate: string) =>
          send(key, `${base}/v1/table/orders/count_rows`, { id: ['orders'], predicate });
        assert.equal(json(await count("s = 'own'")), 1);
        assert.equal(json(await count("s like 'SECRET%'")), 0);
        const query = { k: 10, vector: {}, filter: "s <> ''" };
        assert.match((await send(key, `${base}/v1/table/orders/query`, query)).body, /own/);
        const plan = await send(key, `${base}/v1/table/orders/explain_plan`, { query });
        assert.equal(plan.status, 200, plan.body);
      });

      test('keeps queries of tables with one name in different namespaces apart', async () => {
        const query = { k: 10, vector: {}, filter: "s <> 'x'" };
        for (let round = 0; round < 3; round++) {
          const [whole, own] = await Promise.all([
            send(all, '/v1/table/orders/query', query),
            send(key, `${base}/v1/table/orders/query`, query),
          ]);
          assert.match(whole.body, /SECRET of orders/);
          assert.doesNotMatch(own.body, /SECRET/);
        }
      });

      test('names objects in errors as they are in it', async () => {
        const missing = await send(key, `${base}/v1/table/north%24nothing/describe`);
        assert.equal(missing.status, 404);
        refused(missing, 'TableNotFound', '"north/nothing"');
        assert.partialDeepStrictEqual(JSON.parse(missing.body), { instance: 'north/nothing' });
        const column = await send(key, `${base}/v1/table/orders/count_rows`, { predicate: 'nope = 1' });
        refused(column, 'ColumnNotFound', 'nope');
        for (const answer of [
          missing,
          column,
          await send(key, `${base}/v1/namespace/north%24gone/describe`),
          await send(key, `${base}/v1/namespace/north/create`),
          await send(key, `${base}/v1/namespace/north/drop`),
          await send(key, `${base}/v1/namespace/gone%24deeper/create`),
          await send(key, `${base}/v1/table/orders/declare`),
          await send(key, `${base}/v1/table/gone%24deeper/declare`),
          await send(key, `${base}/v1/namespace/%24/create`),
          await send(key, `${base}/v1/namespace/%24/drop`, { behavior: 'cascade' }),
          await send(key, `${base}/v1/table/orders/rename`, { new_table_name: 'north' }),
          await send(key, `${base}/v1/table/orders/rename`, { new_table_name: 'a', new_namespace_id: ['gone'] }),
        ]) {
          assert.ok(answer.status >= 400, answer.body);
          assert.doesNotMatch(answer.body, /shop/);
        }
        assert.ok(await dir.namespaceExists(['shop', 'eu']));
      });

      test('creates, renames, moves and drops in it alone', async () => {
        const before = await outsideNow();
        const arrow = arrowType;
        for (const name of ['secret', 'orders2'])
          json(await send(key, `${base}/v1/table/${name}/create`, rows(2), arrow));
        json(await send(key, `${base}/v1/table/secret/insert`, rows(1, 2), arrow));
        json(await send(key, `${base}/v1/table/secret/update`, { updates: [['id', '7']], predicate: 'id = 0' }));
        json(await send(key, `${base}/v1/table/secret/delete`, { predicate: 'id = 1' }));
        assert.equal(await (await dir.openTable('secret', ['shop', 'eu'])).countRows('id in (2, 7)'), 2);
        json(
          await send(key, `${base}/v1/table/orders2/rename`, { new_table_name: 'moved', new_namespace_id: ['north'] }),
        );
        json(
          await send(key, `${base}/v1/table/north%24moved/rename`, { new_table_name: 'back', new_namespace_id: [] }),
        );
        assert.deepEqual((await dir.tableNames(['shop', 'eu'])).toSorted(), ['back', 'orders', 'secret']);
        for (const name of ['secret', 'back']) json(await send(key, `${base}/v1/table/${name}/drop`));
        json(await send(key, `${base}/v1/namespace/private/create`));
        json(await send(key, `${base}/v1/namespace/private/drop`));
        assert.deepEqual(await outsideNow(), before);
        assert.deepEqual(await dir.tableNames(['shop', 'eu']), ['orders']);
      });

      test('registers what was deregistered in it, and no folder of another namespace', async () => {
        const locationOf = async (name: string, path: readonly string[]): Promise<string> =>
          (await dir.describeTable(name, path)).location!;
        const before = await outsideNow();
        const register = (location: string, mode?: string) =>
          send(key, `${base}/v1/table/stolen/register`, { location, ...(mode !== undefined && { mode }) });
        const foreign = [
          ...(await Promise.all(outside.map((path) => locationOf(path.at(-1)!, path.slice(0, -1))))),
          `${root}/0a1b2c3d_private$nothing`,
          `${root}/__manifest`,
          `${root}/secret.lance/../secret.lance`,
          '/etc',
        ];
        const places = foreign.flatMap((one) => [one, basename(one)]);
        await atOnce(places, async (location) => {
          for (const mode of [undefined, 'overwrite']) {
            const answer = await register(location, mode);
            assert.ok(answer.status >= 400, `${location} ${answer.body}`);
            assert.doesNotMatch(answer.body.replaceAll(basename(location), ''), /shop|private|eu2/);
          }
          assert.ok((await send(key, `${base}/v1/table/stolen/declare`, { location })).status >= 400);
        });
        // The client must not learn whether a folder exists.
        const said = async (folder: string): Promise<string> => (await register(folder)).body.replaceAll(folder, '');
        const real = basename(await locationOf('secret', ['private']));
        assert.equal(await said(real), await said('0a1b2c3d_private$secret'));
        assert.deepEqual(await outsideNow(), before);
        const { location } = json(await send(key, `${base}/v1/table/orders/deregister`)) as { location: string };
        // A failed request does not use up the right to register.
        refused(
          await send(key, `${base}/v1/table/gone%24orders/register`, { location }),
          'NamespaceNotFound',
          '"gone"',
        );
        json(await send(key, `${base}/v1/table/north%24deep2/register`, { location }));
        refused(await register(location), 'InvalidInput', 'was deregistered in this namespace');
        json(await send(key, `${base}/v1/table/north%24deep2/deregister`));
        json(await send(key, `${base}/v1/table/orders/register`, { location: basename(location) }));
        assert.deepEqual(await dir.tableNames(['shop', 'eu']), ['orders']);
      });

      test('registers no table that has left it, however the location is written', async () => {
        const within = ['shop', 'eu'];
        const register = (location: string, mode: string) =>
          send(key, `${base}/v1/table/back/register`, { location, mode });
        json(await send(key, `${base}/v1/table/gone/create`, rows(1), arrowType));
        // Deregister and register the table here before another client moves it to another namespace.
        const { location } = json(await send(key, `${base}/v1/table/gone/deregister`)) as { location: string };
        json(await send(key, `${base}/v1/table/gone/register`, { location }));
        await dir.renameTable('gone', 'gone', within, { newNamespacePath: ['private'] });
        const folder = basename(location);
        const link = '0a1b2c3d_shop$eu$gone';
        symlinkSync(location, `${root}/${link}`);
        const spellings = [
          location,
          folder,
          `${folder}/`,
          `${location}//`,
          `./${folder}`,
          `${root}/./${folder}`,
          `${root}//${folder}`,
          `${root}/${basename(location)}/../${folder}`,
          `${root}/../${basename(root)}/${folder}`,
          `file://${location}`,
          encodeURIComponent(folder),
          folder.toUpperCase(),
          link,
          `${root}/${link}`,
        ];
        const everyWay = async (): Promise<void> => {
          await atOnce(spellings, async (place) => {
            for (const mode of ['create', 'overwrite']) {
              const answer = await register(place, mode);
              refused(answer, 'InvalidInput');
              assert.doesNotMatch(answer.body.replaceAll(place, ''), /private/);
            }
          });
          assert.ok(!(await dir.tableExists('back', within)));
        };
        await everyWay();
        await dir.deregisterTable('gone', ['private']);
        await everyWay();
        // Another client may register the table. If it moves the table back, the namespace contains the table again.
        await dir.registerTable('gone', location, ['private']);
        await everyWay();
        await dir.renameTable('gone', 'given', ['private'], { newNamespacePath: within });
        json(await send(key, `${base}/v1/table/given/deregister`));
        unlinkSync(`${root}/${link}`);
        json(await register(location, 'create'));
        json(await send(key, `${base}/v1/table/back/drop`));
        assert.deepEqual(await dir.tableNames(within), ['orders']);
      });

      test('lets no identifier, delimiter, body or page token lead out of it', async () => {
        const before = await outsideNow();
        const ids = [
          'secret',
          '..%24..%24private%24secret',
          'private.secret?delimiter=.',
          'shop%24eu%24orders',
          '..%24secret',
          '%2e%2e%2fsecret',
          '..%2f..%2fsecret',
          '%24%24secret',
          '%24private%24secret',
          'private%24secret',
          'shop%24eu2%24secret',
          'eu2%2fsecret?delimiter=%2f',
          '..%2f..%2fprivate%2fsecret?delimiter=%2f',
          '..?delimiter=.',
          'secret?delimiter=secret',
          'x%24secret?delimiter=x%24',
          'secret%00',
        ];
        const bodies = [
          { id: ['private', 'secret'], namespace: ['private'], parent: [] },
          {
            k: 10,
            vector: {},
            predicate: 'true',
            updates: [['s', "'changed'"]],
            column: 's',
            columns: ['s'],
            name: 'x',
            tag: 'x',
            version: 1,
            index_type: 'BTREE',
            new_columns: [{ name: 'added', expression: '1' }],
            alterations: [{ path: 's', rename: 't' }],
            query: { k: 10, vector: {} },
            new_table_name: 'stolen',
            new_namespace_id: ['..', '..', 'private'],
            behavior: 'cascade',
          },
        ];
        for (const { method, path } of Object.values(operations)) {
          // Both ways share the code after the base path, so one of them tries all identifiers.
          const tried = base === '' ? ids : ids.slice(0, 4);
          // The identifiers name different objects, so their requests can be sent at the same time.
          await atOnce(path.includes('{id}') ? tried : [''], async (id) => {
            const [name, search = ''] = id.split(/(?=\?)/);
            const url = `${base}${path.replace('{id}', () => name!).replace('{index_name}', 'x')}${search}`;
            for (const body of method === 'GET' ? [{}] : bodies) {
              const answer = await send(key, url, body, {}, method);
              assert.doesNotMatch(answer.body, /SECRET/, `${method} ${url}`);
              assert.notEqual(answer.status, 500, `${method} ${url} ${answer.body}`);
            }
            if (/table.*(?:create|insert)$/.test(path)) await send(key, url, rows(1), arrowType);
          });
        }
        for (const place of [
          { path: ['..'] },
          { path: ['..', '..', 'private'] },
          { path: ['', 'private'] },
          { path: [''] },
        ]) {
          const token = Buffer.from(JSON.stringify(place)).toString('base64url');
          const answer = await send(key, `${base}/v1/table?page_token=${token}`, {}, {}, 'GET');
          assert.doesNotMatch(answer.body, /secret|eu2/, JSON.stringify(place));
        }
        for (const token of ['tables:', 'namespaces:', 'tables:../private', 'namespaces:private']) {
          const url = `${base}/v1/namespace/%24/list?page_token=${encodeURIComponent(token)}`;
          assert.doesNotMatch((await send(key, url, {}, {}, 'GET')).body, /secret|eu2|private/);
        }
        assert.deepEqual(await outsideNow(), before);
        // Drop the tables and namespaces that attacks have created in the namespace itself.
        for (const name of await dir.tableNames(['shop', 'eu']))
          if (name !== 'orders') await dir.dropTable(name, ['shop', 'eu']);
        for (const name of (await dir.listNamespaces(['shop', 'eu'])).namespaces)
          if (name !== 'north') await dir.dropNamespace(['shop', 'eu', name], { behavior: 'cascade' });
        assert.deepEqual(await dir.tableNames(['shop', 'eu']), ['orders']);
      });
    });
  }

  test('a base path is below the namespace of the key, and takes names alone', async () => {
    assert.deepEqual(json(await tables('/at/north')), { tables: ['deep'] });
    assert.deepEqual(json(await tables('/at/%24')), { tables: ['orders'] });
    for (const base of [
      '/at/..',
      '/at/%2e%2e',
      '/at/%2E%2E%24%2E%2E%24private',
      '/at/..%2fprivate',
      '/at/%2fprivate',
      '/at/%24private',
      '/at/%24%24',
      '/at/north%24..',
      '/at/north%24',
      '/at/%2524private',
      '/at/north%00',
      '/at/%ff',
      '/at/north%5c..',
      '/at/.',
      '/at/',
    ])
      refused(await tables(base), 'InvalidInput', 'base path');
    for (const base of ['/at/private', '/at/shop%24eu', '/at/shop%24eu2', '/at/orders', '/at/..north', '/at/eu2']) {
      const answer = await tables(base);
      assert.equal(answer.status, 404, answer.body);
      refused(answer, 'NamespaceNotFound', 'does not exist', '/at/');
    }
    // A slash must not separate the names. The error contains the correct base path.
    for (const [base, right] of [
      ['/at/shop/eu', '"/at/shop%24eu"'],
      ['//at/shop//eu/', '"/at/shop%24eu"'],
      ['/at/north/at/north', '"/at/north%24at%24north"'],
      ['/at/north/..', '"/at/north%24.."'],
    ] as const)
      refused(await tables(base), 'InvalidInput', right);
    // The address of a client may end with a slash.
    for (const [base, names] of [
      ['/', ['orders']],
      ['//', ['orders']],
      ['//at/north', ['deep']],
      ['/at/north/', ['deep']],
      ['//at/north//', ['deep']],
    ] as const)
      assert.deepEqual(json(await tables(base)), { tables: names }, base);
    for (const host of ['//elsewhere.example', '//elsewhere.example/at/north']) {
      const { status, headers } = await tables(host);
      assert.deepEqual([status, headers.location], [404, undefined], host);
    }
    assert.equal((await send('not-a-key-of-this-server', '//v1/table', {}, {}, 'GET')).status, 401);
    refused(await send(reader, '//v1/table/orders/drop'), 'PermissionDenied', 'read-only');
    assert.equal((await send(bound, '//metrics', {}, {}, 'GET')).status, 404);
    // The two names of the key's namespace count, too.
    refused(await tables(deep(8)), 'NamespaceNotFound');
    refused(await tables(deep(9)), 'InvalidInput', '11 names is too deep');
    const list11 = `${deep(11)}/v1/namespace/%24/table/list`;
    refused(await send(all, list11, {}, {}, 'GET'), 'InvalidInput', '11 names is too deep');
    for (const base of ['/at', '/AT/north', '/x/at/north', '/at/north/v1']) {
      const answer = await tables(base);
      assert.ok(answer.status === 404 || answer.status === 406, `${base} ${answer.status}`);
      assert.doesNotMatch(answer.body, /orders|deep/);
    }
  });

  test('one that does not exist is named, for every operation', async () => {
    const roots = [
      [all, '/at/shop%24gone', '"shop/gone"'],
      [bound, '/at/gone', '"gone"'],
      ['key-of-a-lost-namespace-0123456789', '', '"shop/gone"'],
    ] as const;
    await atOnce(Object.values(operations), async ({ method, path }) => {
      const url = path.replace('{id}', 'a').replace('{index_name}', 'x');
      for (const [key, base, name] of roots) {
        const body = {
          k: 1,
          vector: {},
          predicate: 'true',
          column: 'a',
          new_table_name: 'b',
          location: 'x',
          mode: 'skip',
        };
        const answer = await send(key, base + url, body, {}, method);
        assert.ok(answer.status >= 400, `${url} ${answer.status} ${answer.body}`);
        if (answer.status === 404 && method === 'GET') refused(answer, 'NamespaceNotFound', name);
      }
    });
    for (const path of ['/v1/table', '/v1/tables', '/v1/namespace/%24/list', '/v1/namespace/%24/table/list']) {
      const answer = await send(all, `/at/shop%24gone${path}`, {}, {}, 'GET');
      assert.equal(answer.status, 404, path);
      refused(answer, 'NamespaceNotFound', '"shop/gone"');
    }
    for (const path of [
      '/v1/namespace/%24/create',
      '/v1/namespace/a/create',
      '/v1/table/a/declare',
      '/v1/table/a/exists',
    ]) {
      refused(await send(all, `/at/shop%24gone${path}`), 'NamespaceNotFound', '"shop/gone"');
    }
    refused(
      await send(all, '/at/shop%24gone/v1/namespace/a/drop', { mode: 'skip' }),
      'NamespaceNotFound',
      '"shop/gone"',
    );
    refused(
      await send(all, '/at/shop%24gone/v1/table/a/create', rows(1), arrowType),
      'NamespaceNotFound',
      '"shop/gone"',
    );
    assert.ok(!(await dir.namespaceExists(['shop', 'gone'])));
    // A table is not a namespace.
    refused(await send(all, '/at/orders/v1/namespace/%24/list', {}, {}, 'GET'), 'NamespaceNotFound', '"orders"');
  });

  test('a key that is bound to it opens no folder, no metrics and no other database', async () => {
    for (const prefix of ['north', 'default/north', 'a/b']) {
      const answer = await send(bound, list.path, {}, { 'x-service-database-prefix': prefix }, 'GET');
      refused(answer, 'PermissionDenied', '"team"', '"shop/eu"');
    }
    const named = await send(bound, list.path, {}, { 'x-service-database-prefix': 'default' }, 'GET');
    assert.deepEqual(json(named), { tables: ['orders'] });
    refused(await send(bound, '/metrics', {}, {}, 'GET'), 'PermissionDenied', 'metrics');
    assert.equal((await send(all, '/metrics', {}, {}, 'GET')).status, 200);
    for (const own of ['/metrics', '/healthz', '/readyz'])
      assert.equal((await send(bound, `/at/north${own}`, {}, {}, 'GET')).status, 404);
    for (const header of ['x-lance-namespace', 'x-lance-root']) {
      const more = { [header]: encodeURIComponent('[]') };
      const answer = await send(bound, '/v1/table/orders/count_rows', { predicate: "s = 'own'" }, more);
      assert.equal(json(answer), 1);
    }
  });

  test('a read-only key that is bound to it reads it and changes nothing', async () => {
    assert.equal(json(await send(reader, '/v1/table/orders/count_rows')), 1);
    for (const [base, id] of [
      ['', 'orders'],
      ['/at/north', 'deep'],
    ] as const)
      refused(await send(reader, `${base}/v1/table/${id}/drop`), 'PermissionDenied', 'read-only');
  });

  test('tells a client without a key nothing of it', async () => {
    const answers = await Promise.all(
      ['/at/shop%24eu/v1/table', '/at/gone/v1/table', '/at/../v1/table', '/at/', '/at/%ff/x'].map((path) =>
        send('not-a-key-of-this-server', path, {}, {}, 'GET'),
      ),
    );
    assert.deepEqual(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size, 1);
    assert.equal(answers[0]?.status, 401);
  });

  test('is in the log, beside names that are below it', async () => {
    await send(bound, '/at/north/v1/table/deep/count_rows');
    const line = await server.logged(
      'request',
      ({ namespace, operation }) => namespace === 'shop/eu/north' && operation === 'CountTableRows',
    );
    assert.partialDeepStrictEqual(line, { identifier: 'deep', key: 'team', operation: 'CountTableRows', status: 200 });
    await send(all, '/v1/table/orders/count_rows');
    const whole = await server.logged('request', ({ key, identifier }) => key === 'all' && identifier === 'orders');
    assert.ok(!('namespace' in whole));
  });

  test('is the root of a client whose URL has the base path', async () => {
    const db = await connectNamespace('rest', { uri: `${server.address}${mount}`, apiKey: all });
    assert.deepEqual(await db.tableNames(), ['orders']);
    const table = await db.openTable('orders');
    assert.deepEqual(
      (await table.query().where("s = 'own'").toArray()).map((row) => row['s']),
      ['own'],
    );
    await fails(() => db.openTable('secret'), 'TableNotFound', '"secret"');
    await db.close();
    const none = await connectNamespace('rest', { uri: `${server.address}/at/none`, apiKey: all });
    await fails(() => none.tableNames(), 'NamespaceNotFound', '"none"');
    await none.close();
  });
});
