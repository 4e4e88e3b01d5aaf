import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { eventually } from '../../eventually.ts';
import { type Moto, startMoto } from '../../moto.ts';
import { type At, BackfillTables } from '../backfillTables.ts';
import { drive, functionOf, gatedPython, specOf, sql } from './driving.ts';

suite('a backfill of a table in an object store', function () {
  this.timeout(180_000);
  let tables: BackfillTables;
  let moto: Moto;
  suiteSetup(async () => {
    tables = new BackfillTables();
    moto = await startMoto('lenient');
  });
  suiteTeardown(async () => {
    await tables.stop();
    await moto.stop();
  });

  async function makeTable(name: string): Promise<At> {
    const at = { uri: `${moto.root('backfills')}/${name}.lance`, options: moto.storageOptions };
    await tables.make(at, { fragments: 3, rows: 40 });
    return at;
  }

  test('fills the column', async () => {
    const at = await makeTable('sql');
    await drive(specOf(at, functionOf(sql('length(text)')))).done;
    assert.deepEqual(await tables.check(at, 'c', 'length'), { rows: 120, wrong: 0, samples: [] });
  });

  test('goes on from its checkpoints, and computes no row twice', async () => {
    const at = await makeTable('resume');
    const gated = gatedPython(tempFolder(), 60);
    const fn = functionOf(gated.body, { inputs: ['id', 'text'] });
    const job = drive(specOf(at, fn, { concurrency: 1, checkpointSize: 100_000 }));
    await eventually(() => assert.ok(gated.calls().includes('60')), 60);
    job.controller.abort();
    writeFileSync(gated.gate, '');
    await assert.rejects(job.done, { name: 'AbortError' });
    const next = drive(specOf(at, fn));
    await next.done;
    assert.equal((await tables.check(at, 'c', 'length')).wrong, 0);
    assert.deepEqual([gated.calls().length, new Set(gated.calls()).size], [120, 120]);
  });

  test('is refused while another job is at the column', async () => {
    const at = await makeTable('busy');
    const gated = gatedPython(tempFolder(), 10);
    const fn = functionOf(gated.body, { inputs: ['id', 'text'] });
    const job = drive(specOf(at, fn, { concurrency: 1 }));
    await eventually(() => assert.ok(gated.calls().includes('10')), 60);
    await assert.rejects(drive(specOf(at, fn)).done, (error) => isJobError(error) && error.kind === 'Busy');
    writeFileSync(gated.gate, '');
    await job.done;
    assert.equal((await tables.check(at, 'c', 'length')).wrong, 0);
  });

  test('tells no secret in its log when the store refuses it', async () => {
    const at = await makeTable('secret');
    const options = {
      ...moto.storageOptions,
      aws_secret_access_key: 'a-secret-of-mine',
      aws_endpoint: 'http://127.0.0.1:9',
    };
    const job = drive(specOf({ ...at, options }, functionOf(sql('length(text)'))), {
      env: { AWS_MAX_ATTEMPTS: '1' },
    });
    await assert.rejects(job.done, (error) => isJobError(error) && !error.message.includes('a-secret-of-mine'));
    assert.equal(job.log.join('').includes('a-secret-of-mine'), false);
  });
});
