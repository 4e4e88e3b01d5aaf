import assert from 'node:assert/strict';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import type { JobState } from '#catalog/jobs.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { fails } from './expect.ts';
import { JobsServerStandIn } from './serve/jobsServer.ts';
import { forEachSubject } from './subjects.ts';

suite('jobs of a server', () => {
  let server: JobsServerStandIn;
  let db: Catalog;

  setup(async () => {
    registerRest();
    server = await JobsServerStandIn.start();
    db = await connectNamespace('rest', { uri: server.uri });
  });
  teardown(async () => {
    await db.close();
    await server.stop();
  });

  test('are launched by a column to compute, and followed to their end', async () => {
    const table = await db.openTable('t');
    const options = { where: 'id > 3', concurrency: 4, readVersion: 1, batchCheckpointFlushIntervalSeconds: 0.5 };
    const { jobId } = await table.backfillColumn('embedding', options);
    assert.deepEqual(server.asked.at(-1)?.body, {
      column: 'embedding',
      where: 'id > 3',
      concurrency: 4,
      read_version: 1,
      batch_checkpoint_flush_interval_seconds: 0.5,
    });
    assert.equal((await db.jobs.describe(jobId)).state, 'running');
    assert.deepEqual(await db.jobs.describe(jobId), {
      id: jobId,
      type: 'backfill_column',
      state: 'finished',
      table: 't',
      created: new Date(1000),
    });
  });

  test('are listed page by page, their states in plain words', async () => {
    const states: readonly [string, JobState][] = [
      ['IN_PROGRESS', 'running'],
      ['DONE', 'finished'],
      ['FAILED', 'failed'],
      ['CANCELLED', 'cancelled'],
      ['TIMED_OUT', 'failed'],
    ];
    for (const [index, [state]] of states.entries()) server.add({ job_id: `j${index}`, job_type: 'x', state });
    const found: [string, JobState][] = [];
    let pageToken: string | undefined;
    do {
      const page = await db.jobs.list({ pageToken });
      found.push(...page.jobs.map(({ id, state }): [string, JobState] => [id, state]));
      pageToken = page.pageToken;
    } while (pageToken !== undefined);
    assert.deepEqual(
      found,
      states.map(([, state], index) => [`j${index}`, state]),
    );
  });

  test('that failed say why', async () => {
    const failure = { phase: 'RUN', message: 'out of memory', retryable: true };
    server.add({ job_id: 'j', job_type: 'x', state: 'FAILED', spec: { column: 'c' }, failure });
    assert.deepEqual(await db.jobs.describe('j'), {
      id: 'j',
      type: 'x',
      state: 'failed',
      spec: { column: 'c' },
      failure,
    });
  });

  test('are cancelled', async () => {
    server.add({ job_id: 'j', job_type: 'x', state: 'IN_PROGRESS' });
    await db.jobs.cancel('j');
    assert.equal((await db.jobs.describe('j')).state, 'cancelled');
  });

  test('tell their events as batches', async () => {
    server.add({ job_id: 'j', job_type: 'x', state: 'DONE' });
    const what: unknown[] = [];
    for await (const batch of db.jobs.events('j')) what.push(...batch.getChild('what')!);
    assert.deepEqual(what, ['started', 'done']);
  });

  test('that do not exist, or have an unknown state, are errors that name them', async () => {
    await fails(() => db.jobs.describe('nope'), 'InvalidInput', 'nope');
    await fails(() => db.jobs.describe(''), 'InvalidInput', 'id');
    server.add({ job_id: 'j', job_type: 'x', state: 'MELTED' });
    await fails(() => db.jobs.describe('j'), 'Internal', 'MELTED');
  });
});

forEachSubject('jobs', (makeCatalog) => {
  test('where there are none are Unsupported, and so is a backfill', async () => {
    const { db } = await makeCatalog();
    const table = await db.createTable('t', [{ id: 1 }]);
    await fails(() => db.jobs.list(), 'Unsupported');
    await fails(() => db.jobs.describe('j'), 'Unsupported');
    await fails(() => db.jobs.cancel('j'), 'Unsupported');
    await fails(async () => {
      for await (const batch of db.jobs.events('j')) assert.fail(`${batch.numRows} events`);
    }, 'Unsupported');
    await fails(() => table.backfillColumn('id'), 'Unsupported');
  });
});
