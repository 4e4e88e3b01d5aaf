import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { isCatalogError, messageOf } from '#shared/errors.ts';
import { Connecting } from './connecting.ts';
import { json } from './faultyServer.ts';

const secret = 'lasting-secret-of-the-store';
const storage_options = { aws_access_key_id: 'AKIALASTING', aws_secret_access_key: secret };
const described = { version: 1, location: 's3://depot/t', storage_options, schema: { fields: [] } };

/** Some servers send lasting secrets of their storage to every client. */
suite('credentials that a server sends for its storage', () => {
  const here = new Connecting();
  teardown(() => here.end());

  test('are not requested: the client reads and writes through the server', async () => {
    const server = await here.serve({ '*': json({ ...described, tables: [] }) });
    const db = await here.catalog({ uri: server.uri });
    await db.openTable('t', { version: 1 });
    await db.isOnlyDeclared('t');
    await db.declareTable('later', { properties: { owner: 'ada' } });
    await db.createTable('new', [{ id: 1 }]);
    const sent = server.seen.filter(({ path }) => /\/(?:describe|declare)(?:\?|$)/.test(path));
    assert.ok(sent.length >= 3, server.calls.join('\n'));
    for (const { path, body } of sent)
      assert.equal((JSON.parse(body.toString()) as Record<string, unknown>)['vend_credentials'], false, path);
    assert.deepEqual(
      sent.map(({ body }) => (JSON.parse(body.toString()) as Record<string, unknown>)['properties']).filter(Boolean),
      [{ owner: 'ada' }],
    );
    const created = server.seen.find(({ path }) => path.startsWith('/v1/table/new/create'))!;
    assert.equal(created.headers['prefer'], 'no_credentials');
  });

  test('are in no result, error or inspected object', async () => {
    const server = await here.serve({
      'POST /v1/table/t/count_rows': json(1),
      'POST /v1/table/broken/describe': json({ ...described, version: 'one' }),
      '*': json({ ...described, tables: [] }),
    });
    const db = await here.catalog({ uri: server.uri });
    const table = await db.openTable('t', { version: 1 });
    const shown = [
      await db.describeTable('t').catch((error: unknown) => error),
      await db.declareTable('later'),
      await db.describeTable('broken').catch((error: unknown) => {
        assert.ok(isCatalogError(error, 'Internal'), messageOf(error));
        return error;
      }),
      table,
      db,
    ];
    for (const one of shown) assert.ok(!inspect(one, { depth: 20, showHidden: true }).includes(secret));
  });
});
