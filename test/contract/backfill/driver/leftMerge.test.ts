import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Field, Int32, Table as ArrowTable, vectorFromArray } from '#arrow';
import { FolderStore } from '#jobs/local/checkpoints/folderStore.ts';
import { PendingMerges } from '#jobs/local/checkpoints/pendingMerge.ts';
import { mergeBatch } from '#jobs/local/mergeBatch.ts';
import { type ComputedRows, hashesOf } from '#jobs/local/rows.ts';
import { scanRows } from '#jobs/local/scanRows.ts';
import { folderRoot } from '../backfillRoot.ts';
import { lengthOf, lengths, textTable } from '../local/localTable.ts';
import { drive, functionOf, specOf, sql } from './driving.ts';

// The runner `local` writes the mark before it merges, and the engine does the merge. Only the timing is simulated:
// other clients write between the mark and the merge, and nothing checks the table afterwards, as if the process was
// killed.
suite('a job that the Python driver takes over from "local", killed after a merge', function () {
  this.timeout(120_000);
  const place = folderRoot();

  test('rolls back conflicting rows, computes them again, and keeps what other clients wrote', async () => {
    const table = await textTable(place.db, 'texts', { fragments: 2, rows: 400 });
    const at = { uri: join(place.root, 'texts.lance') };
    const fn = functionOf(sql('CAST(character_length(text) AS INT)'));
    const base = await table.version();
    const rows: ComputedRows[] = [];
    const { signal } = new AbortController();
    const request = {
      table: await place.db.openTable('texts', { version: base }),
      scope: 'TRUE',
      inputs: ['text'],
      key: 'id',
    };
    for await (const { fragment, addresses, inputs, key } of scanRows(request, signal)) {
      // Write values that no run computes, so that the test can distinguish them.
      const value = vectorFromArray(
        Array.from(addresses, () => -5),
        new Int32(),
      ).data[0]!;
      const states = new Uint8Array(addresses.length);
      rows.push({ fragment, addresses, hashes: hashesOf(inputs, ['text']), key, value, states });
    }
    const [key, column] = [
      (await table.schema()).fields.find(({ name }) => name === 'id')!,
      new Field('length', new Int32(), true),
    ];
    const mark = `_ckp/length-${fn.hash.slice(0, 16)}/merge.pending`;
    await new PendingMerges(new FolderStore(at.uri), mark, key, column).keep({ base, rows });
    await table.update({ where: 'id = 7', values: { text: 'something else' } });
    await table.update({ where: 'id = 8', values: { length: -1 } });
    const batches = rows.map((some) => mergeBatch(key, column, some.key!, some.value));
    await table.mergeInsert('id').whenMatchedUpdateAll().execute(new ArrowTable(batches));

    const job = drive(specOf(at, fn, { column: 'length' }));
    await job.done;
    const found = new Map((await lengths(await place.db.openTable('texts'))).map(([id, , length]) => [id, length]));
    assert.deepEqual(
      [7, 8, 9].map((id) => found.get(id)),
      [lengthOf(7, 'something else'), -1, -5],
    );
    assert.equal([...found.values()].filter((value) => value === -5).length, found.size - 2);
    assert.equal(existsSync(join(at.uri, mark)), false);
    assert.equal(job.all('conflict').length, 1);
  });
});
