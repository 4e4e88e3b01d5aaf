import assert from 'node:assert/strict';
import { Float64, makeData, makeVector, Table } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { eventually } from '../eventually.ts';
import { type Serving, startServing } from './serving.ts';

const width = 32;
const count = 400_000;
const size = width * count * 8;

suite('a reader that leaves', function () {
  this.timeout(60_000);
  let server: Serving;
  let db: Catalog;

  suiteSetup(async () => {
    registerRest();
    const root = tempFolder();
    const local = await openDir({ root });
    // 100 MB of incompressible rows.
    const values = Float64Array.from({ length: width * count }, Math.random);
    const columns = Array.from({ length: width }, (_, at) => {
      const data = values.subarray(at * count, (at + 1) * count);
      return [`c${at}`, makeVector(makeData({ type: new Float64(), data }))] as const;
    });
    await local.createTable('wide', new Table(Object.fromEntries(columns)));
    await local.close();
    server = await startServing(root);
    db = await connectNamespace('rest', { uri: server.uri, apiKey: server.key });
  });
  suiteTeardown(async () => {
    await db?.close();
    await server?.close();
  });

  const measured = async (name: string): Promise<number> => {
    const answer = await fetch(`${server.uri}/metrics`, { headers: { 'x-api-key': server.key } });
    const line = (await answer.text()).split('\n').find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1));
  };
  /** Returns the number of requests in flight, without the request that reads this number. */
  const inFlight = () => measured('lance_catalog_requests_in_flight');
  const sent = () => measured('lance_catalog_sent_bytes_total');

  test('stops what the server does for it', async () => {
    const before = await sent();
    for await (const batch of (await db.openTable('wide')).query()) {
      assert.ok(batch.numRows > 0);
      break;
    }
    await eventually(async () => assert.equal(await inFlight(), 0));
    const bytes = (await sent()) - before;
    assert.ok(bytes < size / 2, `${bytes} of ${size} bytes were sent`);
  });

  test('by a signal stops it too', async () => {
    const before = await sent();
    const abort = new AbortController();
    const { batches } = await (await db.openTable('wide')).query().execute({ signal: abort.signal });
    await assert.rejects(
      async () => {
        for await (const batch of batches) {
          assert.ok(batch.numRows > 0);
          abort.abort();
        }
      },
      { name: 'AbortError' },
    );
    await eventually(async () => assert.equal(await inFlight(), 0));
    const bytes = (await sent()) - before;
    assert.ok(bytes < size / 2, `${bytes} of ${size} bytes were sent`);
  });

  test('and one that stays gets every byte', async () => {
    const before = await sent();
    let rows = 0;
    for await (const batch of (await db.openTable('wide')).query()) rows += batch.numRows;
    assert.equal(rows, count);
    assert.ok((await sent()) - before >= size);
  });
});
