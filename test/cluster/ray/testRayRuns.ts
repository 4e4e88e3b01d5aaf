import assert from 'node:assert/strict';
import { newestRay } from '../../harness/needs/rayNeeds.ts';
import {
  countedFunction,
  failureOf,
  gateAt,
  type Kind,
  lengthFunction,
  ofKind,
  open,
  type RayRun,
  rowsCalled,
  untilRows,
} from '../parts/rayRun.ts';
import { allRight, type RayWorld } from '../parts/rayWorld.ts';

const kinds: readonly Kind[] = ['sql', 'typescript', 'python'];

const looks = ({ events }: RayRun): number =>
  ofKind(events, 'workers').filter(({ waitingFor }) => waitingFor?.startsWith('a check of')).length;

/** Defines the tests of whole backfills, for the suite of a release. */
export function testRayRuns(ray: () => RayWorld, release: string): void {
  const isNewest = release === newestRay;

  suite('backfills', () => {
    setup(() => ray().renew());

    const [rows, fragments] = [1_000_000, 40];
    for (const kind of kinds) {
      test(`compute ${rows} rows in ${fragments} fragments by a function of ${kind}, as Arrow does`, async () => {
        await ray().make(rows, fragments);
        const run = ray().begin({ function: lengthFunction('length', kind) });
        await run.ended;
        assert.deepEqual(await ray().compare(), allRight(rows, fragments));
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

    test('go on after they were cancelled, and compute no row a second time', async () => {
      await ray().make();
      const { calls, jobs } = ray();
      // Rows that wait are not computed. Ray gives running tasks three seconds to save their rows, and this time may be
      // too short.
      const gate = gateAt(20_000);
      const computed = countedFunction(calls, { gates: [gate] });
      const first = ray().begin({ function: computed });
      await untilRows(calls, 20_000, first);
      first.cancelled.abort();
      assert.equal((await failureOf(first)).name, 'AbortError');
      const job = await jobs.status(first.spec.jobId, new AbortController().signal);
      assert.equal(job.state, 'STOPPED');
      open(gate);
      const second = ray().begin({ function: computed, after: first });
      await second.ended;
      assert.equal(rowsCalled(calls), 40_000);
      assert.deepEqual(await ray().compare(), allRight());
    });

    test('say that their driver is gone when it is killed, and compute no finished row again', async () => {
      await ray().make();
      const { calls, head } = ray();
      const gate = gateAt(20_000);
      const computed = countedFunction(calls, { gates: [gate] });
      const first = ray().begin({ function: computed });
      await untilRows(calls, 20_000, first);
      process.kill((await head.process('python3 backfill.py')).pid, 'SIGKILL');
      const failure = await failureOf(first);
      assert.equal(failure.kind, 'RayJobFailed');
      assert.match(failure.message, /was killed.* Resume the job: computed rows are kept/);
      open(gate);
      const second = ray().begin({ function: computed, after: first });
      await second.ended;
      assert.deepEqual(await ray().compare(), allRight());
      assert.equal(rowsCalled(calls), 40_000);
    });

    if (!isNewest) return;

    test('say what a function threw, and in which row', async () => {
      await ray().make(4000, 2);
      const code = 'def length(text):\n    raise ValueError("no such text")\n';
      const broken = lengthFunction('length', { kind: 'python', takes: 'row', entry: 'length', code });
      const failure = await failureOf(ray().begin({ function: broken }));
      assert.equal(failure.kind, 'FunctionFailed');
      assert.match(failure.message, /no such text/);
    });

    test('are looked at once for a table, and not again for its next job', async () => {
      await ray().make(1000, 1);
      const found: number[] = [];
      for (const column of ['one', 'two']) {
        const run = ray().begin({ column, function: lengthFunction(column, 'sql') });
        await run.ended;
        found.push(looks(run));
      }
      assert.deepEqual(found, [1, 0]);
    });
  });
}
