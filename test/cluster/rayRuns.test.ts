import assert from 'node:assert/strict';
import { join } from 'node:path';
import { RayJobs } from '#cluster/ray/rayJobs.ts';
import { temporaryFolder } from '../../scripts/processes.ts';
import { newestRay, rayReleases } from '../harness/rayNeeds.ts';
import { RayHead } from './parts/rayHead.ts';
import {
  countedFunction,
  failureOf,
  lengthFunction,
  ofKind,
  rowsCalled,
  runOnRay,
  untilRows,
  type Kind,
  type RayRun,
  type RayRunOptions,
} from './parts/rayRun.ts';
import { appendTexts, compareLengths, makeTextTable } from './parts/rayTable.ts';

const kinds: readonly Kind[] = ['sql', 'typescript', 'python'];

const looks = ({ events }: RayRun): number =>
  ofKind(events, 'workers').filter(({ waitingFor }) => waitingFor?.startsWith('a look at')).length;

for (const release of rayReleases) {
  const isNewest = release === newestRay;

  suite(`Backfills on a real Ray ${release}`, function () {
    this.timeout(300_000);
    let head: RayHead;
    let jobs: RayJobs;
    let folder: string;
    let uri: string;
    const signal = new AbortController().signal;

    suiteSetup(async () => {
      folder = temporaryFolder('rt-');
      uri = join(folder, 'texts.lance');
      head = await RayHead.start(release);
      jobs = new RayJobs(head.target);
    });

    suiteTeardown(async () => {
      await jobs?.close();
      await head?.stop();
    });

    setup(async () => {
      uri = join(temporaryFolder('rt-'), 'texts.lance');
    });

    const begin = (options: Omit<RayRunOptions, 'ray' | 'uri'>): RayRun =>
      runOnRay({ ray: head.target, uri, ...options });

    const rows = isNewest ? 1_000_000 : 80_000;
    const fragments = isNewest ? 40 : 8;
    for (const kind of kinds) {
      test(`computes ${rows} rows in ${fragments} fragments by a function of ${kind}, as Arrow does`, async () => {
        await makeTextTable(uri, rows, fragments);
        const run = begin({ column: 'length', function: lengthFunction('length', kind) });
        await run.ended;
        assert.deepEqual(await compareLengths(uri, 'length'), { rows, nulls: 0, wrong: 0, fragments });
        const [planned] = ofKind(run.events, 'planned');
        assert.deepEqual([planned?.fragments, planned?.rows], [fragments, rows]);
        assert.equal(ofKind(run.events, 'succeeded')[0]?.rows, rows);
        assert.equal(run.events.at(-1)?.kind, 'succeeded');
        const committed = ofKind(run.events, 'committed').flatMap((event) => event.fragments);
        assert.deepEqual(
          committed.toSorted((a, b) => a - b),
          Array.from({ length: fragments }, (_, index) => index),
        );
      });
    }

    test('goes on after it was cancelled, and computes no row a second time', async () => {
      await makeTextTable(uri, 40_000, 8);
      const calls = join(folder, 'cancelled.txt');
      const column = 'length';
      const computed = countedFunction(column, calls, 0.0003);
      const first = begin({ column, function: computed, more: { checkpointSize: 1000 } });
      await untilRows(calls, 15_000, first);
      first.cancelled.abort();
      assert.equal((await failureOf(first)).name, 'AbortError');
      const job = await jobs.status(first.spec.jobId, signal);
      assert.equal(job.state, 'STOPPED');
      assert.ok((await compareLengths(uri, column)).nulls > 0, 'it had nothing left to do');
      const second = begin({ column, function: computed, more: { checkpointSize: 1000 }, after: first });
      await second.ended;
      assert.equal(rowsCalled(calls), 40_000);
      assert.deepEqual(await compareLengths(uri, column), { rows: 40_000, nulls: 0, wrong: 0, fragments: 8 });
    });

    test('says that its driver is gone when it is killed, and goes on from what it had kept', async () => {
      await makeTextTable(uri, 40_000, 8);
      const calls = join(folder, 'killed.txt');
      const column = 'length';
      const computed = countedFunction(column, calls, 0.0003);
      const first = begin({ column, function: computed, more: { checkpointSize: 1000 } });
      await untilRows(calls, 15_000, first);
      const driver = head.processes().find(({ command }) => command.startsWith('python3 backfill.py'));
      assert.ok(driver, 'there is no driver');
      process.kill(driver.pid, 'SIGKILL');
      const failure = await failureOf(first);
      assert.equal(failure.kind, 'RayJobFailed');
      assert.match(failure.message, /was ended from outside.* Resume the job: what was computed is kept/);
      const second = begin({ column, function: computed, more: { checkpointSize: 1000 }, after: first });
      await second.ended;
      assert.deepEqual(await compareLengths(uri, column), { rows: 40_000, nulls: 0, wrong: 0, fragments: 8 });
      // Of each of two workers: what it had since its last checkpoint, and what it was at.
      assert.ok(
        rowsCalled(calls) - 40_000 <= 2 * (1000 + 1000),
        `${rowsCalled(calls) - 40_000} rows were computed twice`,
      );
    });

    if (!isNewest) return;

    test('says what a function threw, and in which row', async () => {
      await makeTextTable(uri, 4000, 2);
      const code = 'def length(text):\n    raise ValueError("no such text")\n';
      const broken = lengthFunction('length', { kind: 'python', takes: 'row', entry: 'length', code });
      const failure = await failureOf(begin({ column: 'length', function: broken }));
      assert.equal(failure.kind, 'FunctionFailed');
      assert.match(failure.message, /no such text/);
    });

    test('finds before anything begins that Ray cannot reach the table', async () => {
      const before = await jobs.list(signal);
      const nowhere = '/nowhere/texts.lance';
      const run = runOnRay({
        ray: head.target,
        uri: nowhere,
        column: 'length',
        function: lengthFunction('length', 'sql'),
      });
      const failure = await failureOf(run);
      assert.equal(failure.kind, 'RunnerUnavailable');
      assert.match(
        failure.message,
        /The node of Ray at .* does not reach the table: there is no folder \/nowhere\/texts\.lance\. Mount that folder/,
      );
      const begun = (await jobs.list(signal)).filter(
        ({ submissionId }) => !before.some((job) => job.submissionId === submissionId),
      );
      assert.deepEqual(
        begun.filter(({ entrypoint }) => entrypoint.includes('backfill.py')),
        [],
      );
    });

    test('looks what Ray has once for a table, and not again for its next job', async () => {
      await makeTextTable(uri, 1000, 1);
      const found: number[] = [];
      for (const column of ['one', 'two']) {
        const run = begin({ column, function: lengthFunction(column, 'sql') });
        await run.ended;
        found.push(looks(run));
      }
      assert.deepEqual(found, [1, 0]);
    });

    test('computes rows that are appended meanwhile, or says that they are left', async () => {
      await makeTextTable(uri, 40_000, 8);
      const calls = join(folder, 'appended.txt');
      const run = begin({ column: 'length', function: countedFunction('length', calls, 0.0002) });
      await untilRows(calls, 5000, run);
      await appendTexts(uri, 5000);
      await run.ended;
      const { rows: all, nulls, wrong } = await compareLengths(uri, 'length');
      assert.deepEqual([all, wrong], [45_000, 0]);
      assert.ok(nulls === 0 || (nulls === 5000 && ofKind(run.events, 'notice').length > 0), `${nulls} rows are left`);
    });
  });
}
