import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { connectNamespace } from '#catalog/connect.ts';
import { registerDir } from '#engine/register.ts';
import { withHash } from '#jobs/definition/hash.ts';
import { registerFunction } from '#jobs/definition/registration.ts';
import { planBackfill } from '#jobs/plan/planBackfill.ts';
import { localRunner } from '#jobs/runners/localRunner.ts';
import { localPythonRunner } from '#jobs/runners/pythonRunner.ts';
import { createRayRunner } from '#jobs/runners/ray/rayRunner.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { newJobId } from '#shared/jobs/jobId.ts';
import { gatedFunction } from '../../contract/backfill/gatedFunction.ts';
import { contextOf, type LocalJob } from '../../contract/backfill/local/localJobs.ts';
import { type Moto, startMoto } from '../../contract/moto.ts';
import { python } from '../../harness/needs/python.ts';
import { until } from '../parts/processes.ts';
import {
  countedFunction,
  failureOf,
  gateAt,
  lengthFunction,
  ofKind,
  open,
  rowsCalled,
  runOnRay,
  untilRows,
} from '../parts/rayRun.ts';
import { allRight, type RayWorld } from '../parts/rayWorld.ts';

/**
 * Defines the tests of backfills that Ray continues from other runners, and of tables in an object store, for the suite
 * of a release.
 */
export function testRayResumes(ray: () => RayWorld): void {
  const jobOf = (fn: ComputedFunction, options: LocalJob['options']): LocalJob => ({
    catalog: { implementation: 'dir', root: ray().folder },
    table: 'texts',
    uri: ray().uri,
    function: fn,
    options: { checkpointSize: 200, ...options },
  });

  /** Creates the column, as before the start of a job. */
  async function register(fn: ComputedFunction): Promise<void> {
    const db = await connectNamespace('dir', { root: ray().folder });
    try {
      await registerFunction(await db.openTable('texts'), 'length', fn, { signal: AbortSignal.timeout(60_000) });
    } finally {
      await db.close();
    }
  }

  suite('a backfill that was begun elsewhere', () => {
    suiteSetup(registerDir);
    setup(() => ray().renew());

    for (const first of [localRunner, localPythonRunner])
      test(`by "${first.name}" goes on here from its checkpoints, and computes no row again`, async () => {
        await ray().make(4000, 4);
        const gated = gatedFunction('length', 2000);
        const computed = withHash(gated.function);
        await register(computed);
        const before = contextOf(jobOf(computed, { concurrency: 1, commitGranularity: 9, python: python() }));
        const running = first.run(before.context);
        let failed: unknown;
        running.catch((error: unknown) => (failed = error));
        await until('the first half', async () => gated.calls().size >= 2000, {
          limit: 200_000,
          giveUp: () => failed !== undefined,
          told: () => `${String(failed)} ${JSON.stringify(before.events)}`,
        });
        // Cancel the run. Rows that it has computed are saved when it ends; rows that wait are not computed.
        before.abort.abort();
        await assert.rejects(running, { name: 'AbortError' });
        gated.open();
        const after = contextOf(jobOf(computed, { ray: ray().head.target }));
        // Ray knows the job of another test by its id, so use a new id.
        const spec = { ...after.context.spec, jobId: newJobId(Date.now(), randomBytes(8)) };
        await createRayRunner().run({ ...after.context, spec });
        assert.deepEqual(await ray().compare(), allRight(4000, 4));
        const calls = [...gated.calls().values()];
        assert.deepEqual([calls.length, calls.filter((times) => times > 1).length], [4000, 0]);
      });

    test('is planned to fail where the workers do not reach its table, with what to do', async () => {
      const root = ray().unreachable();
      const uri = `${root}/texts.lance`;
      await ray().tables.make({ uri }, 1000, 1);
      const catalog = { implementation: 'dir', root } as const;
      const request = {
        table: { catalog, namespacePath: [], name: 'texts' },
        column: 'length',
        function: lengthFunction('length', 'sql'),
        runner: 'ray',
        ray: ray().head.target,
      } as const;
      const signal = new AbortController().signal;
      const known = new Set((await ray().jobs.list(signal)).map(({ submissionId }) => submissionId));
      const { runner, notes } = await planBackfill(request, signal);
      assert.equal(runner, 'ray');
      const [warning] = notes.filter(({ level }) => level === 'warning').map(({ text }) => text);
      assert.match(
        warning ?? '',
        /^This run would fail: The node of Ray at .* does not reach the table: folder does not exist: .*texts\.lance\. Mount that folder/,
      );
      const failure = await failureOf(runOnRay({ ...request, uri }));
      assert.equal(failure.kind, 'RunnerUnavailable');
      const begun = (await ray().jobs.list(signal)).filter(({ submissionId }) => !known.has(submissionId));
      assert.deepEqual(
        begun.filter(({ entrypoint }) => entrypoint.includes('backfill.py')),
        [],
      );
    });
  });

  suite('a backfill of a table in an object store (a simulated one: moto)', () => {
    let moto: Moto;
    suiteSetup(async () => {
      moto = await startMoto('lenient');
    });
    setup(async () => {
      ray().renew();
      await ray().head.letOut(Number(new URL(moto.storageOptions['aws_endpoint']!).port));
    });
    suiteTeardown(() => moto?.stop());

    test('goes on after its driver was killed, from checkpoints in the bucket, and computes no row again', async () => {
      const { tables, head, calls } = ray();
      const at = { uri: `${moto.root('ray')}/texts.lance`, options: moto.storageOptions };
      await tables.make(at, 4000, 4);
      const gate = gateAt(2000);
      const run = { ray: head.target, uri: at.uri, storageOptions: moto.storageOptions };
      const computed = countedFunction(calls, { gates: [gate] });
      const first = runOnRay({ ...run, function: computed });
      await untilRows(calls, 2000, first);
      await until(
        'two finished fragments',
        async () => first.events.filter(({ kind }) => kind === 'fragment').length === 2,
        {
          limit: 120_000,
          told: () => JSON.stringify(first.events),
        },
      );
      process.kill((await head.process('python3 backfill.py')).pid, 'SIGKILL');
      assert.equal((await failureOf(first)).kind, 'RayJobFailed');
      open(gate);
      const second = runOnRay({ ...run, function: computed, after: first });
      await second.ended;
      assert.deepEqual(await tables.compare(at), allRight(4000, 4));
      assert.equal(rowsCalled(calls), 4000);
      assert.equal(ofKind(second.events, 'planned')[0]?.checkpointedFragments, 2);
    });
  });
}
