import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Int64, Table, tableToIPC, Utf8, vectorFromArray } from '#arrow';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { startRawEngine } from '../engine/rawEngine.ts';
import { eventually } from '../eventually.ts';
import { descendantsOf } from '../processTree.ts';
import { type Answer, arrowType, refused, type ServeProcess, startServe, writeKeys } from './serveProcess.ts';

const reader = { 'x-api-key': 'a-key-that-may-only-read' };
const writer = { 'x-api-key': 'a-key-that-may-change-things' };

/** A condition that takes hours but no memory. */
const endless = 'levenshtein(repeat(s, 200000), repeat(s, 200001)) = 1';

/** The processes that the server has started and that still run. */
const childrenOf = (pid: number): number[] => descendantsOf(pid).map((child) => child.pid);

const rows = (ids: readonly number[], s: string): Uint8Array =>
  tableToIPC(
    new Table({
      id: vectorFromArray(ids.map(BigInt), new Int64()),
      s: vectorFromArray(
        ids.map(() => s),
        new Utf8(),
      ),
    }),
    'stream',
  );

/** Asserts that a request was stopped, and that its client is told not to repeat it at once. */
function stopped(answer: Answer, why: string): void {
  refused(answer, 'ServiceUnavailable', `The request was stopped because it ${why}`);
  assert.equal(answer.headers['retry-after'], '60');
}

suite('lance-catalog serve and queries that need too much', function () {
  this.timeout(120_000);
  let start: (seconds: number) => Promise<ServeProcess>;
  let server: ServeProcess;

  suiteSetup(async function () {
    if (process.platform !== 'linux') return this.skip();
    const root = tempFolder();
    const db = await openDir({ root });
    for (const name of ['t', 'written']) {
      await db.createTable(
        name,
        Array.from({ length: 100 }, (_, id) => ({ id: BigInt(id), s: `row ${id}` })),
      );
    }
    await db.close();
    const keys = writeKeys([
      ['reader', reader['x-api-key'], 'read-only', '*'],
      ['writer', writer['x-api-key'], 'read-write', '*'],
    ]);
    const args = ['--root', root, '--keys', keys, '--jobs', '--query-processes', '3', '--query-memory', '700'];
    start = (seconds) =>
      startServe([...args, '--query-timeout', String(seconds)], { env: { XDG_DATA_HOME: join(root, 'state') } });
    // On a busy machine it takes seconds until a query needs too much memory.
    server = await start(30);
  });
  suiteTeardown(async () => {
    assert.equal(await server.stop(), 0, server.said());
  });

  const post = (
    operation: string,
    body: object,
    headers: Record<string, string> = reader,
    table = 't',
    asked: ServeProcess = server,
  ) =>
    asked.send({
      path: `/v1/table/${table}/${operation}`,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  const tooLarge: Record<string, readonly [operation: string, body: object]> = {
    'a condition': ['count_rows', { predicate: "length(repeat('x', 400000000 + id)) = id" }],
    'a list': ['count_rows', { predicate: 'array_length(array_repeat(id, 100000000 + id)) = 1' }],
    'a text that grows': [
      'count_rows',
      { predicate: "length(replace(replace('x', 'x', repeat('x', 30000)), 'x', repeat('x', 30000 + id))) = 1" },
    ],
    'a computed column': [
      'query',
      { vector: {}, k: 10, columns: { column_aliases: { x: "repeat('x', 100000000 + id)" } } },
    ],
    'a plan': ['explain_plan', { query: { vector: {}, k: 1, filter: "repeat('x', 2000000000) = s" } }],
    'a plan that is run': ['analyze_plan', { vector: {}, k: 1, filter: "length(repeat('x', 400000000 + id)) = id" }],
  };
  for (const [name, [operation, body]] of Object.entries(tooLarge)) {
    test(`refuses ${name} that needs too much memory`, async () => {
      stopped(await post(operation, body), 'needed too much memory');
      assert.equal((await post('count_rows', { predicate: 'id < 7' })).body, '7');
    });
  }

  test('refuses a query that takes too long, while others are answered', async () => {
    const short = await start(2);
    try {
      const count = async (predicate: string, headers: Record<string, string>): Promise<Answer> =>
        post('count_rows', predicate === '' ? {} : { predicate }, headers, 't', short);
      const slow = count(endless, reader);
      for (let turn = 0; turn < 10; turn++) {
        assert.equal((await count(`id < ${turn}`, writer)).body, String(turn));
        assert.equal((await count('', reader)).body, '100');
      }
      stopped(await slow, 'took longer than 2 seconds.');
      const line = await short.logged('query_stopped', ({ reason }) => reason === 'time');
      assert.equal(line.level, 'warn');
      const metrics = await short.send({ method: 'GET', path: '/metrics', headers: reader });
      assert.match(metrics.body, /^lance_catalog_queries_stopped_total\{reason="time"\} [1-9]/m);
    } finally {
      assert.equal(await short.stop(), 0, short.said());
    }
  });

  test('ends what a client that leaves has asked for', async () => {
    const before = new Set(childrenOf(server.pid));
    const sent = request(`${server.address}/v1/table/t/count_rows`, {
      method: 'POST',
      headers: { ...writer, 'content-type': 'application/json' },
    });
    sent.on('error', () => undefined);
    sent.end(JSON.stringify({ predicate: `${endless} AND id = 3` }));
    await once(sent, 'finish');
    await sleep(700);
    const busy = childrenOf(server.pid);
    sent.destroy();
    await eventually(() => {
      const left = childrenOf(server.pid);
      assert.ok(
        busy.some((pid) => !left.includes(pid)),
        `${[...before].join()}; ${busy.join()}; ${left.join()}`,
      );
    }, 5);
  });

  test('takes SQL in writes there, and leaves the table whole when a write is stopped', async () => {
    const count = async (predicate: string): Promise<string> =>
      (await post('count_rows', { predicate }, writer, 'written')).body;
    const update = await post('update', { predicate: 'id < 5', updates: [['s', "'new'"]] }, writer, 'written');
    assert.deepEqual([update.status, await count("s = 'new'")], [200, '5']);
    const merged = await server.send({
      path: "/v1/table/written/merge_insert?on=id&when_matched_update_all=true&when_matched_update_all_filt=target.s%20%3D%20'new'",
      headers: { ...writer, ...arrowType },
      body: rows([0, 1, 50], 'merged'),
    });
    assert.deepEqual([merged.status, await count("s = 'merged'")], [200, '2'], merged.body);
    const broken = await server.send({
      path: "/v1/table/written/merge_insert?on=id&when_matched_update_all=true&when_matched_update_all_filt=target.s%20%3D%20'new'",
      headers: { ...writer, ...arrowType },
      body: 'no rows',
    });
    refused(broken, 'InvalidInput');
    const grown = { predicate: 'true', updates: [['s', "repeat('x', 400000000 + id)"]] };
    stopped(await post('update', grown, writer, 'written'), 'needed too much memory');
    const column = { new_columns: [{ name: 'wide', expression: "repeat('x', 400000000 + id)" }] };
    stopped(await post('add_columns', column, writer, 'written'), 'needed too much memory');
    stopped(
      await post('delete', { predicate: "length(repeat('x', 400000000 + id)) = id" }, writer, 'written'),
      'needed too much memory',
    );
    assert.equal((await post('count_rows', {}, writer, 'written')).body, '100');
    assert.equal(await count("s = 'merged'"), '2');
    const removed = await post('delete', { predicate: 'id >= 90' }, writer, 'written');
    assert.deepEqual([removed.status, await count('id >= 0')], [200, '90']);
  });

  test('tries the condition of a backfill there first', async () => {
    const body = { column: 's', where: "repeat('x', 2000000000) = s" };
    stopped(await post('backfill_column', body, writer), 'needed too much memory');
    // The server leaves other errors of a condition to the job, which fails earlier: the column has no function.
    refused(
      await post('backfill_column', { column: 's', where: 'no_such = 1' }, writer),
      'InvalidInput',
      'no function',
    );
  });

  test('answers with the errors of the catalog, without paths', async () => {
    refused(await post('count_rows', { predicate: 'no_such = 1' }), 'ColumnNotFound', 'no column "no_such"');
    refused(await post('count_rows', { predicate: 'id <' }), 'InvalidInput');
    refused(await post('count_rows', { predicate: 'id = 1' }, reader, 'missing'), 'TableNotFound', '"missing"');
    refused(await post('query', { vector: { single_vector: [1, 2] }, k: 1 }), 'InvalidInput');
  });
});

suite('the engine process where the system can not limit memory', function () {
  this.timeout(60_000);

  test('ends itself above its limit', async () => {
    const root = tempFolder();
    const db = await openDir({ root });
    await db.createTable('t', [{ id: 1n }]);
    await db.close();
    const engine = await startRawEngine(600 * 1024 ** 2);
    const headers = { ...engine.headers(root), 'content-type': 'application/json' };
    const send = (predicate: string) =>
      engine.send({ path: '/v1/table/t/count_rows', headers, body: JSON.stringify({ predicate }) });
    assert.equal((await send("length(repeat('x', 1000000 + id)) = 1000001")).body, '1');
    await assert.rejects(send("length(lpad('x', 2000000000 + id, 'y')) = id"));
    assert.equal(await engine.exited, 'SIGKILL');
  });
});
