import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isFinished } from '#cluster/ray/rayReplies.ts';
import { newestRay } from '../../harness/needs/rayNeeds.ts';
import { until } from '../parts/processes.ts';
import {
  countedFunction,
  failureOf,
  type Gate,
  gateAt,
  lengthFunction,
  ofKind,
  open,
  type RayRun,
  rowsCalled,
  runOnRay,
  untilRows,
} from '../parts/rayRun.ts';
import { allRight, type RayWorld } from '../parts/rayWorld.ts';

const limit = 120_000;

/** Defines the tests of backfills whose parts end, hang or are lost, for the suite of a release. */
export function testRayFaults(ray: () => RayWorld, release: string): void {
  /**
   * Starts a backfill of 40,000 rows whose second half waits. Resolves when the first half is computed and both workers
   * have reached the second half.
   */
  async function halfWay(silence?: number): Promise<{ run: RayRun; gate: Gate }> {
    await ray().make();
    const gate = gateAt(20_000);
    const run = ray().begin({ function: countedFunction(ray().calls, { gates: [gate] }), silence });
    await untilRows(ray().calls, 20_000, run);
    const told = (): string => `${JSON.stringify(run.events)}\n${run.log()}`;
    await until('its workers', async () => ofKind(run.events, 'workers').at(-1)?.ready === 2, { limit, told });
    return { run, gate };
  }

  suite('a backfill', () => {
    const signal = new AbortController().signal;
    setup(() => ray().renew());

    test('goes on when one of its workers is killed, and says that it was started again', async () => {
      const { run, gate } = await halfWay();
      process.kill((await ray().head.process('ray::RayWorker')).pid, 'SIGKILL');
      open(gate);
      await run.ended;
      assert.deepEqual(await ray().compare(), allRight());
      assert.ok(restarts(run).includes('worker'), JSON.stringify(run.events));
      assert.equal(rowsCalled(ray().calls), 40_000);
    });

    test('continues if one of its workers hangs, which is ended and started again', async () => {
      const { run, gate } = await halfWay();
      process.kill((await ray().head.process('ray::RayWorker')).pid, 'SIGSTOP');
      const told = (): string => `${JSON.stringify(run.events)}\n${run.log()}`;
      await until('its end', async () => restarts(run).includes('worker'), { limit, told });
      open(gate);
      await run.ended;
      assert.deepEqual(await ray().compare(), allRight());
      assert.equal(rowsCalled(ray().calls), 40_000);
    });

    test('goes on when the way to Ray is lost for a while, and says so', async () => {
      const { run, gate } = await halfWay();
      const { head } = ray();
      await head.disconnect();
      await until('a word of it', async () => ofKind(run.events, 'notice').length > 0, { limit });
      await head.connect();
      open(gate);
      await run.ended;
      assert.match(ofKind(run.events, 'notice')[0]!.text, /The job continues there\.$/);
      assert.deepEqual(restarts(run), ['connection']);
      assert.equal(rowsCalled(ray().calls), 40_000);
      assert.deepEqual(await ray().compare(), allRight());
    });

    test('fails in words when the disk of its table is full, and goes on from what it had kept', async () => {
      const { tables, smallDisk, calls, head } = ray();
      const uri = join(smallDisk, 'texts.lance');
      await tables.make({ uri }, 40_000, 8);
      const gate = gateAt(20_000);
      const options = { ray: head.target, uri, function: countedFunction(calls, { gates: [gate] }) };
      const first = runOnRay({ ...options, more: { commitGranularity: 1 } });
      const ballast = join(smallDisk, 'ballast');
      try {
        await untilRows(calls, 20_000, first);
        const committed = (): number => ofKind(first.events, 'committed').flatMap((event) => event.fragments).length;
        await until('the commits', async () => committed() === 4, { limit });
        fill(ballast);
        open(gate);
        const failure = await failureOf(first);
        assert.equal(failure.kind, 'StorageFull', failure.message);
        assert.match(failure.message, /no space left for the table.* resume the job/s);
        assert.equal((await tables.compare({ uri })).wrong, 0);
        rmSync(ballast);
        const second = runOnRay({ ...options, after: first });
        await second.ended;
        assert.equal(ofKind(second.events, 'planned')[0]?.committedFragments, 4);
        assert.deepEqual(await tables.compare({ uri }), allRight());
      } finally {
        rmSync(ballast, { force: true });
      }
    });

    if (release === newestRay) {
      test('is followed on by another process after the first one gave up, each event told once', async () => {
        const { run: first, gate } = await halfWay(1);
        const { head, jobs } = ray();
        await head.disconnect();
        assert.equal((await failureOf(first)).kind, 'RayUnreachable');
        await head.connect();
        const second = ray().begin({ function: first.spec.function, after: first });
        open(gate);
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
        assert.equal(rowsCalled(ray().calls), 40_000);
      });

      test('reports a success that happened while it was not followed', async () => {
        const { run: first, gate } = await halfWay(1);
        const { head, jobs } = ray();
        await head.disconnect();
        await failureOf(first);
        open(gate);
        await until('the end', async () => rowsCalled(ray().calls) >= 40_000, { limit });
        await head.connect();
        await until('the state', async () => isFinished((await jobs.status(first.spec.jobId, signal)).state), {
          limit,
        });
        const second = ray().begin({ function: first.spec.function, after: first });
        await second.ended;
        assert.equal(second.events.at(-1)?.kind, 'succeeded');
        assert.equal(rowsCalled(ray().calls), 40_000);
      });

      test('starts again from the saved rows if Ray has lost the job', async () => {
        const { run: first, gate } = await halfWay(1);
        const { head, jobs } = ray();
        await head.disconnect();
        await failureOf(first);
        await head.connect();
        await jobs.stop(first.spec.jobId, signal);
        await jobs.delete(first.spec.jobId, signal);
        open(gate);
        const second = ray().begin({ function: first.spec.function, after: first });
        await second.ended;
        assert.equal(second.events.at(-1)?.kind, 'succeeded');
        assert.equal(rowsCalled(ray().calls), 40_000);
        assert.deepEqual(await ray().compare(), allRight());
      });

      test('reports that it was stopped on Ray', async () => {
        const { run } = await halfWay();
        await ray().jobs.stop(run.spec.jobId, signal);
        const failure = await failureOf(run);
        assert.equal(failure.kind, 'RayJobFailed');
        assert.match(failure.message, /was stopped by another client\. Resume/);
      });
    }

    test('has settings of the store from its environment alone, and prints none of them', async () => {
      await ray().make(1000, 2);
      const { jobs } = ray();
      const storageOptions = { aws_secret_access_key: 'a-secret-of-this-test' };
      const run = ray().begin({ function: lengthFunction('length', 'sql'), storageOptions });
      await run.ended;
      assert.deepEqual(await ray().compare(), allRight(1000, 2));
      const { entrypoint, metadata, message } = await jobs.status(run.spec.jobId, signal);
      const log = await jobs.log(run.spec.jobId, signal);
      const written = [entrypoint, metadata, message, log, run.events, run.log(), [...run.kept]];
      assert.doesNotMatch(JSON.stringify(written), /a-secret-of-this-test/);
    });

    test('leaves no worker behind', async () => {
      const { head } = ray();
      await until(
        'the end of all workers',
        async () =>
          !head.processes().some(({ command }) => /ray::RayWorker|functionWorker\.mjs|backfill\.py/.test(command)),
        { limit: 60_000, told: () => JSON.stringify(head.processes()) },
      );
    });
  });
}

const restarts = ({ events }: RayRun): string[] => ofKind(events, 'restarted').map(({ what }) => what);

/** Writes a file until the disk is full. */
function fill(file: string): void {
  for (const size of [1 << 20, 1 << 16, 1 << 12])
    for (;;)
      try {
        writeFileSync(file, Buffer.alloc(size), { flag: 'a' });
      } catch {
        break;
      }
}
