import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import type { JobDescription } from '#catalog/jobs.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { readFunction } from '#jobs/definition/functionSource.ts';
import { registerFunction } from '#jobs/definition/registration.ts';
import { restRunner } from '#jobs/runners/rest/restRunner.ts';
import type { FunctionSource } from '#shared/jobs/jobMessages.ts';
import { tempFolder } from '../../harness/temp.ts';
import { eventually } from '../eventually.ts';
import { fails } from '../expect.ts';
import { type ServeProcess, startServe } from './serveProcess.ts';

// `lance-catalog serve --jobs` as a process: a request of a client becomes a real job on this machine.

/** Asserts that a catalog returns the same error for a job of another catalog as for a job that does not exist. */
async function hides(catalog: Catalog, id: string): Promise<void> {
  const read = async (job: string): Promise<void> => {
    for await (const batch of catalog.jobs.events(job)) void batch;
  };
  for (const call of [(job: string) => catalog.jobs.describe(job), (job: string) => catalog.jobs.cancel(job), read]) {
    const said = async (job: string): Promise<string> => {
      const error = await fails(() => call(job), 'InvalidInput', job);
      return JSON.stringify([error.status, error.message.replaceAll(job, 'JOB')]);
    };
    assert.equal(await said(id), await said(id.replace(/.{6}$/, 'zzzzzz')));
  }
}

suite('a server that runs jobs', function () {
  this.timeout(120_000);
  const folder = tempFolder();
  const { signal } = new AbortController();
  let server: ServeProcess;
  let sales: Catalog;
  let research: Catalog;

  suiteSetup(async () => {
    registerRest();
    for (const name of ['sales', 'research', 'state']) mkdirSync(join(folder, name));
    writeFileSync(join(folder, 'code.py'), 'def code(id):\n    return id\n');
    const db = await openDir({ root: join(folder, 'sales') });
    const table = await db.createTable(
      'products',
      Array.from({ length: 50 }, (_, id) => ({ id, caption: 'x'.repeat(id) })),
    );
    const register = async (column: string, source: FunctionSource): Promise<void> => {
      const made = await readFunction(source, { folder, table, column }, signal);
      await registerFunction(table, column, made, { signal });
    };
    await register('size', { kind: 'sql', expression: 'cast(length(caption) as int)' });
    await db.createNamespace(['team']);
    const items = await db.createTable('items', [{ id: 1, caption: 'mug' }], ['team']);
    const length = await readFunction(
      { kind: 'sql', expression: 'cast(length(caption) as int)' },
      { folder, table: items, column: 'size' },
      signal,
    );
    await registerFunction(items, 'size', length, { signal });
    for (const column of ['a', 'b', 'c']) await register(column, { kind: 'sql', expression: 'id + 1' });
    await register('code', {
      kind: 'python',
      file: 'code.py',
      entry: 'code',
      takes: 'row',
      inputs: ['id'],
      output: 'int32',
    });
    await db.close();
    const roots = ['sales', 'research'].flatMap((name) => ['--database', `${name}=${join(folder, name)}`]);
    server = await startServe(['--jobs', '--no-auth', ...roots], { env: { XDG_DATA_HOME: join(folder, 'state') } });
    const open = (database: string) => connectNamespace('rest', { uri: server.address, database });
    [sales, research] = await Promise.all([open('sales'), open('research')]);
  });
  suiteTeardown(async () => {
    await Promise.all([sales.close(), research.close()]);
    await server.stop();
  });

  async function ended(id: string): Promise<JobDescription> {
    let job: JobDescription | undefined;
    await eventually(async () => {
      job = await sales.jobs.describe(id);
      assert.ok(job.state !== 'queued' && job.state !== 'running', job.state);
    });
    assert.ok(job);
    return job;
  }

  test('computes a column by the function that is kept on it, and tells what it did', async () => {
    const table = await sales.openTable('products');
    const { jobId } = await table.backfillColumn('size', { where: 'id < 40' });
    const job = await ended(jobId);
    assert.deepEqual(
      [job.state, job.type, job.table],
      ['finished', 'backfill_column', 'products'],
      JSON.stringify(job),
    );
    assert.deepEqual(job.spec, { column: 'size', where: 'id < 40' });
    assert.equal(await table.countRows('size = length(caption)'), 40);
    assert.ok((await sales.jobs.list()).jobs.some(({ id }) => id === jobId));
    for await (const { schema } of sales.jobs.events(jobId)) assert.deepEqual(schema.names, ['line']);
  });

  test('computes by no more processes than the machine has room for, whatever it is asked', async () => {
    const table = await sales.openTable('products');
    const { jobId } = await table.backfillColumn('size', { where: 'id >= 40', concurrency: 100_000 });
    const { state, spec } = await ended(jobId);
    assert.equal(state, 'finished');
    assert.partialDeepStrictEqual(spec, { concurrency: Math.max(8, availableParallelism()) });
  });

  test('shows no database the jobs of another', async () => {
    const [job] = (await sales.jobs.list()).jobs;
    assert.ok(job);
    assert.deepEqual((await research.jobs.list()).jobs, []);
    await hides(research, job.id);
  });

  test('shows a namespace as a root its own jobs alone, under its own names', async () => {
    const team = await connectNamespace('rest', { uri: `${server.address}/at/team`, database: 'sales' });
    const [other] = (await sales.jobs.list()).jobs;
    assert.ok(other);
    assert.deepEqual((await team.jobs.list()).jobs, []);
    await hides(team, other.id);
    const { jobId } = await (await team.openTable('items')).backfillColumn('size');
    assert.deepEqual([(await ended(jobId)).state, (await ended(jobId)).table], ['finished', 'team$items']);
    assert.deepEqual(
      (await team.jobs.list()).jobs.map(({ id, table }) => [id, table]),
      [[jobId, 'items']],
    );
    assert.equal((await team.jobs.describe(jobId)).table, 'items');
    let events = '';
    for await (const batch of team.jobs.events(jobId)) events += JSON.stringify(batch.toArray());
    assert.doesNotMatch(events, /team\/items/);
    assert.equal(await (await team.openTable('items')).countRows('size = 3'), 1);
    await fails(async () => (await team.openTable('items')).backfillColumn('none'), 'ColumnNotFound', 'none');
    const gone = await connectNamespace('rest', { uri: `${server.address}/at/gone`, database: 'sales' });
    await fails(() => gone.jobs.list(), 'NamespaceNotFound', '"gone"');
    await Promise.all([team.close(), gone.close()]);
  });

  test('runs no code that a client stored on a table and that was not accepted', async () => {
    const table = await sales.openTable('products');
    await fails(() => table.backfillColumn('code'), 'PermissionDenied', 'not accepted');
  });

  test('runs no more jobs at a time than it may, over all columns and tables', async () => {
    const limited = await startServe(
      ['--jobs', '--max-jobs', '1', '--no-auth', '--database', `sales=${join(folder, 'sales')}`],
      { env: { XDG_DATA_HOME: join(folder, 'state') } },
    );
    try {
      const catalog = await connectNamespace('rest', { uri: limited.address, database: 'sales' });
      const table = await catalog.openTable('products');
      const asked = await Promise.allSettled(['a', 'b', 'c'].map((column) => table.backfillColumn(column)));
      const [started, ...more] = asked.filter((each) => each.status === 'fulfilled');
      assert.ok(started);
      assert.equal(more.length, 0);
      for (const { reason } of asked.filter((each) => each.status === 'rejected'))
        await fails(() => Promise.reject(reason as Error), 'Throttling', 'already runs 1 job');
      assert.equal((await ended(started.value.jobId)).state, 'finished');
      const left = ['a', 'b', 'c'].find((_, index) => asked[index]?.status === 'rejected')!;
      const { jobId } = await table.backfillColumn(left);
      await ended(jobId);
      await catalog.close();
    } finally {
      await limited.stop();
    }
  });

  test('says what is wrong with what it was asked', async () => {
    const table = await sales.openTable('products');
    await fails(() => table.backfillColumn('nothing'), 'ColumnNotFound', 'nothing');
    await fails(() => table.backfillColumn('size', { concurrency: -1 }), 'InvalidInput', 'concurrency');
    await fails(() => sales.jobs.describe('bf-none'), 'InvalidInput', 'bf-none');
  });

  test('is one that the runner rest finds fit', async () => {
    const table = { catalog: { implementation: 'rest' as const, uri: server.address, database: 'sales' } };
    const request = { table: { ...table, namespacePath: [], name: 'products' }, column: 'size' };
    assert.equal((await restRunner.availability(request, signal)).isPossible, true);
  });
});
