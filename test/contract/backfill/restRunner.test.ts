import assert from 'node:assert/strict';
import { Field, Int32, Schema, Utf8 } from '#arrow';
import { type DirCatalog, openDir } from '#engine/dir/dirCatalog.ts';
import type { JobSpec } from '#jobs/jobSpec.ts';
import { createRestRunner } from '#jobs/runners/rest/restRunner.ts';
import { serverFunction } from '#jobs/runners/rest/serverFunction.ts';
import type { NewEvent, RunContext } from '#jobs/runners/runner.ts';
import { isAbort } from '#shared/errors.ts';
import type { BackfillOptions, BackfillRequest } from '#shared/jobs/backfill.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { tempFolder } from '../../harness/temp.ts';
import { eventually } from '../eventually.ts';
import { BackfillServerStandIn } from './backfillServer.ts';

const captions = ['a mug', 'red', 'three words here', 'x'];
const schema = new Schema([new Field('caption', new Utf8()), new Field('length', new Int32(), true)]);

suite('the runner rest, against a stand-in of a server that runs backfills', () => {
  const runner = createRestRunner({ firstPause: 5, longestPause: 20, silence: 10_000 });
  let db: DirCatalog;
  let server: BackfillServerStandIn;

  setup(async () => {
    db = await openDir({ root: tempFolder() });
    const table = await db.createEmptyTable('t', schema);
    await table.add(captions.map((caption) => ({ caption, length: null })));
    server = await BackfillServerStandIn.start(db, { columns: { length: 'cast(length(caption) as int)' } });
  });
  teardown(async () => {
    await server.stop();
    await db.close();
  });

  type Run = {
    readonly context: RunContext;
    readonly events: NewEvent[];
    readonly log: string[];
    readonly kept: Map<string, string>;
    readonly stop: AbortController;
  };

  const requestOf = (options: BackfillOptions = {}): BackfillRequest => ({
    ...options,
    table: { catalog: { implementation: 'rest', uri: server.uri, retries: 0 }, namespacePath: [], name: 't' },
    column: 'length',
  });

  function runOf(options: BackfillOptions = {}, kept = new Map<string, string>()): Run {
    const { where, taskSize, numFrags, readVersion, checkpointSize = 100, commitGranularity = 1 } = options;
    const spec: JobSpec = {
      version: 1,
      jobId: 'bf-test',
      table: { uri: '', storageOptions: {} },
      column: 'length',
      function: serverFunction(new Field('length', new Int32(), true)),
      where,
      concurrency: 1,
      taskSize,
      checkpointSize,
      commitGranularity,
      numFrags,
      readVersion,
    };
    const [events, log, stop]: [NewEvent[], string[], AbortController] = [[], [], new AbortController()];
    const context: RunContext = {
      spec,
      request: requestOf(options),
      emit: (event) => void events.push(event),
      log: (text) => void log.push(text),
      folder: '',
      kept: { get: (name) => kept.get(name), set: (name, value) => void kept.set(name, value) },
      signal: stop.signal,
    };
    return { context, events, log, kept, stop };
  }

  const kindsOf = ({ events }: Run): string[] => events.map(({ kind }) => kind);

  async function lengths(where = 'length IS NOT NULL'): Promise<unknown[]> {
    const table = await db.openTable('t');
    const rows = await table.query().where(where).select(['caption', 'length']).toArray();
    return rows.map((row) => [row['caption'], row['length']]);
  }

  test('has the server compute the column, and counts its rows', async () => {
    const run = runOf();
    await runner.run(run.context);
    assert.deepEqual(
      await lengths(),
      captions.map((caption) => [caption, caption.length]),
    );
    assert.deepEqual(run.events[0], {
      kind: 'planned',
      readVersion: 2,
      fragments: 1,
      rows: 4,
      committedFragments: 0,
      checkpointedFragments: 0,
      reusedRows: 0,
    });
    const { version, ...last } = run.events.at(-1) as Extract<NewEvent, { kind: 'succeeded' }>;
    assert.deepEqual(last, { kind: 'succeeded', rows: 4, errors: 0, skipped: 0, bytesWritten: 0 });
    assert.equal(version, await (await db.openTable('t')).version());
  });

  test('says only what was asked for, in the names of the specification', async () => {
    await runner.run(runOf({ where: "caption = 'red'", concurrency: 3, taskSize: 7, numFrags: 2 }).context);
    assert.deepEqual(server.asked[0], {
      path: '/v1/table/t/backfill_column',
      body: { column: 'length', where: "caption = 'red'", concurrency: 3, task_size: 7, num_frags: 2 },
    });
    assert.deepEqual(await lengths(), [['red', 3]]);
    await runner.run(runOf().context);
    assert.deepEqual(server.asked.findLast(({ path }) => path.endsWith('backfill_column'))?.body, { column: 'length' });
  });

  test('tells that the job waits in the queue, that it runs, and what the server keeps of it', async () => {
    server.behaviour.hold = 'QUEUED';
    const run = runOf();
    const running = runner.run(run.context);
    await eventually(() => assert.ok(kindsOf(run).includes('workers')));
    assert.match(JSON.stringify(run.events), /is queued on the server/);
    for (const job of server.jobs) job.state = 'IN_PROGRESS';
    await eventually(() => assert.match(JSON.stringify(run.events), /"ready":1/));
    await server.release();
    await running;
    assert.match(run.log.join(''), /\{"what":"accepted"\}\n\{"what":"done"\}\n$/);
  });

  test('cancels the job on the server when it is cancelled', async () => {
    server.behaviour.hold = 'IN_PROGRESS';
    const run = runOf();
    const running = runner.run(run.context);
    await eventually(() => assert.ok(kindsOf(run).includes('workers')));
    run.stop.abort();
    await assert.rejects(running, isAbort);
    assert.equal(server.jobs[0]?.state, 'CANCELLED');
    assert.deepEqual(await lengths(), []);
  });

  test('follows the same job again in another process, and begins no second one', async () => {
    server.behaviour.hold = 'IN_PROGRESS';
    const first = runOf();
    const kept = new Map<string, string>();
    void runner.run(first.context).catch(() => undefined);
    await eventually(() => assert.ok(kindsOf(first).includes('workers')));
    for (const [name, value] of first.kept) kept.set(name, value);
    const second = runOf({}, kept);
    const running = runner.run(second.context);
    await eventually(() => assert.ok(kindsOf(second).includes('workers')));
    await server.release();
    await running;
    assert.equal(server.jobs.length, 1);
    assert.equal((await lengths()).length, 4);
  });

  test('finds the job again whose id was lost with the answer', async () => {
    server.behaviour.hold = 'IN_PROGRESS';
    server.losesAnswer = true;
    const first = runOf();
    await assert.rejects(runner.run(first.context));
    assert.equal(server.jobs.length, 1);
    const second = runOf({}, first.kept);
    const running = runner.run(second.context);
    await eventually(() => assert.ok(kindsOf(second).includes('workers')));
    await server.release();
    await running;
    assert.equal(server.jobs.length, 1);
  });

  test('begins a new job where the one before it failed', async () => {
    server.behaviour.failure = { phase: 'PLAN', message: 'out of luck' };
    const first = runOf();
    await assert.rejects(runner.run(first.context));
    delete server.behaviour.failure;
    await runner.run(runOf({}, first.kept).context);
    assert.equal(server.jobs.length, 2);
    assert.equal((await lengths()).length, 4);
  });

  test('waits for a server that is away for a while', async () => {
    server.behaviour.hold = 'IN_PROGRESS';
    const run = runOf();
    const running = runner.run(run.context);
    await eventually(() => assert.ok(kindsOf(run).includes('workers')));
    server.away = 503;
    await eventually(() => assert.ok(kindsOf(run).includes('notice')));
    server.away = undefined;
    await server.release();
    await running;
    assert.ok(kindsOf(run).includes('restarted'));
    assert.equal(kindsOf(run).at(-1), 'succeeded');
  });

  test('gives up a server that stays away, and says that its job may go on', async () => {
    const impatient = createRestRunner({ firstPause: 5, longestPause: 20, silence: 50 });
    server.behaviour.hold = 'IN_PROGRESS';
    const run = runOf();
    const running = impatient.run(run.context);
    await eventually(() => assert.ok(kindsOf(run).includes('workers')));
    server.away = 503;
    await assert.rejects(running, (error) => {
      assert.ok(isJobError(error) && error.kind === 'ServerRefused');
      assert.match(
        error.message,
        /has not responded for a long time.*The server may still be running its job server-1\. .* resume this job/,
      );
      return true;
    });
  });

  const failures: readonly [phase: string | undefined, retryable: boolean | undefined, said: RegExp][] = [
    [
      'PLANNING',
      undefined,
      /^The server's job server-1 failed while it planned the job: it broke\. See the log of the job/,
    ],
    [
      'COMMIT',
      true,
      /while it committed the computed rows: it broke\. Resume the job: the server reports that it may succeed/,
    ],
    ['EXECUTE', false, /while it ran the function: it broke\. Fix this first\./],
    ['WARP', undefined, /failed in its phase WARP: it broke\./],
    [undefined, undefined, /^The server's job server-1 failed: it broke\./],
  ];
  for (const [phase, retryable, said] of failures)
    test(`says a failure ${phase === undefined ? 'without a phase' : `in the phase ${phase}`} in words`, async () => {
      server.behaviour.failure = { message: 'it broke', ...(phase !== undefined && { phase }), retryable };
      await assert.rejects(runner.run(runOf().context), (error) => {
        assert.ok(isJobError(error) && error.kind === 'ServerRefused');
        assert.match(error.message, said);
        return true;
      });
    });

  test('says that the server has no such computed column', async () => {
    delete (server.behaviour.columns as Record<string, string>)['length'];
    const run = runOf();
    await assert.rejects(runner.run(run.context), /refused to compute t\.length: .*length is no computed column/);
    assert.deepEqual(run.events, [], 'it was told of as work that is under way');
  });

  test('is there for servers that list jobs, and not for others', async () => {
    const { signal } = new AbortController();
    assert.deepEqual(await runner.availability(requestOf(), signal), {
      isPossible: true,
      reason: `${server.uri} runs jobs.`,
    });
    const inFolder: BackfillRequest = {
      ...requestOf(),
      table: { catalog: { implementation: 'dir', root: '/' }, namespacePath: [], name: 't' },
    };
    assert.equal((await runner.availability(inFolder, signal)).isPossible, false);
    server.away = 406;
    const { isPossible, reason } = await runner.availability(requestOf(), signal);
    assert.equal(isPossible, false, reason);
  });
});
