import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connectNamespace } from '#catalog/connect.ts';
import { registerDir } from '#engine/register.ts';
import { ownName } from '#jobs/local/keyIndex.ts';
import { localRunner } from '#jobs/runners/localRunner.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { type Serving, startServing } from '../../serve/serving.ts';
import { contextOf, eventsOf, functionOf, rowFunction } from './localJobs.ts';
import { lengthOf, lengths, textTable } from './localTable.ts';

const sql = functionOf('length', { kind: 'sql', expression: 'CAST(length(text) AS INT)' });
const typescript = rowFunction('length', 'export default (row) => row.text.length;');

const notThirteen = (length: number): number | null => (length === 13 ? null : length);

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
        const [written, announced] = [eventsOf(events, 'committed'), eventsOf(events, 'writing')];
        assert.equal(written.length, 8);
        // The progress of writing counts each row once, and a step is announced with the rows that it writes.
        assert.deepEqual(
          announced.map((step) => step.rows),
          written.map((step) => step.rows),
        );
        assert.equal(
          written.reduce((total, step) => total + (step.rows ?? 0), 0),
          rows.length,
        );
        assert.deepEqual(await table.listIndices(), []);
        assert.equal(existsSync(join(root, `all_${kind}.lance`, '_ckp')), false);
        await db.close();
      });
    }

    test('an existing index of the key stays complete, and an index that a killed run left is removed', async () => {
      const db = await connected();
      const table = await textTable(db, 'indexed', { fragments: 2, rows: 400 });
      await table.createIndex('id', { type: 'BTREE', name: 'theirs' });
      await table.createIndex('id', { type: 'BTREE', name: ownName('id') });
      const { context } = contextOf({ catalog, table: 'indexed', function: sql });
      await localRunner.run(context);
      const indexes = await table.listIndices();
      assert.deepEqual(
        indexes.map(({ name }) => name),
        ['theirs'],
      );
      const { numIndexedRows, numUnindexedRows } = await table.indexStats('theirs');
      assert.deepEqual([numIndexedRows, numUnindexedRows], [await table.countRows(), 0]);
      await db.close();
    });

    test('rows that match a condition are computed again, even to null, and others stay', async () => {
      const db = await connected();
      const table = await textTable(db, 'where', { fragments: 2, rows: 400 });
      await table.update({ values: { length: -1 } });
      const fn = functionOf('length', { kind: 'sql', expression: 'CAST(nullif(length(text), 13) AS INT)' });
      const { context } = contextOf({
        catalog,
        table: 'where',
        function: fn,
        options: { where: 'id >= 100 AND id < 300' },
      });
      await localRunner.run(context);
      assert.deepEqual(
        (await lengths(table)).filter(
          ([id, , length]) => length !== (id >= 100 && id < 300 ? notThirteen(lengthOf(id)) : -1),
        ),
        [],
      );
      await db.close();
    });

    test('only the requested number of fragments is computed, and the next run computes the others', async () => {
      const db = await connected();
      const table = await textTable(db, 'some', { fragments: 4, rows: 400 });
      await localRunner.run(contextOf({ catalog, table: 'some', function: sql, options: { numFrags: 1 } }).context);
      assert.ok((await lengths(table, 'length IS NOT NULL')).every(([id]) => id < 100));
      const second = contextOf({ catalog, table: 'some', function: sql });
      await localRunner.run(second.context);
      assert.equal(eventsOf(second.events, 'planned')[0]?.fragments, 3);
      assert.equal((await lengths(table, 'length IS NULL')).length, 0);
      await db.close();
    });

    test('a key of texts does as well, and one that rows lack is refused before anything is changed', async () => {
      const db = await connected();
      const table = await textTable(db, 'texts', { fragments: 2, rows: 400 });
      await localRunner.run(contextOf({ catalog, table: 'texts', function: sql, options: { key: 'text' } }).context);
      assert.deepEqual(
        (await lengths(table)).filter(([id, , length]) => length !== lengthOf(id)),
        [],
      );
      await table.update({ where: 'id = 3', valuesSql: { id: 'NULL', length: 'NULL' } });
      const version = await table.version();
      const { context } = contextOf({ catalog, table: 'texts', function: sql, options: { key: 'id' } });
      await assert.rejects(localRunner.run(context), {
        kind: 'KeyNotUnique',
        message: /one row has no value.*local-python/,
      });
      assert.equal(await table.version(), version);
      await db.close();
    });
  });
}
