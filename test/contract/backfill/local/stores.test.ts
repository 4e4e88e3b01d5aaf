import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { planBackfill } from '#jobs/plan/planBackfill.ts';
import { localRunner } from '#jobs/runners/localRunner.ts';
import { localPythonRunner } from '#jobs/runners/pythonRunner.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { inRoot } from '../../../../scripts/paths.ts';
import { python } from '../../../harness/needs/python.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { eventually } from '../../eventually.ts';
import { fails } from '../../expect.ts';
import { startEngine } from '../../subjects.ts';
import { bucketRoot } from '../backfillRoot.ts';
import { gatedFunction } from '../gatedFunction.ts';
import { contextOf, eventsOf, functionOf, rowFunction } from './localJobs.ts';
import { deletedBelow, lengthOf, lengths, textTable } from './localTable.ts';

const sql = functionOf('length', { kind: 'sql', expression: 'CAST(length(text) AS INT)' });
const typescript = rowFunction('length', 'export default (row) => row.text.length;');

const wrongOf = (rows: Awaited<ReturnType<typeof lengths>>) => rows.filter(([id, , length]) => length !== lengthOf(id));

suite('backfills by the runner local of tables in an object store', function () {
  this.timeout(180_000);
  const bucket = bucketRoot();
  const { jobOf } = bucket;
  /**
   * Returns the checkpoint objects of a table, without the objects that represent folders. The driver's library creates
   * such objects.
   */
  const keptOf = async (table: string): Promise<string[]> => {
    const keys = await bucket.moto.keys(`backfills/${table}.lance/_ckp/`);
    return keys.filter((key) => !key.endsWith('/'));
  };

  for (const [kind, fn] of Object.entries({ sql, typescript })) {
    test(`a function in ${kind} fills all rows, and keeps what it computes in the bucket until then`, async () => {
      const table = await textTable(bucket.db, kind, { fragments: 2, rows: 400 });
      const folder = tempFolder();
      let kept: Promise<string[]> | undefined;
      const { context } = contextOf({ ...jobOf(kind, { function: fn, options: {} }), folder }, (event) => {
        if (event.kind === 'committed') kept ??= keptOf(kind);
      });
      await localRunner.run(context);
      const names = (await kept)!.map((key) => key.split('/').at(-1)!);
      assert.ok(names.includes('length.lease') && names.some((name) => /^f0-\d+-\d+\.arrow$/.test(name)), names.join());
      assert.deepEqual(wrongOf(await lengths(table)), []);
      assert.deepEqual(await keptOf(kind), []);
      assert.ok(!readdirSync(folder).includes('_ckp'));
    });
  }

  test('a job that is killed goes on where it was, and computes nothing again that was kept', async () => {
    const table = await textTable(bucket.db, 'killed', { fragments: 4, rows: 1200 });
    const gated = gatedFunction('length', 800);
    const job = jobOf('killed', { function: gated.function, options: { checkpointSize: 50, concurrency: 1 } });
    const file = join(tempFolder(), 'job.json');
    writeFileSync(file, JSON.stringify(job));
    const child = spawn(process.execPath, [inRoot('test/contract/backfill/local/runLocalJob.ts'), file], {
      stdio: 'inherit',
    });
    // Wait until two fragments are committed and a part of the third is saved.
    await eventually(async () => {
      assert.equal((await lengths(table, 'length IS NOT NULL')).length, 600 - deletedBelow(600));
      assert.ok((await keptOf('killed')).some((key) => /\/f2-\d+-\d+\.arrow$/.test(key)));
    }, 60);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const chunks = (await keptOf('killed')).flatMap((key) => /\/f2-(\d+)-(\d+)\.arrow$/.exec(key)?.slice(1) ?? []);
    assert.ok((await keptOf('killed')).some((key) => key.endsWith('/length.lease')));
    const { request } = contextOf(job).context;
    const plan = await planBackfill(
      { ...request, function: gated.function, runner: 'local' },
      AbortSignal.timeout(60_000),
    );
    assert.ok(plan.rows.reused.value >= 50);
    assert.ok(!plan.notes.some(({ text }) => text.includes('folder of the job')));
    gated.open();
    const { context, events } = contextOf(job);
    await localRunner.run(context);
    assert.equal(eventsOf(events, 'planned')[0]?.reusedRows, plan.rows.reused.value);
    const last = 600 + Math.max(...chunks.filter((_, index) => index % 2 === 0).map(Number)) + 50;
    const again = [...gated.calls()].filter(([id, times]) => times > 1 && id < last);
    assert.deepEqual(again, []);
    assert.deepEqual(wrongOf(await lengths(table)), []);
    assert.deepEqual(await keptOf('killed'), []);
  });

  for (const [first, second] of [
    [localRunner, localRunner],
    [localRunner, localPythonRunner],
    [localPythonRunner, localRunner],
  ] as const) {
    test(`while ${first.name} is at a column, ${second.name} is refused, and told who is there`, async () => {
      const name = `busy_${first.name}_${second.name}`;
      await textTable(bucket.db, name, { fragments: 2, rows: 200 });
      const gated = gatedFunction('length', 0);
      const job = (jobId: string) =>
        jobOf(name, { function: gated.function, options: { jobId, concurrency: 1, python: python() } });
      const holding = contextOf(job('bf-first'));
      const running = first.run(holding.context);
      running.catch(() => undefined);
      await eventually(async () => assert.ok((await keptOf(name)).some((key) => key.endsWith('.lease'))), 60);
      await assert.rejects(second.run(contextOf(job('bf-second')).context), (error) => {
        assert.ok(isJobError(error) && error.kind === 'Busy', String(error));
        assert.match(error.message, new RegExp(`bf-first of .*@${hostname()}`));
        return true;
      });
      const table = await bucket.db.openTable(name);
      await fails(() => table.optimize(), 'ConcurrentModification', 'bf-first of', 'its column "length"');
      // The separate engine process of the editor must refuse this, too.
      const engine = await startEngine();
      const seen = await engine.catalog(bucket.root, { storageOptions: bucket.moto.storageOptions }).openTable(name);
      await fails(() => seen.optimize(), 'ConcurrentModification', 'bf-first of', 'its column "length"');
      await engine.dispose();
      gated.open();
      await running;
      assert.deepEqual(await keptOf(name), []);
    });
  }
});

suite('a bucket that refuses to keep what the runner local computes', function () {
  this.timeout(180_000);
  const bucket = bucketRoot('strict');
  const { jobOf } = bucket;

  test('is reported before anything is computed, with the missing permission', async () => {
    await textTable(bucket.db, 'refused', { fragments: 1, rows: 20 });
    await bucket.moto.refuse('*/_ckp/*');
    const { context, events } = contextOf(jobOf('refused', { function: sql, options: {} }));
    await assert.rejects(localRunner.run(context), (error) => {
      assert.ok(isJobError(error) && error.kind === 'StorageFailed', String(error));
      assert.match(
        error.message,
        /AWS does not allow .* to call s3:PutObject on s3:\/\/lance-tests\/.*\/_ckp\/length\.lease/,
      );
      assert.match(error.hint, /resume the job/);
      return true;
    });
    assert.deepEqual(events, []);
    await bucket.moto.refuse(undefined);
  });

  test('half-way ends the job in a sentence, and it goes on from what was kept', async () => {
    const table = await textTable(bucket.db, 'half', { fragments: 2, rows: 200 });
    const gated = gatedFunction('length', 100);
    const job = jobOf('half', { function: gated.function, options: { checkpointSize: 20, concurrency: 1 } });
    let refused: Promise<void> | undefined;
    const first = contextOf(job, (event) => {
      if (event.kind === 'committed') refused ??= bucket.moto.refuse('*/_ckp/*/*').then(() => gated.open());
    });
    await assert.rejects(localRunner.run(first.context), { kind: 'StorageFailed', message: /s3:PutObject on .*\/f1-/ });
    await refused;
    assert.equal((await lengths(table, 'length IS NOT NULL')).length, 100 - deletedBelow(100));
    await bucket.moto.refuse(undefined);
    await localRunner.run(contextOf(job).context);
    assert.deepEqual(wrongOf(await lengths(table)), []);
    assert.deepEqual(
      [...gated.calls()].filter(([id, times]) => id < 100 && times !== 1),
      [],
    );
  });
});
