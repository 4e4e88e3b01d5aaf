import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { tempFolder } from '../harness/temp.ts';
import { drive, functionOf, gatedPython, specOf, type Driving } from './backfillDriving.ts';
import { BackfillTables, type At } from './backfillTables.ts';
import { eventually } from './eventually.ts';

// Somebody else writes while a job stands in the middle of a fragment; what the function gives must be right for the rows as
// they are in the end.

suite('a backfill of a table to which others write', function () {
  this.timeout(180_000);
  let tables: BackfillTables;
  suiteSetup(() => void (tables = new BackfillTables()));
  suiteTeardown(async () => tables.stop());

  type Standing = { at: At; job: Driving; fn: ReturnType<typeof functionOf>; go: () => void; calls: () => string[] };

  /** Eight fragments of 60 rows; the job stands at row 200, in the fourth, and has committed the three before it. */
  async function standing(more: Parameters<typeof specOf>[2] = {}): Promise<Standing> {
    const at = { uri: join(tempFolder(), 't.lance') };
    await tables.make(at, { fragments: 8, rows: 60 });
    const gated = gatedPython(tempFolder(), 200);
    const fn = functionOf(gated.body, { inputs: ['id', 'text'] });
    const job = drive(specOf(at, fn, { concurrency: 1, ...more }));
    await job.first('committed');
    await eventually(() => assert.ok(gated.calls().includes('200')), 60);
    return { at, job, fn, go: () => writeFileSync(gated.gate, ''), calls: gated.calls };
  }

  const isAllRight = async (at: At, rows: number): Promise<void> =>
    assert.deepEqual(await tables.check(at, 'c', 'length'), { rows, wrong: 0, samples: [] });

  test('computes what was appended meanwhile too', async () => {
    const { at, job, go } = await standing();
    await tables.append(at, 1000, 40);
    go();
    await job.done;
    await isAllRight(at, 520);
    assert.match(job.all('notice')[0]?.text ?? '', /changed meanwhile/);
  });

  test('names the fragments that were appended, where it is told which rows to compute', async () => {
    const { at, job, go } = await standing({ where: 'id >= 0' });
    await tables.append(at, 1000, 40);
    go();
    await job.done;
    assert.equal((await tables.check(at, 'c', 'length', 'id < 1000')).wrong, 0);
    assert.ok(Object.values(await tables.values(at, 'c', 'id >= 1000')).every((value) => value === null));
    assert.match(job.all('notice').at(-1)?.text ?? '', /fragments 8, were not computed/);
  });

  test('leaves rows deleted that were deleted meanwhile, and computes none twice', async () => {
    const { at, job, go, calls } = await standing();
    await tables.delete(at, 'id IN (5, 210, 300)');
    go();
    await job.done;
    await isAllRight(at, 477);
    assert.equal(new Set(calls()).size, calls().length);
  });

  test('gives rows that were updated meanwhile the value of their new inputs', async () => {
    const { at, job, go } = await standing();
    await tables.update(at, { text: "'something else'" }, 'id IN (190, 205, 400)');
    go();
    await job.done;
    await isAllRight(at, 480);
  });

  test('goes on after a compaction that took its fragments away', async () => {
    const { at, job, go } = await standing();
    await tables.delete(at, 'id = 220');
    await tables.compact(at, 1000);
    go();
    await job.done;
    await isAllRight(at, 479);
    assert.ok(job.all('conflict').some(({ dropped }) => dropped.length > 0));
  });

  test('adds the column again when it was dropped meanwhile', async () => {
    const { at, job, go } = await standing();
    await tables.drop(at, 'c');
    go();
    await job.done;
    await isAllRight(at, 480);
    assert.ok(job.all('notice').some(({ text }) => /dropped meanwhile/.test(text)));
  });

  test('gets through with all of them at once', async () => {
    const { at, job, go } = await standing();
    await tables.append(at, 1000, 30);
    await tables.update(at, { text: "'x'" }, 'id > 180 AND id % 50 = 0');
    await tables.delete(at, 'id % 40 = 1');
    await tables.compact(at, 100);
    await tables.append(at, 2000, 30);
    go();
    await job.done;
    const { rows } = await tables.state(at, 'c');
    await isAllRight(at, rows);
  });

  test('refuses a second job of the same column, and names who has it', async () => {
    const { at, job, fn, go } = await standing();
    await assert.rejects(drive(specOf(at, fn)).done, (error) => {
      assert.ok(isJobError(error) && error.kind === 'Busy', String(error));
      return /bf-test-.*@/.test(error.message);
    });
    go();
    await job.done;
    await isAllRight(at, 480);
  });

  test('does not commit once another job has taken the column over', async () => {
    const { at, job, go } = await standing();
    const lease = {
      version: 1,
      job_id: 'bf-other',
      holder: 'else@where',
      host: 'where',
      pid: 1,
      nonce: 'n',
      heartbeat_at: Date.now(),
    };
    writeFileSync(join(at.uri, '_ckp/c.lease'), JSON.stringify(lease));
    const { version } = await tables.state(at, 'c');
    go();
    await assert.rejects(
      job.done,
      (error) => isJobError(error) && error.kind === 'Busy' && /else@where/.test(error.message),
    );
    assert.equal((await tables.state(at, 'c')).version, version);
  });

  test('takes over from itself, as a job that is taken up again on another machine', async () => {
    const { at, job, fn, go } = await standing({ jobId: 'bf-same' });
    const again = drive(specOf(at, fn, { jobId: 'bf-same' }));
    await again.first('planned');
    go();
    await again.done;
    await assert.rejects(job.done, (error) => isJobError(error) && error.kind === 'Busy');
    await isAllRight(at, 480);
  });

  test('waits for a job that has missed a beat, and takes over when it has said nothing for a minute', async () => {
    const at = { uri: join(tempFolder(), 't.lance') };
    await tables.make(at, { fragments: 2, rows: 60 });
    const gated = gatedPython(tempFolder(), 1_000_000);
    const fn = functionOf(gated.body, { inputs: ['id', 'text'] });
    // A run for the folder, over nothing.
    await drive(specOf(at, fn, { where: 'id < 0' })).done;
    const lease = {
      version: 1,
      job_id: 'bf-old',
      holder: 'else@where',
      host: 'where',
      pid: 1,
      nonce: 'n',
      heartbeat_at: Date.now() - 58_000,
    };
    writeFileSync(join(at.uri, '_ckp/c.lease'), JSON.stringify(lease));
    await drive(specOf(at, fn)).done;
    await isAllRight(at, 120);
  });
});
