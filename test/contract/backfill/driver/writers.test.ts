import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { inRoot } from '../../../../scripts/paths.ts';
import { python } from '../../../harness/needs/python.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { eventually } from '../../eventually.ts';
import { type At, BackfillTables } from '../backfillTables.ts';
import { drive, type Driving, functionOf, gatedPython, specOf, sql } from './driving.ts';

// Another client writes while a job waits in the middle of a fragment. Afterwards, each result must be correct for the
// final inputs of its row.

suite('a backfill of a table to which others write', function () {
  this.timeout(180_000);
  let tables: BackfillTables;
  suiteSetup(() => void (tables = new BackfillTables()));
  suiteTeardown(async () => tables.stop());

  type Standing = { at: At; job: Driving; fn: ReturnType<typeof functionOf>; go: () => void; calls: () => string[] };

  /**
   * Starts a job on eight fragments of 60 rows. It waits at row 200, in the fourth fragment, after it has committed the
   * first three.
   */
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

  test('names the appended fragments if the rows to compute were selected', async () => {
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

  test('gives rows that were changed in place meanwhile the value of their new inputs', async () => {
    const { at, job, go } = await standing();
    await tables.replace(at, [
      { id: 190, text: 'in the fragment that is computed' },
      { id: 400, text: 'in one that is not yet' },
    ]);
    go();
    await job.done;
    await isAllRight(at, 480);
  });

  /**
   * Creates a table with an index, and runs a driver while another client changes an input right before the driver's
   * first commit.
   */
  async function racing(manner: 'live' | 'die'): Promise<{ at: At; fn: ReturnType<typeof functionOf>; job: Driving }> {
    const at = { uri: join(tempFolder(), 't.lance') };
    await tables.make(at, { fragments: 4, rows: 60 });
    await tables.replace(at, [{ id: 1, text: 'for the index' }]);
    const fn = functionOf(sql('CAST(character_length(text) AS INT)'));
    const racer = join(tempFolder(), 'python');
    const words = [python(), inRoot('test/contract/python/racingDriver.py')].map((word) => `'${word}'`).join(' ');
    writeFileSync(racer, `#!/bin/sh\nexec ${words} "$1" ${manner} "$2"\n`, { mode: 0o755 });
    return { at, fn, job: drive(specOf(at, fn), { python: racer }) };
  }

  test('computes rows again that were changed in place at the moment of a commit', async () => {
    const { at, job } = await racing('live');
    await job.done;
    await isAllRight(at, 240);
    assert.ok(job.all('conflict').some(({ dropped }) => dropped.length === 1));
  });

  test('does so in the next run where it was killed right after that commit', async () => {
    const { at, fn, job } = await racing('die');
    await assert.rejects(job.done);
    const { wrong, samples } = await tables.check(at, 'c', 'length', "text = 'changed in place'");
    assert.ok(wrong === 1 && !JSON.stringify(samples).includes('null'), 'the value of the old text is there');
    await drive(specOf(at, fn)).done;
    await isAllRight(at, 240);
  });

  test('computes all rows of a fragment again, if requested, that was changed in place since it was filled', async () => {
    const at = { uri: join(tempFolder(), 't.lance') };
    await tables.make(at, { fragments: 3, rows: 60 });
    const fn = functionOf(sql('CAST(character_length(text) AS INT)'));
    await drive(specOf(at, fn, { where: 'true', numFrags: 1 })).done;
    await tables.replace(at, [{ id: 3, text: 'something else' }]);
    await drive(specOf(at, fn, { where: 'true' })).done;
    await isAllRight(at, 180);
  });

  test('evaluates the condition again when its inputs were changed in place', async () => {
    const { at, job, fn, go } = await standing({ where: 'n >= 0', checkpointSize: 1 });
    job.controller.abort();
    await assert.rejects(job.done);
    await tables.replace(at, [
      { id: 182, n: 5 },
      { id: 183, n: -5 },
    ]);
    go();
    await drive(specOf(at, fn, { where: 'n >= 0' })).done;
    assert.deepEqual(await tables.values(at, 'c', 'id IN (182, 183)'), { 182: 4, 183: null });
    assert.equal((await tables.check(at, 'c', 'length', 'n >= 0')).wrong, 0);
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
});
