import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Table } from '#catalog/table/table.ts';
import { localRunner } from '#jobs/runners/localRunner.ts';
import { eventually } from '../../eventually.ts';
import { folderRoot } from '../backfillRoot.ts';
import { gatedFunction } from '../gatedFunction.ts';
import { contextOf, eventsOf, type LocalJob } from './localJobs.ts';
import { lengths, rowsFrom, textTable } from './localTable.ts';

suite('backfills by the runner local, where others take the table or its column', function () {
  this.timeout(120_000);
  const place = folderRoot();
  const { root, jobOf } = place;

  test('a table that is dropped meanwhile stays dropped', async () => {
    await textTable(place.db, 'dropped', { fragments: 2, rows: 1000 });
    const gated = gatedFunction('length', 500);
    let dropped: Promise<void> | undefined;
    const job = jobOf('dropped', { function: gated.function, options: { concurrency: 1, checkpointSize: 100 } });
    const { context } = contextOf(job, (event) => {
      if (event.kind === 'committed') dropped ??= place.db.dropTable('dropped').then(() => gated.open());
    });
    await assert.rejects(localRunner.run(context), { kind: 'TableChanged', message: /dropped or moved/ });
    await dropped;
    assert.equal(existsSync(join(root, 'dropped.lance')), false);
  });

  /** Runs a job that waits at row 500. Calls `others` after the job's first commit, and then lets the job continue. */
  async function runBeside(table: Table, options: LocalJob['options'], others: () => Promise<unknown>) {
    const gated = gatedFunction('length', 500, 'Number(id) % 100 === 7 ? null : text.length');
    let done: Promise<unknown> | undefined;
    const job = jobOf(table.name, { function: gated.function, options: { key: 'id', concurrency: 1, ...options } });
    const { context, events } = contextOf(job, (event) => {
      if (event.kind === 'committed') done ??= others().finally(() => gated.open());
    });
    await localRunner.run(context);
    await done;
    const notices = eventsOf(events, 'notice').map(({ text }) => text);
    return { calls: gated.calls(), events, notices, empty: (await lengths(table, 'length IS NULL')).map(([id]) => id) };
  }

  test('rows that are added meanwhile are computed too, and no row twice for it', async () => {
    const table = await textTable(place.db, 'added', { fragments: 4, rows: 2000 });
    const { calls, events, empty } = await runBeside(table, {}, async () => {
      await table.add(rowsFrom(10_000, 300));
      await table.add(rowsFrom(20_000, 300));
    });
    assert.deepEqual(
      [...calls.values()].filter((count) => count > 1),
      [],
    );
    assert.equal(calls.size, await table.countRows());
    // The function returns null for these rows only.
    assert.ok(empty.length > 20 && empty.every((id) => id % 100 === 7), empty.join());
    const [first, second] = eventsOf(events, 'planned');
    assert.equal(second?.rows, first!.rows + 600);
    assert.equal(second?.fragments, first!.fragments + 2);
    assert.equal(eventsOf(events, 'succeeded')[0]?.rows, calls.size);
    assert.deepEqual((await table.listIndices()).length, 0);
  });

  test('rows that are added while a job goes over rows that it names are left, and that is said', async () => {
    const table = await textTable(place.db, 'named', { fragments: 4, rows: 2000 });
    const add = () => table.add(rowsFrom(10_000, 30));
    const { calls, notices, empty } = await runBeside(table, { where: 'id >= 0' }, add);
    assert.ok(![...calls.keys()].some((id) => id >= 10_000));
    assert.equal(empty.filter((id) => id >= 10_000).length, 30);
    assert.match(notices.at(-1) ?? '', /the job selects its rows\. New rows are left for the next run/);
  });

  test('rows that are added with a key that is there already are left, and why is said', async () => {
    const table = await textTable(place.db, 'doubled', { fragments: 4, rows: 2000 });
    const { notices, empty } = await runBeside(table, {}, () => table.add(rowsFrom(10, 30)));
    assert.equal(empty.filter((id) => id % 100 !== 7).length, 30);
    assert.match(notices.at(-1) ?? '', /the key: .*\. New rows are left for the next run/);
  });

  test('two jobs at one column: the second is refused, and says which job has it', async () => {
    await textTable(place.db, 'busy', { fragments: 2, rows: 1000 });
    const gated = gatedFunction('length', 0);
    const first = contextOf(jobOf('busy', { function: gated.function }));
    const running = localRunner.run(first.context);
    await eventually(() => assert.ok(existsSync(join(root, 'busy.lance/_ckp/length.lease'))));
    const second = contextOf(jobOf('busy', { function: gated.function, options: { jobId: 'bf-second' } }));
    await assert.rejects(localRunner.run(second.context), { kind: 'Busy', message: /bf-test/ });
    gated.open();
    await running;
  });

  test('a job whose column was taken over by another job writes nothing more', async () => {
    const table = await textTable(place.db, 'taken', { fragments: 2, rows: 1000 });
    const gated = gatedFunction('length', 500);
    const lease = join(root, 'taken.lance/_ckp/length.lease');
    const { context } = contextOf(jobOf('taken', { function: gated.function }), (event) => {
      if (event.kind !== 'committed') return;
      const theirs = { job_id: 'bf-other', holder: 'somebody@elsewhere', host: 'elsewhere', pid: 1, nonce: 'theirs' };
      writeFileSync(lease, JSON.stringify({ version: 1, ...theirs, function_hash: '', heartbeat_at: Date.now() }));
      gated.open();
    });
    await assert.rejects(localRunner.run(context), { kind: 'Busy', message: /bf-other of somebody@elsewhere/ });
    assert.equal((await lengths(table, 'length IS NOT NULL AND id >= 500')).length, 0);
    assert.ok(existsSync(lease));
  });
});
