import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { readMark } from '#jobs/records/heartbeat.ts';
import { openJobs } from '#jobs/service/openJobs.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { temporaryFolder } from '../../../scripts/processes.ts';
import { until } from '../parts/processes.ts';
import { countedFunction, gateAt, open, rowsCalled } from '../parts/rayRun.ts';
import { allRight, type RayWorld } from '../parts/rayWorld.ts';

/** Defines the tests of the process of a job on this machine, for the suite of a release. */
export function testRayProcess(ray: () => RayWorld): void {
  suite('the process here of a job there', () => {
    let stateBefore: string | undefined;

    suiteSetup(() => {
      // Use a separate folder, because functions accepted in this run must not affect the user's state.
      stateBefore = process.env['XDG_DATA_HOME'];
      process.env['XDG_DATA_HOME'] = temporaryFolder('data-');
      ray().renew();
    });

    suiteTeardown(() => {
      if (stateBefore === undefined) delete process.env['XDG_DATA_HOME'];
      else process.env['XDG_DATA_HOME'] = stateBefore;
    });

    test('may be killed: the job goes on, and is followed to its end when it is resumed', async () => {
      const signal = AbortSignal.timeout(280_000);
      const folder = join(temporaryFolder('jobs-'), 'jobs');
      const { calls, uri, head } = ray();
      await ray().make();
      const gate = gateAt(5000);
      const jobs = openJobs({ folder, entry: inRoot('dist/job.cjs') });
      const request: BackfillRequest = {
        table: { catalog: { implementation: 'dir', root: dirname(uri) }, namespacePath: [], name: 'texts' },
        column: 'length',
        runner: 'ray',
        ray: { address: head.address },
        function: countedFunction(calls, { gates: [gate] }),
        concurrency: 2,
      };
      const { id } = await jobs.start(request, signal);
      await until('rows', async () => rowsCalled(calls) >= 5000, {
        limit: 120_000,
        told: () => JSON.stringify(head.processes().map(({ command }) => command)),
      });
      const mark = readMark(join(folder, id));
      assert.ok(mark, 'the job has no process');
      process.kill(mark.pid, 'SIGKILL');
      let view: JobView | undefined;
      await until('that it is known', async () => (view = await jobs.view(id, signal)).state === 'interrupted', {
        limit: 60_000,
        told: () => JSON.stringify(view),
      });
      open(gate);
      await jobs.resume(id, { request }, signal);
      for await (const now of jobs.follow(id, signal)) view = now;
      assert.equal(view?.state, 'succeeded', JSON.stringify(view));
      // Ray ran the same job all the time, so no row was computed twice.
      assert.equal(rowsCalled(calls), 40_000);
      assert.deepEqual(await ray().compare(), allRight());
    });
  });
}
