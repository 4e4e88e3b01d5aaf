import assert from 'node:assert/strict';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { tempFolder } from '../../harness/temp.ts';
import { createMixTable, runMix, startMixServer } from './hostileMix.ts';

const megabyte = 1024 ** 2;

suite('lance-catalog serve under a mix of hostile requests', function () {
  this.timeout(120_000);

  test('serves another client all the while, within its memory', async function () {
    if (process.platform !== 'linux') return this.skip();
    const root = tempFolder();
    const db = await openDir({ root });
    await createMixTable(db);
    await db.close();
    const server = await startMixServer(root, 3);
    try {
      const mix = await runMix(server, 30);
      const report = JSON.stringify(mix);
      assert.deepEqual(mix.wrong, [], report);
      assert.ok(mix.good > 100, report);
      // This is the time of 99 of 100 health checks, because tests that run at the same time may delay a single one.
      assert.ok(mix.usualHealthMs <= 1_000, report);
      // The server stopped some of the hostile requests (503) and refused others (400).
      assert.ok((mix.statuses[503] ?? 0) >= 5 && (mix.statuses[400] ?? 0) >= 5, report);
      assert.ok(mix.serverBytes < 700 * megabyte && mix.queryBytes < 1_500 * megabyte, report);
      assert.equal(server.log().filter(({ event }) => event === 'query_process_not_started').length, 0, server.said());
    } finally {
      assert.equal(await server.stop(), 0, server.said());
    }
  });
});
