import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { catalogErrorCodes, type CatalogErrorKind } from '#shared/errors.ts';
import { tempFolder } from '../../harness/temp.ts';
import { type RawAnswer, type RawEngine, startRawEngine } from './rawEngine.ts';

function refused(answer: RawAnswer, status: number, kind: CatalogErrorKind, ...words: string[]): void {
  assert.equal(answer.status, status, answer.body);
  const { error, code } = JSON.parse(answer.body) as { error: string; code: number };
  assert.equal(code, catalogErrorCodes[kind], error);
  for (const word of words) assert.ok(answer.body.includes(word), answer.body);
}

suite('the engine process, over plain HTTP', function () {
  this.timeout(30_000);
  const root = tempFolder();
  let engine: RawEngine;
  let headers: Record<string, string>;
  const json = { 'content-type': 'application/json' };
  const list = '/v1/namespace/%24/table/list';

  suiteSetup(async () => {
    const db = await openDir({ root });
    await db.createNamespace(['shop']);
    await db.createTable('products', [{ id: 1 }, { id: 2 }], ['shop']);
    engine = await startRawEngine();
    headers = engine.headers(root);
  });
  suiteTeardown(() => engine.stop());

  test('says what it is once it listens', () => {
    const { protocol, pid, node, engine: version, problem } = engine.handshake;
    assert.equal(protocol, 1);
    assert.ok(pid !== process.pid && pid > 0);
    assert.equal(node, process.versions.node);
    assert.deepEqual({ version, problem }, { version: '0.39.0', problem: null });
  });

  test('listens on a socket that only this user can use', () => {
    assert.equal(statSync(engine.socket).mode & 0o777, 0o600);
  });

  test('serves who has the secret', async () => {
    const answer = await engine.send({ method: 'GET', path: list, headers });
    assert.deepEqual(JSON.parse(answer.body), { tables: [] });
  });

  test('refuses a request from a web page, whatever it carries', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://lance-engine', '']) {
      const answer = await engine.send({ method: 'GET', path: list, headers: { ...headers, origin } });
      refused(answer, 403, 'PermissionDenied');
    }
  });

  test('refuses another host', async () => {
    for (const host of ['evil.example', 'localhost', '127.0.0.1:80', 'lance-engine:80', 'lance-engine.evil.example']) {
      refused(await engine.send({ method: 'GET', path: list, headers: { ...headers, host } }), 403, 'PermissionDenied');
    }
  });

  test('refuses a wrong secret and none', async () => {
    const { authorization, ...bare } = headers;
    refused(await engine.send({ method: 'GET', path: list, headers: bare }), 401, 'Unauthenticated');
    for (const wrong of ['Bearer wrong', authorization!.slice(0, -1), `${authorization}x`, '']) {
      const answer = await engine.send({ method: 'GET', path: list, headers: { ...bare, authorization: wrong } });
      refused(answer, 401, 'Unauthenticated');
    }
  });

  test('asks for a root', async () => {
    const { 'x-lance-root': _, ...rootless } = headers;
    refused(await engine.send({ method: 'GET', path: list, headers: rootless }), 400, 'InvalidInput', 'x-lance-root');
  });

  test('answers an unknown route with an error body', async () => {
    refused(
      await engine.send({ path: '/v1/table/t/frobnicate', headers: { ...headers, ...json } }),
      406,
      'Unsupported',
    );
    refused(await engine.send({ method: 'GET', path: '/', headers }), 404, 'Unsupported');
    refused(
      await engine.send({ path: '/v1/table/%E0%A4%A/drop', headers: { ...headers, ...json } }),
      400,
      'InvalidInput',
    );
  });

  test('takes JSON as JSON alone, and objects alone', async () => {
    const path = '/v1/namespace/shop/describe';
    refused(await engine.send({ path, headers }), 400, 'InvalidInput', 'Content-Type');
    // A request without a body needs no Content-Type.
    assert.equal((await engine.send({ path, headers, body: '' })).status, 200);
    const plain = { ...headers, 'content-type': 'text/plain' };
    refused(await engine.send({ path, headers: plain }), 400, 'InvalidInput', 'text/plain');
    const typed = { ...headers, ...json };
    refused(await engine.send({ path, headers: typed, body: '{' }), 400, 'InvalidInput', 'JSON');
    refused(await engine.send({ path, headers: typed, body: '[]' }), 400, 'InvalidInput', 'object');
  });

  test('refuses a body of too many bytes', async () => {
    const body = JSON.stringify({ padding: 'x'.repeat(5 * 1024 * 1024) });
    const answer = await engine.send({ path: '/v1/namespace/shop/describe', headers: { ...headers, ...json }, body });
    refused(answer, 413, 'InvalidInput', 'bytes');
  });

  test('checks the shape of a query', async () => {
    const typed = { ...headers, ...json };
    const ask = (body: object) =>
      engine.send({ path: '/v1/table/shop%24products/query', headers: typed, body: JSON.stringify(body) });
    refused(await ask({ vector: {} }), 400, 'InvalidInput', 'k');
    refused(await ask({ vector: {}, k: -1 }), 400, 'InvalidInput', 'k');
    refused(await ask({ vector: {}, k: 1, filter: 7 }), 400, 'InvalidInput', 'filter');
    refused(await ask({ vector: { single_vector: ['a'] }, k: 1 }), 400, 'InvalidInput', 'single_vector');
    refused(await ask({ vector: {}, k: 1, columns: { column_names: 'id' } }), 400, 'InvalidInput', 'column_names');
    refused(await ask({ vector: {}, k: 1, distance_type: 'near' }), 400, 'InvalidInput', 'distance_type');
    refused(await ask({ vector: { multi_vector: [[1], ['a']] }, k: 1 }), 400, 'InvalidInput', 'multi_vector');
    refused(await ask({ vector: {}, k: 1, filter: 'colour = 1' }), 404, 'ColumnNotFound', 'colour');
  });

  test('takes names from the address as they are, and new ones by the rule', async () => {
    const typed = { ...headers, ...json };
    for (const id of ['a%2Fb', 'a%20b', '..']) {
      refused(await engine.send({ path: `/v1/table/${id}/describe`, headers: typed }), 404, 'TableNotFound');
      refused(await engine.send({ path: `/v1/namespace/${id}/create`, headers: typed }), 400, 'InvalidInput');
    }
    for (const id of ['shop%24', '%24%24', '%24']) {
      refused(await engine.send({ path: `/v1/table/${id}/describe`, headers: typed }), 400, 'InvalidInput');
    }
  });

  test('refuses a body that names another object than the address', async () => {
    const answer = await engine.send({
      path: '/v1/table/shop%24products/drop',
      headers: { ...headers, ...json },
      body: JSON.stringify({ id: ['shop', 'orders'] }),
    });
    refused(answer, 400, 'InvalidInput', 'another object');
  });

  const countAt = (address: string, id: readonly string[], query = ''): Promise<{ status: number; body: string }> =>
    engine.send({
      path: `/v1/table/${address}/count_rows${query}`,
      headers: { ...headers, ...json },
      body: JSON.stringify({ id }),
    });

  test('takes an identifier that the body repeats as one text, joined as in the address, and no other', async () => {
    assert.equal((await countAt('shop%24products', ['shop$products'])).body, '2');
    assert.equal((await countAt('shop.products', ['shop.products'], '?delimiter=.')).body, '2');
    for (const id of [
      ['products'],
      ['shop$orders'],
      ['shop.products'],
      ['$shop$products'],
      ['shop$', 'products'],
      [],
    ]) {
      const answer = await countAt('shop%24products', id);
      assert.equal(answer.status, 400, JSON.stringify(id));
      assert.match(answer.body, /another object/);
    }
    // DuckDB first sends this identifier for a table in the root. After the error it sends the name alone.
    assert.equal((await countAt('%24%24products', ['$$products'])).status, 400);
  });

  test('takes another delimiter, as the specification says', async () => {
    const answer = await engine.send({
      path: '/v1/table/shop.products/count_rows?delimiter=.',
      headers: { ...headers, ...json },
    });
    assert.equal(answer.body, '2');
  });

  test('describes a table with its version and schema, and with more when asked in detail', async () => {
    const typed = { ...headers, ...json };
    const path = '/v1/table/shop%24products/describe';
    const brief = JSON.parse((await engine.send({ path, headers: typed })).body) as { location: string };
    const { location } = brief;
    assert.ok(location.startsWith(root) && existsSync(location), location);
    const schema = { fields: [{ name: 'id', nullable: true, type: { type: 'float64' } }] };
    // LanceDB's own client reads the version and the schema without requesting them.
    assert.deepEqual(brief, { table: 'products', namespace: ['shop'], location, version: 1, schema });
    const query = 'load_detailed_metadata=true&with_table_uri=true&check_declared=true';
    const detailed = await engine.send({ path: `${path}?${query}`, headers: typed });
    assert.deepEqual(JSON.parse(detailed.body), {
      table: 'products',
      namespace: ['shop'],
      location,
      table_uri: pathToFileURL(location).href,
      is_only_declared: false,
      version: 1,
      schema: { fields: [{ name: 'id', nullable: true, type: { type: 'float64' } }] },
      metadata: {},
      stats: { num_fragments: 1, num_deleted_rows: 0 },
    });
  });

  test('answers exists, stats and versions', async () => {
    const typed = { ...headers, ...json };
    assert.equal((await engine.send({ path: '/v1/table/shop%24products/exists', headers: typed })).status, 200);
    refused(await engine.send({ path: '/v1/table/shop%24nope/exists', headers: typed }), 404, 'TableNotFound');
    assert.equal((await engine.send({ path: '/v1/namespace/shop/exists', headers: typed })).status, 200);
    refused(await engine.send({ path: '/v1/namespace/nope/exists', headers: typed }), 404, 'NamespaceNotFound');
    const stats = await engine.send({ path: '/v1/table/shop%24products/stats', headers: typed });
    assert.equal((JSON.parse(stats.body) as { num_rows: number }).num_rows, 2);
    const versions = await engine.send({ path: '/v1/table/shop%24products/version/list', headers });
    assert.equal((JSON.parse(versions.body) as { versions: unknown[] }).versions.length, 1);
  });

  test('refuses an Arrow body that is none', async () => {
    const answer = await engine.send({
      path: '/v1/table/shop%24new/create',
      headers: { ...headers, 'content-type': 'application/vnd.apache.arrow.stream' },
      body: 'garbage garbage garbage',
    });
    refused(answer, 400, 'InvalidInput', 'Arrow');
  });

  test('ends with its stdin and takes its socket with it', async () => {
    const other = await startRawEngine();
    assert.ok(existsSync(other.socket));
    assert.equal(await other.stop(), 0);
    assert.ok(!existsSync(other.socket));
  });
});
