import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processFile } from '#processes/jobsFolder.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { isActive } from '#shared/jobs/jobLabels.ts';
import { cancelJob } from '#jobs/service/cancelJob.ts';
import { openJobs } from '#jobs/service/openJobs.ts';
import { JobFolders } from '#jobs/records/jobFolder.ts';
import { isRunning } from '../../harness/running.ts';
import { tempFolder } from '../../harness/temp.ts';
import { eventually } from '../eventually.ts';
import { countingEntry, countingJobs, countingRunners, pidOf, soon, type Counting } from './countingJobs.ts';

suite('A job in a process of its own', function () {
  this.timeout(90_000);
  let counting: Counting;
  setup(async () => {
    counting = await countingJobs();
  });

  const started = async (): Promise<string> => (await counting.jobs.start(counting.request(), soon())).id;
  const running = async (fragments: number): Promise<string> => {
    counting.allow(fragments);
    const id = await started();
    await counting.until(id, (view) => view.fragments.done === fragments);
    return id;
  };

  test('is followed to its end, which is kept', async () => {
    const id = await running(3);
    counting.allow(10);
    const seen = [];
    for await (const view of counting.jobs.follow(id, soon())) seen.push(view);
    const last = seen.at(-1);
    assert.equal(last?.state, 'succeeded');
    assert.deepEqual(last.rows, { done: 1000, total: 1000, reused: 0 });
    assert.deepEqual(last.fragments, { done: 10, total: 10 });
    assert.deepEqual(
      (await counting.jobs.list(soon())).map((view) => [view.id, view.state]),
      [[id, 'succeeded']],
    );
    await eventually(() => assert.ok(!existsSync(join(counting.folder, id, processFile))));
  });

  test('keeps its log, which is read from any byte on', async () => {
    const id = await running(10);
    // Wait until the process file is deleted. Before that, the job's result is added to the record.
    await eventually(() => assert.ok(!existsSync(join(counting.folder, id, processFile))));
    const { text, next } = await counting.jobs.log(id, 0, soon());
    const printed = text.split('\n').filter((line) => line.startsWith('fragment'));
    assert.deepEqual(printed.slice(0, 2), ['fragment 0', 'fragment 1']);
    assert.match(text, /^\S+Z Run 1 with the runner "local" in process .*\n.*to compute\.\nfragment 0\n/);
    assert.match(text, /\nfragment 9\n\S+Z Done: 1,000 rows computed in .*\n$/);
    assert.equal(next, text.length);
    assert.deepEqual(await counting.jobs.log(id, next, soon()), { text: '', next });
    assert.equal((await counting.jobs.log(id, 11, soon())).text, text.slice(11));
  });

  test('that is killed is known to be interrupted at once, and goes on where it stopped', async () => {
    const id = await running(4);
    process.kill(pidOf(counting, id), 'SIGKILL');
    const gone = await counting.until(id, (view) => !isActive(view));
    assert.equal(gone.state, 'interrupted');
    assert.deepEqual(gone.can, { cancel: false, resume: true, retry: false, remove: true });
    assert.match(gone.sentence, /resume the job to continue/);
    counting.allow(10);
    assert.deepEqual(await counting.jobs.resume(id, {}, soon()), { id });
    const done = await counting.until(id, (view) => view.state === 'succeeded');
    assert.equal(done.rows.done, 600, 'only what was missing is computed');
    assert.deepEqual(done.fragments, { done: 10, total: 10 });
    const record = new JobFolders(counting.folder).read(id);
    assert.equal(record?.run, 2);
    assert.deepEqual(record.kept, { attempts: '2' }, 'what a runner keeps is there for the next process');
  });

  test('is joined by another start that wants the same', async () => {
    const both = await Promise.all([1, 2].map(() => counting.jobs.start(counting.request(), soon())));
    const [first, second] = both;
    assert.equal(first?.id, second?.id);
    assert.notEqual(first?.joined, second?.joined);
    assert.equal((await counting.jobs.list(soon())).length, 1);
    counting.allow(10);
  });

  test('keeps another function away from its column, and says how to end it', async () => {
    const id = await started();
    const other = counting.request({ where: 'text IS NOT NULL' });
    await assert.rejects(counting.jobs.start(other, soon()), (error) => {
      assert.ok(isJobError(error));
      assert.equal(error.kind, 'Busy');
      assert.ok(error.what.includes(id) && error.hint.includes(`cancel ${id}`), error.message);
      return true;
    });
    const beside = await counting.jobs.start(counting.request({ column: 'other' }), soon());
    assert.ok(!beside.joined, 'another column is free');
    counting.allow(10);
  });

  test('ends in order when it is cancelled, and can be resumed', async () => {
    const id = await running(2);
    const pid = pidOf(counting, id);
    await counting.jobs.cancel(id, soon());
    await eventually(() => assert.ok(!isRunning(pid)));
    const view = await counting.jobs.view(id, soon());
    assert.equal(view.state, 'cancelled');
    assert.ok(view.can.resume && view.can.remove && !view.can.cancel);
  });

  for (const [word, wanted] of [
    ['deaf', /The job was cancelled/],
    ['stuck', /was killed/],
  ] as const) {
    test(`that is ${word} is ended by harder means, and is cancelled`, async () => {
      const id = await running(2);
      const pid = pidOf(counting, id);
      counting.allow(word);
      await cancelJob({ folders: new JobFolders(counting.folder), id, signal: soon(), patience: 300 });
      const view = await counting.jobs.view(id, soon());
      assert.equal(view.state, 'cancelled');
      assert.match(view.sentence, wanted);
      assert.deepEqual([view.bottleneck, view.rowsPerSecond], [undefined, undefined]);
      await eventually(() => assert.ok(!isRunning(pid)));
    });
  }

  test('that is stopped is reported as not responding, not as ended', async () => {
    const id = await running(2);
    const pid = pidOf(counting, id);
    process.kill(pid, 'SIGSTOP');
    try {
      const view = await counting.until(id, ({ bottleneck }) => bottleneck?.includes('does not respond') === true);
      assert.equal(view.state, 'running');
      assert.ok(view.can.cancel);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    counting.allow(10);
    assert.equal((await counting.until(id, (view) => !isActive(view))).state, 'succeeded');
  });

  test('that is stopped can be cancelled', async () => {
    const id = await running(2);
    process.kill(pidOf(counting, id), 'SIGSTOP');
    await counting.jobs.cancel(id, soon());
    assert.equal((await counting.jobs.view(id, soon())).state, 'cancelled');
  });

  test('that the system ends is interrupted, and its process has said so itself', async () => {
    const id = await running(2);
    process.kill(pidOf(counting, id), 'SIGTERM');
    const view = await counting.until(id, ({ state }) => !isActive({ state }));
    assert.equal(view.state, 'interrupted');
    assert.match(view.sentence, /The system ended the job process/);
  });

  for (const [word, wanted] of [
    ['throw', 'The stand-in was told to fail.'],
    ['uncaught', 'Nobody waits for this.'],
    ['return', 'ended without a result'],
  ] as const) {
    test(`whose runner does "${word}" has failed, and names its log`, async () => {
      counting.allow(word);
      const view = await counting.until(await started(), ({ state }) => !isActive({ state }));
      assert.equal(view.state, 'failed');
      assert.equal(view.failure?.code, 'Internal');
      assert.ok(view.failure.message.includes(wanted), view.failure.message);
      assert.match(view.failure.hint, /log/);
    });
  }

  test('is neither removed nor resumed while it runs', async () => {
    const id = await running(1);
    for (const call of [counting.jobs.remove(id, soon()), counting.jobs.resume(id, {}, soon())])
      await assert.rejects(call, (error) => isJobError(error) && error.kind === 'JobRunning');
    await counting.jobs.cancel(id, soon());
    await counting.jobs.remove(id, soon());
    assert.deepEqual(await counting.jobs.list(soon()), []);
    assert.ok(!existsSync(join(counting.folder, id)));
  });

  test('without a writable record does not start, and names the path of the record', async () => {
    const file = join(tempFolder(), 'file');
    writeFileSync(file, '');
    const folder = join(file, 'jobs');
    const jobs = openJobs({ folder, entry: countingEntry, runners: countingRunners });
    await assert.rejects(jobs.start(counting.request(), soon()), (error) => {
      assert.ok(isJobError(error));
      assert.equal(error.kind, 'StorageFailed');
      assert.ok(error.message.includes(folder), error.message);
      return true;
    });
    assert.deepEqual(await jobs.list(soon()), []);
  });

  test('that does not exist is missing, for any name', async () => {
    for (const id of ['bf-00000000000000000a', '../../etc', ''])
      await assert.rejects(counting.jobs.view(id, soon()), (error) => isJobError(error) && error.kind === 'JobMissing');
  });

  test('is reported to all watchers, even its removal', async () => {
    const stop = new AbortController();
    const told = [0, 1].map(() => ({ states: [] as string[], removed: [] as string[] }));
    const watches = told.map(({ states, removed }) =>
      counting.jobs.watch((changed, gone) => {
        states.push(...changed.map((view) => view.state));
        removed.push(...gone);
      }, stop.signal),
    );
    const id = await running(1);
    counting.allow(10);
    await eventually(() => told.forEach(({ states }) => assert.equal(states.at(-1), 'succeeded')));
    await counting.jobs.remove(id, soon());
    await eventually(() => told.forEach(({ removed }) => assert.deepEqual(removed, [id])));
    stop.abort();
    await Promise.all(watches);
  });

  test('writes no event that can not be read', async () => {
    const id = await running(10);
    await counting.until(id, (view) => view.state === 'succeeded');
    const lines = readFileSync(join(counting.folder, id, 'events.ndjson'), 'utf8')
      .trimEnd()
      .split('\n');
    const kinds = lines.map((line) => (JSON.parse(line) as { kind: string }).kind);
    assert.deepEqual(kinds.slice(0, 2), ['run', 'planned']);
    assert.equal(kinds.at(-1), 'succeeded');
    assert.equal(kinds.filter((kind) => kind === 'fragment').length, 10);
  });
});
