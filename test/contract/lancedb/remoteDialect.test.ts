import assert from 'node:assert/strict';
import * as arrow from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { descendantsOf } from '../processTree.ts';
import { arrowType, fullKey, refused, type ServeProcess, startServeWithCatalog } from '../serve/serveProcess.ts';

const headers = { 'x-api-key': fullKey, 'x-lancedb-database': 'main' };
/** What LanceDB's remote client sends if a query has no limit. */
const largest = '9223372036854775807';

const orderByPrice = (ascending: boolean) => [{ column_name: 'price', ascending, nulls_first: false }];
const inName = (terms: string) => ({ multi_match: { query: terms, columns: ['name'], boost: [1] } });

suite("the protocol of LanceDB's remote client", function () {
  this.timeout(60_000);
  let server: ServeProcess;
  let catalog: Catalog;

  suiteSetup(async () => {
    ({ server, catalog } = await startServeWithCatalog());
    await catalog.createNamespace(['a']);
    await catalog.createNamespace(['b']);
    const rows = [
      { id: 1, name: 'red mug', price: 5, vector: [1, 0] },
      { id: 2, name: 'blue mug', price: 7, vector: [0, 1] },
      { id: 3, name: 'lamp', price: 6, vector: [1, 1] },
    ];
    const table = await catalog.createTable('t', rows, ['a']);
    await table.createIndex('name', { type: 'FTS', withPosition: true });
  });
  suiteTeardown(async () => {
    await catalog?.close();
    await server?.stop();
  });

  const send = (operation: string, body: object | string) =>
    server.send({
      path: `/v1/table/a$t/${operation}`,
      headers,
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const json = async (operation: string, body: object): Promise<unknown> => {
    const answer = await send(operation, body);
    assert.equal(answer.status, 200, answer.body);
    return JSON.parse(answer.body);
  };
  /** Returns the ids of a query in the order of its rows. */
  async function ids(body: object | string): Promise<number[]> {
    const response = await fetch(`${server.address}/v1/table/a$t/query/`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    assert.equal(response.status, 200, Buffer.from(bytes).toString());
    return [...arrow.tableFromIPC(bytes)].map((row) => Number(row?.['id']));
  }

  /** Returns the sorted ids of a full-text query. */
  async function find(query: unknown, columns?: string[]): Promise<number[]> {
    const found = await ids({ vector: [], k: 9, full_text_query: { query, ...(columns && { columns }) } });
    return found.toSorted((a, b) => a - b);
  }
  /** Changes the table "changed". */
  async function change(operation: string, body: object): Promise<unknown> {
    const sent = { path: `/v1/table/a$changed/${operation}`, headers, body: JSON.stringify(body) };
    return JSON.parse((await server.send(sent)).body);
  }
  async function list(path: string): Promise<unknown> {
    const { body } = await server.send({ method: 'GET', path, headers });
    return (JSON.parse(body) as { tables: unknown }).tables;
  }

  /** Sends an Arrow stream to add columns: these rows of the column `more`, or the column `extra` without rows. */
  function addByStream(rows: readonly number[]) {
    const added = new arrow.Table(new arrow.Schema([new arrow.Field('extra', new arrow.Int32(), true)]));
    const body = arrow.tableToIPC(rows.length > 0 ? arrow.tableFromArrays({ more: rows }) : added, 'stream');
    return server.send({ path: '/v1/table/a$t/add_columns/', headers: { ...headers, ...arrowType }, body });
  }

  test('has lists for vectors and columns, and the largest integer for no limit', async () => {
    assert.deepEqual(
      await ids(`{"vector":[],"k":${largest},"columns":["id"],"filter":null,"version":null}`),
      [1, 2, 3],
    );
    assert.deepEqual(await ids({ vector: [0.9, 0], k: 1, ef: null, refine_factor: null, maximum_nprobes: 0 }), [1]);
    assert.deepEqual(await ids({ vector: [[0.9, 0], [0, 0.9]], k: 1, columns: ['id'] }), [1, 2]); // prettier-ignore
  });

  test('has SQL for columns as a map', async () => {
    assert.deepEqual(await ids({ vector: [], k: 2, columns: { id: 'id + 10' } }), [11, 12]);
  });

  test('has columns to order by with a direction', async () => {
    assert.deepEqual(await ids({ vector: [], k: 9, order_by: orderByPrice(true) }), [1, 3, 2]);
    assert.deepEqual(await ids({ vector: [], k: 9, order_by: orderByPrice(false) }), [2, 3, 1]);
    refused(
      await send('query/', { vector: [], k: 1, order_by: [{ column_name: 'id', ascending: 1 }] }),
      'InvalidInput',
    );
  });

  test('has words with columns for full text, or the clauses of Lance', async () => {
    assert.deepEqual(await find('mug', []), [1, 2]);
    assert.deepEqual(await find('lamp', ['name']), [3]);
    const match = { column: null, terms: 'blue', boost: 1, fuzziness: 0, max_expansions: 50, operator: 'Or', prefix_length: 0 }; // prettier-ignore
    assert.deepEqual(await find({ match }), [2]);
    assert.deepEqual(await find({ phrase: { column: 'name', terms: 'red mug', slop: 0 } }), [1]);
    assert.deepEqual(await find({ multi_match: { query: 'lamp', columns: ['name'], boost: [1] } }), [3]);
    assert.deepEqual(await find({ boolean: { must: [inName('mug')], should: [], must_not: [inName('red')] } }), [2]);
    const fuzzy = { vector: [], k: 9, full_text_query: { query: { match: { ...match, fuzziness: 1 } } } };
    refused(await send('query/', fuzzy), 'Unsupported', '"fuzziness"', 'column');
  });

  test('has the same queries in plans', async () => {
    const query = { vector: [1, 0], k: 1, columns: ['id'], full_text_query: null };
    assert.match(String(await json('explain_plan/', { query, verbose: false })), /KNN/);
    assert.match(String(await json('analyze_plan/', query)), /KNN/);
  });

  test('accepts the queries of the specification too', async () => {
    const query = { vector: { single_vector: [1, 0] }, k: 1, columns: { column_names: ['id'] } };
    assert.deepEqual(await ids(query), [1]);
    assert.deepEqual(await ids({ vector: {}, k: 1, columns: { column_aliases: { id: 'id + 6' } } }), [7]);
  });

  test('is not spoken on the addresses of the specification', async () => {
    refused(await send('query', { vector: [1, 0], k: 1 }), 'InvalidInput', '"vector"');
    const described = (await json('describe', { version: null })) as { schema: { fields: { type: unknown }[] } };
    assert.deepEqual(described.schema.fields.map(({ type }) => type).slice(0, 2), [
      { type: 'float64' },
      { type: 'utf8' },
    ]);
  });

  test('is announced by a header to this client alone', async () => {
    const { 'x-api-key': apiKey, 'x-lancedb-database': database } = headers;
    for (const [path, sent, version] of [
      ['/v1/table/a$t/describe/', { 'x-api-key': apiKey }, '0.3.0'],
      ['/v1/namespace/a/table/list', headers, '0.3.0'],
      ['/v1/namespace/a/table/list', { 'x-api-key': apiKey }, undefined],
      ['/v1/table/a$t/describe/', { 'x-lancedb-database': database }, undefined],
    ] as const) {
      const method = path.endsWith('list') ? 'GET' : 'POST';
      assert.equal((await server.send({ method, path, headers: sent })).headers['phalanx-version'], version, path);
    }
  });

  test('has tags without an envelope, all of them', async () => {
    const tags = (await catalog.openTable('t', ['a'])).tags();
    for (let tag = 0; tag < 3; tag++) await tags.create(`tag${tag}`, 1);
    const listed = (await json('tags/list/', {})) as Record<string, { version: number; manifestSize: number }>;
    assert.deepEqual(Object.keys(listed), ['tag0', 'tag1', 'tag2']);
    assert.equal(listed['tag0']?.version, 1);
    assert.deepEqual(Object.keys((await json('tags/list', {})) as object), ['tags']);
  });

  test('counts the rows that it changed', async () => {
    await catalog.createTable('changed', [{ id: 1 }, { id: 2 }, { id: 3 }], ['a']);
    const updated = await change('update/', { updates: [['id', 'id + 1']], predicate: 'id > 1' });
    assert.deepEqual(updated, { updated_rows: 2, rows_updated: 2, version: 2 });
    assert.deepEqual(await change('delete/', { predicate: 'id = 3' }), { num_deleted_rows: 1, version: 3 });
    assert.deepEqual(await change('delete', { predicate: 'id = 99' }), { num_deleted_rows: 0, version: 4 });
    const table = await catalog.openTable('changed', ['a']);
    assert.deepEqual(await table.delete('id = 4'), { numDeletedRows: 1, version: 5 });
  });

  test('renames into another namespace, by either name of the field', async () => {
    for (const [path, body] of [
      ['rename/', { new_table_name: 'moved', new_namespace: ['b'] }],
      ['rename', { new_table_name: 'moved', new_namespace: ['b'] }],
      ['rename', { new_table_name: 'moved', new_namespace_id: ['b'] }],
    ] as const) {
      await catalog.createTable('moving', [{ id: 1 }], ['a']);
      const answer = await server.send({ path: `/v1/table/a$moving/${path}`, headers, body: JSON.stringify(body) });
      assert.equal(answer.status, 200, answer.body);
      assert.equal(await catalog.tableExists('moved', ['b']), true);
      assert.equal(await catalog.tableExists('moved', ['a']), false);
      await catalog.dropTable('moved', ['b']);
    }
    const both = { new_table_name: 'moved', new_namespace: ['b'], new_namespace_id: ['a'] };
    refused(await send('rename/', both), 'InvalidInput', 'new_namespace');
  });

  test('lists the tables of the root by the address of all tables', async () => {
    await catalog.createTable('r1', [{ id: 1 }]);
    await catalog.createTable('r2', [{ id: 1 }]);
    assert.deepEqual(await list('/v1/table/'), ['r1', 'r2']);
    assert.deepEqual(await list('/v1/table/?page_token=r1'), ['r2']);
    assert.ok(((await list('/v1/table')) as string[]).includes('a$t'));
  });

  test('has a distance for an index, which is used, and can keep an existing index', async () => {
    const body = { column: 'vector', index_type: 'IVF_FLAT', metric_type: 'cosine', num_partitions: 1, name: 'near' };
    await json('create_index/', body);
    const stats = (await json('index/near/stats/', {})) as { distance_type: string };
    assert.equal(stats.distance_type, 'cosine');
    refused(await send('create_index/', { ...body, replace: false }), 'IndexAlreadyExists');
    await json('create_index/', { ...body, replace: true });
  });

  test('has the status 400 for a table that exists', async () => {
    const body = arrow.tableToIPC(new arrow.Table(arrow.tableFromArrays({ id: [1] }).batches), 'stream');
    const create = (path: string) => server.send({ path, headers: { ...headers, ...arrowType }, body });
    const there = await create('/v1/table/a$t/create/?mode=create');
    assert.equal(there.status, 400);
    refused(there, 'TableAlreadyExists', 'already exists');
    assert.equal((await create('/v1/table/a$t/create?mode=create')).status, 409);
  });

  test('has the status 400 for what the client would take for a missing table', async () => {
    const tag = { tag: 'missing' };
    for (const [operation, body, kind] of [
      ['query', { vector: [], k: 1, filter: 'missing = 1' }, 'ColumnNotFound'],
      ['tags/version', tag, 'TagNotFound'],
      ['index/missing/drop', {}, 'IndexNotFound'],
      ['describe', { branch: 'missing' }, 'BranchNotFound'],
    ] as const) {
      const answer = await send(`${operation}/`, body);
      assert.equal(answer.status, 400);
      refused(answer, kind, 'missing');
    }
    assert.equal((await send('tags/version', tag)).status, 404);
    assert.equal((await send('index/missing/stats/', {})).status, 404);
    const late = { tag: 'late', version: 99 };
    refused(await send('tags/create/', late), 'VersionNotFound', '99');
    assert.deepEqual([(await send('tags/create/', late)).status, (await send('tags/create', late)).status], [400, 404]);
  });

  test('adds columns of nulls by an Arrow stream without rows', async () => {
    assert.equal((await addByStream([])).status, 200);
    refused(await addByStream([1]), 'InvalidInput', 'rows');
    const { fields } = await (await catalog.openTable('t', ['a'])).schema();
    assert.deepEqual(fields.map(({ name }) => name).slice(-1), ['extra']);
  });

  test('opens a table with a type that it has no name for, and refuses its schema', async () => {
    const entry = new arrow.Field('entries', new arrow.Struct([
      new arrow.Field('key', new arrow.Utf8(), false),
      new arrow.Field('value', new arrow.Int32(), true),
    ]), false); // prettier-ignore
    const schema = new arrow.Schema([
      new arrow.Field('id', new arrow.Int32(), true),
      new arrow.Field('deep', new arrow.Struct([new arrow.Field('m', new arrow.Map_(entry as never), true)]), true),
    ]);
    await catalog.createTable('maps', undefined, ['a'], { schema });
    const describe = (body: string) => server.send({ path: '/v1/table/a$maps/describe/', headers, body });
    assert.equal((await describe('')).status, 200);
    const answer = await describe('{"version":null}');
    refused(answer, 'Unsupported', '"maps"', '"deep.m"', 'map<', 'connectNamespace');
    assert.equal((await server.send({ path: '/v1/table/a$maps/describe', headers })).status, 200);
  });

  for (const [what, operation, body] of [
    ['a filter', 'query/', { vector: [], k: 1, filter: 'id > 1' }],
    ['a vector', 'query/', { vector: [1, 0], k: 1 }],
    ['several vectors', 'query/', { vector: [[1, 0]], k: 1 }],
    ['SQL for columns', 'query/', { vector: [], k: 1, columns: { id: 'id' } }],
    ['words', 'query/', { vector: [], k: 1, full_text_query: { query: 'mug', columns: [] } }],
    ['an order', 'query/', { vector: [], k: 1, order_by: [{ column_name: 'id' }] }],
    ['a plan', 'explain_plan/', { query: { vector: [], k: 1 } }],
  ] as const) {
    test(`runs a request with ${what} in another process`, async () => {
      await endQueryProcesses();
      let { status } = await send(operation, body);
      // The server may still hand the request to the process that was ended.
      while (status === 503) ({ status } = await send(operation, body));
      assert.equal(status, 200);
      assert.equal(descendantsOf(server.pid).length, 1);
    });
  }

  test('runs a request for a page in the process of the server', async () => {
    await endQueryProcesses();
    assert.deepEqual(await ids(`{"vector":[],"k":${largest},"columns":["id"],"offset":1}`), [2, 3]);
    assert.equal(descendantsOf(server.pid).length, 0);
  });

  async function endQueryProcesses(): Promise<void> {
    for (const { pid } of descendantsOf(server.pid)) process.kill(pid, 'SIGKILL');
    while (descendantsOf(server.pid).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  }
});
