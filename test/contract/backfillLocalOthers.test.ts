import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { localRunner } from '#jobs/runners/local.ts';
import { folderRoot } from './backfillRoot.ts';
import { eventually } from './eventually.ts';
import { gatedFunction } from './gatedFunction.ts';
import { contextOf } from './localJobs.ts';
import { lengths, textTable } from './localTable.ts';

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

  test('a job whose column somebody else has taken over writes nothing more', async () => {
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
