import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request, type Server } from 'node:http';
import { join } from 'node:path';
import { makeVector, Table, tableToIPC } from '#arrow';
import { engineHost, rootHeader } from '#catalog/contract.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { type LeasedTable, SharedTables } from '#engine/dir/sharedTables.ts';
import { createEngineServer } from '#engine/server/engineServer.ts';
import { arrowStreamMime } from '#shared/mime.ts';
import { tempFolder } from '../../harness/temp.ts';
import { eventually } from '../eventually.ts';

const secret = 'a secret of the tests';
const large = (): Table =>
  new Table({ id: makeVector(BigInt64Array.from({ length: 2_000_000 }, (_, i) => BigInt(i))) });

/** Counts the tables that readers open and those that they release again, until `stop`. */
function countTables(): { opened: number; closed: number; stop(): void } {
  const before = Object.getOwnPropertyDescriptor(SharedTables.prototype, 'open')!;
  const counts = {
    opened: 0,
    closed: 0,
    stop: () => Object.defineProperty(SharedTables.prototype, 'open', before),
  };
  const value = async function (this: SharedTables, ...rest: Parameters<SharedTables['open']>): Promise<LeasedTable> {
    const leased = await (before.value as SharedTables['open']).apply(this, rest);
    counts.opened++;
    const release = leased.release.bind(leased);
    return Object.assign(leased, { release: () => (counts.closed++, release()) });
  };
  Object.defineProperty(SharedTables.prototype, 'open', { ...before, value });
  return counts;
}

suite('the tables that requests open', function () {
  this.timeout(30_000);
  const root = tempFolder();
  const socketPath = join(tempFolder(), 's');
  let server: Server;
  let counts: ReturnType<typeof countTables>;

  suiteSetup(async () => {
    const db = await openDir({ root });
    await db.createTable('t', [{ id: 1 }, { id: 2 }]);
    await db.createTable('large', large());
    counts = countTables();
    ({ server } = createEngineServer({ secret, catalogOf: () => Promise.resolve(db), log: () => undefined }));
    server.listen(socketPath);
    await once(server, 'listening');
  });
  suiteTeardown(() => {
    counts.stop();
    server.close();
  });
  setup(() => Object.assign(counts, { opened: 0, closed: 0 }));

  const ask = async (path: string, body: object | Uint8Array, accept = '*/*'): Promise<IncomingMessage> => {
    const sent = request({
      socketPath,
      method: 'POST',
      path,
      headers: {
        host: engineHost,
        authorization: `Bearer ${secret}`,
        [rootHeader]: encodeURIComponent(root),
        accept,
        'content-type': body instanceof Uint8Array ? arrowStreamMime : 'application/json',
      },
    });
    sent.end(body instanceof Uint8Array ? body : JSON.stringify(body));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  };

  const status = async (...args: Parameters<typeof ask>): Promise<number | undefined> => {
    const response = await ask(...args);
    response.resume();
    await once(response, 'end');
    return response.statusCode;
  };

  /** Waits until all tables are closed, because the server closes a table only after it has sent its response. */
  async function allClosed(atLeast: number): Promise<void> {
    await eventually(() => assert.equal(counts.closed, counts.opened));
    assert.ok(counts.opened >= atLeast, `only ${counts.opened} were opened`);
  }

  test('are closed after the answer', async () => {
    const plain = { vector: {}, k: 10 };
    assert.equal(await status('/v1/table/t/count_rows', {}), 200);
    assert.equal(await status('/v1/table/t/query', plain), 200);
    assert.equal(await status('/v1/table/t/query', plain, arrowStreamMime), 200);
    assert.equal(await status('/v1/table/t/describe', {}), 200);
    assert.equal(await status('/v1/table/t/stats', {}), 200);
    assert.equal(await status('/v1/table/t/exists', {}), 200);
    assert.equal(await status('/v1/table/t/version/list', {}), 200);
    const rows = tableToIPC(new Table({ id: makeVector(BigInt64Array.of(3n)) }), 'stream');
    assert.equal(await status('/v1/table/t/insert', rows), 200);
    assert.equal(await status('/v1/table/t/delete', { predicate: 'id = 3' }), 200);
    assert.equal(await status('/v1/table/u/create', rows), 200);
    await allClosed(8);
  });

  test('are closed after a description in detail', async () => {
    assert.equal(await status('/v1/table/t/describe?load_detailed_metadata=true', {}), 200);
    await allClosed(1);
  });

  test('are closed after a failure', async () => {
    assert.equal(await status('/v1/table/t/query', { vector: {}, k: 10, filter: 'colour = 1' }), 404);
    assert.equal(await status('/v1/table/t/count_rows', { predicate: 'id >' }), 400);
    await allClosed(2);
  });

  test('are closed when the client goes away in the middle of the rows', async () => {
    const response = await ask('/v1/table/large/query', { vector: {}, k: 2_000_000 }, arrowStreamMime);
    await once(response, 'readable');
    response.destroy();
    await allClosed(1);
  });
});

suite('a table of a directory', function () {
  this.timeout(120_000);

  test('is closed under its calls without harm to them', async () => {
    const db = await openDir({ root: tempFolder() });
    await db.createTable('large', large());
    const table = await db.openTable('large');
    const counting = table.countRows('id % 2 = 0');
    const abort = new AbortController();
    const left = table.countRows('id % 3 = 0', { signal: abort.signal });
    abort.abort();
    table.close();
    await assert.rejects(left, { name: 'AbortError' });
    assert.equal(await counting, 1_000_000);
    await eventually(() => assert.rejects(table.countRows()));
  });

  test('is closed once it is idle, also where calls went on coming', async () => {
    const db = await openDir({ root: tempFolder() });
    await db.createTable('large', large());
    for (let time = 0; time < 5; time++) {
      const table = await db.openTable('large');
      const first = table.countRows('id % 2 = 0');
      table.close();
      // Start several calls, so that some of them are in progress when the first one ends.
      const others = Array.from({ length: 5 }, (_, index) => table.countRows(`id % ${index + 3} = 0`));
      await Promise.all([first, ...others]);
      await eventually(() => assert.rejects(table.countRows()));
    }
  });
});
