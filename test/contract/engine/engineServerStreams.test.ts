import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { Float64, Int64, makeData, makeVector, Table, tableFromIPC, tableToIPC, vectorFromArray } from '#arrow';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import { tempFolder } from '../../harness/temp.ts';
import { type PlainServer, startPlainServer } from '../rest/plainServer.ts';

const columns = 16;
const rows = 300_000;
const size = columns * rows * 8;

type Sent = { path: string; headers?: Record<string, string>; body?: Uint8Array | Iterable<Uint8Array> };
type Received = { status: number; headers: IncomingHttpHeaders; body: Buffer };

suite('rows on their way through our server', function () {
  this.timeout(60_000);
  let server: PlainServer;
  const json = { 'content-type': 'application/json' };
  const arrow = { 'content-type': arrowStreamMime };
  const small = tableToIPC(new Table({ id: vectorFromArray([3n, 1n, 2n], new Int64()) }), 'stream');

  suiteSetup(async () => {
    const root = tempFolder();
    const db = await openDir({ root });
    // Incompressible numbers.
    const wide = Array.from({ length: columns }, (_, at) => {
      const data = Float64Array.from({ length: rows }, Math.random);
      return [`c${at}`, makeVector(makeData({ type: new Float64(), data }))] as const;
    });
    await db.createTable('wide', new Table(Object.fromEntries(wide)));
    await db.createTable('t', tableFromIPC(small));
    await db.close();
    server = await startPlainServer(root);
  });
  suiteTeardown(() => server.close());

  /** Sends a request and returns the response before its body is read. */
  async function begin({ path, headers = json, body = Buffer.from('{}') }: Sent): Promise<IncomingMessage> {
    const sent = request(`${server.uri}${path}`, { method: 'POST', headers });
    // Ignore errors: a server that has already responded may close the connection before it has read the whole body.
    sent.on('error', () => undefined);
    const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
    if (body instanceof Uint8Array) sent.end(body);
    else Readable.from(body).pipe(sent);
    const [response] = await answered;
    return response;
  }

  async function send(what: Sent): Promise<Received> {
    const response = await begin(what);
    const body = await buffer(response);
    return { status: response.statusCode ?? 0, headers: response.headers, body };
  }

  const query = (table: string, body: object, headers = {}) =>
    ({
      path: `/v1/table/${table}/query`,
      headers: { ...json, accept: arrowStreamMime, ...headers },
      body: Buffer.from(JSON.stringify({ vector: {}, k: 2_147_483_647, ...body })),
    }) satisfies Sent;

  const tables = async (): Promise<string[]> => {
    const answer = await fetch(`${server.uri}/v1/namespace/%24/table/list`);
    return ((await answer.json()) as { tables: string[] }).tables;
  };

  test('wait for a reader that pauses, and then come whole', async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error) => warnings.push(warning);
    process.on('warning', warned);
    const before = server.bytesWritten();
    const response = await begin(query('wide', {}));
    const reader = response[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    const chunks = [(await reader.next()).value as Buffer];
    let [written, still] = [0, 0];
    while (still < 5) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const now = server.bytesWritten() - before;
      still = now === written ? still + 1 : 0;
      written = now;
    }
    assert.ok(written < size / 2, `${written} of ${size} bytes went to a reader that reads nothing`);
    for (let next = await reader.next(); !next.done; next = await reader.next()) chunks.push(next.value);
    process.off('warning', warned);
    const table = tableFromIPC(Buffer.concat(chunks));
    assert.deepEqual([table.numRows, table.numCols], [rows, columns]);
    assert.deepEqual(warnings, []);
  });

  test('come in the order that is wished, and the answer says so', async () => {
    const sorted = await send(query('t', { order_by: [{ column: 'id', descending: true }] }, { prefer: 'order_by' }));
    assert.equal(sorted.headers['preference-applied'], 'order_by');
    assert.deepEqual([...tableFromIPC(sorted.body).getChild('id')!], [3n, 2n, 1n]);
    assert.equal((await send(query('t', {}))).headers['preference-applied'], undefined);
    const { headers } = await send(query('t', {}, { prefer: 'complete_rows' }));
    assert.equal(headers['preference-applied'], 'complete_rows');
  });

  test('that end before their Arrow stream does make no table, though the request is whole', async () => {
    for (const length of [small.length - 8, small.length - 30, 40]) {
      const path = '/v1/table/cut/create';
      const { status, body } = await send({ path, headers: arrow, body: small.subarray(0, length) });
      assert.equal(status, 400, body.toString());
      assert.match(body.toString(), /ends too early|not an Arrow stream/);
    }
    assert.deepEqual((await tables()).toSorted(), ['t', 'wide']);
  });

  test('that are no rows yet make a table without any', async () => {
    const body = tableToIPC(new Table(tableFromIPC(small).schema), 'stream');
    const made = await send({ path: '/v1/table/empty/create', headers: arrow, body });
    assert.equal(made.status, 200, made.body.toString());
    assert.equal((await send({ path: '/v1/table/empty/count_rows' })).body.toString(), '0');
    await send({ path: '/v1/table/empty/drop' });
  });

  test('that are not wanted are refused in words also to who is still sending them', async () => {
    const piece = Buffer.alloc(1024 * 1024);
    const body = [small, ...Array.from({ length: 24 }, () => piece)];
    const { status, body: answer } = await send({ path: '/v1/table/no$such$namespace/create', headers: arrow, body });
    assert.equal(status, 404, answer.toString());
    assert.equal((JSON.parse(answer.toString()) as { code: number }).code, 1);
  });

  test('are counted for the log, with what was asked and of what', async () => {
    const { body } = await send(query('t', {}));
    const entry = server.log.findLast(({ operation }) => operation === 'QueryTable')!;
    assert.deepEqual(
      [entry.method, entry.identifier, entry.status, entry.code, entry.end],
      ['POST', 't', 200, undefined, 'sent'],
    );
    assert.equal(entry.bytesSent, body.length);
    assert.ok(entry.bytesReceived > 0 && entry.milliseconds > 0);
    await send({ path: '/v1/table/nope/count_rows' });
    const failed = server.log.findLast(({ operation }) => operation === 'CountTableRows')!;
    assert.deepEqual([failed.identifier, failed.status, failed.code], ['nope', 404, 4]);
  });
});
