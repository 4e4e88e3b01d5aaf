import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connectNamespace } from '#client/connect.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { registerDir } from '#engine/register.ts';
import { localRunner } from '#jobs/runners/local.ts';
import { tempFolder } from '../harness/temp.ts';
import { contextOf, eventsOf, functionOf, rowFunction } from './localJobs.ts';
import { lengthOf, lengths, textTable } from './localTable.ts';
import { startServing, type Serving } from './serving.ts';

const sql = functionOf('length', { kind: 'sql', expression: 'CAST(length(text) AS INT)' });
const typescript = rowFunction('length', 'export default (row) => row.text.length;');

for (const place of ['dir', 'rest'] as const) {
  suite(`backfills by the runner local: ${place}`, function () {
    this.timeout(60_000);
    const root = tempFolder();
    let server: Serving | undefined;
    let catalog: CatalogConfig;
    suiteSetup(async () => {
      registerDir();
      if (place === 'rest') server = await startServing(root);
      catalog = server
        ? { implementation: 'rest', uri: server.uri, apiKey: server.key }
        : { implementation: 'dir', root };
    });
    suiteTeardown(() => server?.close());

    const connected = () => connectNamespace('dir', { root });

    for (const [kind, fn] of Object.entries({ sql, typescript })) {
      test(`a function in ${kind} fills all rows, deleted ones left deleted`, async () => {
        const db = await connected();
        const table = await textTable(db, `all_${kind}`);
        const { context, events } = contextOf({
          catalog,
          table: table.name,
          function: fn,
          uri: join(root, `all_${kind}.lance`),
        });
        await localRunner.run(context);
        const rows = await lengths(table);
        assert.equal(rows.length, 8000 - Math.ceil((8000 - 5) / 97));
        assert.deepEqual(
          rows.filter(([id, , length]) => length !== lengthOf(id)),
          [],
        );
        const [done] = eventsOf(events, 'succeeded');
        assert.equal(done?.rows, rows.length);
        assert.equal(eventsOf(events, 'committed').length, 8);
        assert.deepEqual(await table.listIndices(), []);
        assert.equal(existsSync(join(root, `all_${kind}.lance`, '_ckp')), false);
        await db.close();
      });
    }
  });
}
