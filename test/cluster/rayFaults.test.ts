import assert from 'node:assert/strict';
import { join } from 'node:path';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import { isOver } from '#cluster/ray/rayReplies.ts';
import { temporaryFolder } from '../../scripts/processes.ts';
import { newestRay } from '../harness/rayNeeds.ts';
import { until } from './parts/processes.ts';
import { RayHead } from './parts/rayHead.ts';
import {
  countedFunction,
  failureOf,
  lengthFunction,
  ofKind,
  rowsCalled,
  runOnRay,
  untilRows,
  type RayRun,
  type RayRunOptions,
} from './parts/rayRun.ts';
import { compareLengths, makeTextTable } from './parts/rayTable.ts';

const limit = 120_000;

suite('What happens to a backfill on a real Ray', function () {
  this.timeout(300_000);
  let head: RayHead;
  let jobs: RayJobs;
  let folder: string;
  let uri: string;
  const signal = new AbortController().signal;

  suiteSetup(async () => {
    head = await RayHead.start(newestRay);
    jobs = new RayJobs(head.target);
  });

  suiteTeardown(async () => {
    await jobs?.close();
    await head?.stop();
  });

  setup(() => {
    folder = temporaryFolder('rt-');
    uri = join(folder, 'texts.lance');
  });

  const begin = (options: Omit<RayRunOptions, 'ray' | 'uri'>): RayRun =>
    runOnRay({ ray: head.target, uri, ...options });

  test('goes on when one of its workers is killed, and says that it was started again', async () => {
    await makeTextTable(uri, 40_000, 8);
    const calls = join(folder, 'worker.txt');
    const run = begin({
      column: 'length',
      function: countedFunction('length', calls, 0.0003),
      more: { checkpointSize: 1000 },
    });
    await untilRows(calls, 10_000, run);
    const worker = head.processes().find(({ command }) => command.startsWith('ray::RayWorker'));
    assert.ok(worker, 'there is no worker');
    process.kill(worker.pid, 'SIGKILL');
    await run.ended;
    assert.deepEqual(await compareLengths(uri, 'length'), { rows: 40_000, nulls: 0, wrong: 0, fragments: 8 });
    assert.ok(
      ofKind(run.events, 'restarted').some(({ what }) => what === 'worker'),
      JSON.stringify(run.events),
    );
  });

  test('goes on when the way to Ray is lost for a while, and says so', async () => {
    await makeTextTable(uri, 40_000, 8);
    const calls = join(folder, 'lost.txt');
    const run = begin({ column: 'length', function: countedFunction('length', calls, 0.0003) });
    await untilRows(calls, 5000, run);
    await head.disconnect();
    await until('a word of it', async () => ofKind(run.events, 'notice').length > 0, { limit });
    await head.connect();
    await run.ended;
    assert.match(ofKind(run.events, 'notice')[0]!.text, /The job goes on there\.$/);
    assert.equal(ofKind(run.events, 'restarted').filter(({ what }) => what === 'connection').length, 1);
    assert.equal(rowsCalled(calls), 40_000);
    assert.deepEqual(await compareLengths(uri, 'length'), { rows: 40_000, nulls: 0, wrong: 0, fragments: 8 });
  });

  test('is followed on by another process after the first one gave up, each event told once', async () => {
    await makeTextTable(uri, 40_000, 8);
    const calls = join(folder, 'followed.txt');
    const computed = countedFunction('length', calls, 0.0003);
    const first = begin({ column: 'length', function: computed, silence: 1 });
    await untilRows(calls, 5000, first);
    await head.disconnect();
    assert.equal((await failureOf(first)).kind, 'RayUnreachable');
    await head.connect();
    const second = begin({ column: 'length', function: computed, after: first });
    await second.ended;
    const { submissionId } = await jobs.status(first.spec.jobId, signal);
    assert.equal(submissionId, first.spec.jobId);
    const told = [...first.events, ...second.events].flatMap((event) =>
      event.kind === 'fragment' ? [event.fragment] : [],
    );
    assert.deepEqual(
      told.toSorted((a, b) => a - b),
      [0, 1, 2, 3, 4, 5, 6, 7],
    );
    assert.equal(rowsCalled(calls), 40_000);
  });

  test('tells a success that came while nobody looked', async () => {
    await makeTextTable(uri, 20_000, 4);
    const calls = join(folder, 'absent.txt');
    const computed = countedFunction('length', calls, 0.0002);
    const first = begin({ column: 'length', function: computed, silence: 1 });
    await untilRows(calls, 2000, first);
    await head.disconnect();
    await failureOf(first);
    await until('the end', async () => rowsCalled(calls) >= 20_000, { limit });
    await head.connect();
    await until('the state', async () => isOver((await jobs.status(first.spec.jobId, signal)).state), { limit });
    const second = begin({ column: 'length', function: computed, after: first });
    await second.ended;
    assert.equal(second.events.at(-1)?.kind, 'succeeded');
    assert.equal(rowsCalled(calls), 20_000);
  });

  test('begins anew from what was kept where Ray has lost the job', async () => {
    await makeTextTable(uri, 40_000, 8);
    const calls = join(folder, 'forgotten.txt');
    const computed = countedFunction('length', calls, 0.0003);
    const first = begin({ column: 'length', function: computed, silence: 1 });
    await untilRows(calls, 10_000, first);
    await head.disconnect();
    await failureOf(first);
    await head.connect();
    await jobs.stop(first.spec.jobId, signal);
    await jobs.delete(first.spec.jobId, signal);
    const second = begin({ column: 'length', function: computed, after: first });
    await second.ended;
    assert.equal(second.events.at(-1)?.kind, 'succeeded');
    assert.equal(rowsCalled(calls), 40_000);
    assert.deepEqual(await compareLengths(uri, 'length'), { rows: 40_000, nulls: 0, wrong: 0, fragments: 8 });
  });

  test('says so when somebody stops it on Ray', async () => {
    await makeTextTable(uri, 40_000, 8);
    const calls = join(folder, 'stopped.txt');
    const run = begin({ column: 'length', function: countedFunction('length', calls, 0.0003) });
    await untilRows(calls, 2000, run);
    await jobs.stop(run.spec.jobId, signal);
    const failure = await failureOf(run);
    assert.equal(failure.kind, 'RayJobFailed');
    assert.match(failure.message, /was stopped there, by somebody else\. Resume/);
  });

  test('has settings of the store from its environment alone, and prints none of them', async () => {
    await makeTextTable(uri, 1000, 2);
    const storageOptions = { aws_secret_access_key: 'a-secret-of-this-test' };
    const run = begin({ column: 'length', function: lengthFunction('length', 'sql'), storageOptions });
    await run.ended;
    assert.deepEqual(await compareLengths(uri, 'length'), { rows: 1000, nulls: 0, wrong: 0, fragments: 2 });
    const { entrypoint, metadata, message } = await jobs.status(run.spec.jobId, signal);
    const log = await jobs.log(run.spec.jobId, signal);
    const written = [entrypoint, metadata, message, log, run.events, run.log(), [...run.kept]];
    assert.doesNotMatch(JSON.stringify(written), /a-secret-of-this-test/);
  });

  test('leaves no worker behind', async () => {
    await until(
      'the end of all workers',
      async () =>
        !head.processes().some(({ command }) => /ray::RayWorker|functionWorker\.mjs|backfill\.py/.test(command)),
      { limit: 60_000, told: () => JSON.stringify(head.processes()) },
    );
  });
});
