import assert from 'node:assert/strict';
import { mayHaveRunningJobs } from '#processes/jobsFolder.ts';
import { JobsProcess } from '#processes/jobsProcess.ts';
import { isCatalogError } from '#shared/errors.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { join } from 'node:path';
import { isRunning } from '../../harness/running.ts';
import { tempFolder } from '../../harness/temp.ts';
import { eventually } from '../eventually.ts';

const node = { path: process.execPath, env: {} };
const entry = inRoot('dist/jobs.cjs');
const table = { catalog: { implementation: 'dir', root: '/none' }, namespacePath: [], name: 'words' } as const;

suite('The jobs process of a window', function () {
  this.timeout(60_000);
  let home: string;
  let jobs: JobsProcess;
  let changed: JobView[];
  let removed: string[];
  setup(async () => {
    home = tempFolder();
    [changed, removed] = [[], []];
    const onChanged = (views: readonly JobView[], gone: readonly string[]): void => {
      changed.push(...views);
      removed.push(...gone);
    };
    jobs = await JobsProcess.start({ entry, node, onChanged, env: { XDG_DATA_HOME: home } });
  });
  teardown(() => jobs.dispose());

  test('lists no jobs for a user who has started none', async () => {
    assert.deepEqual(await jobs.request('list', null), []);
    assert.ok(!(await mayHaveRunningJobs(join(home, 'lance-catalog', 'jobs'))));
  });

  test('gives a failure as the error that it is, with what to do in its message', async () => {
    await assert.rejects(jobs.request('cancel', { id: 'bf-00000000000000000a' }), (error) => {
      assert.ok(isJobError(error));
      assert.equal(error.kind, 'JobMissing');
      assert.match(error.message, /lance-catalog jobs/);
      return true;
    });
    await assert.rejects(jobs.request('computedColumns', { table }), (error) => isCatalogError(error, 'InvalidInput'));
  });

  test('refuses what has not the shape of its method', async () => {
    const wrong = { id: 7 } as unknown as { id: string };
    await assert.rejects(jobs.request('cancel', wrong), /has invalid parameters/);
    assert.deepEqual(await jobs.request('list', null), [], 'and answers on');
  });

  test('says that it has ended, to those who wait too', async () => {
    assert.ok(jobs.pid);
    const reason = new Promise<string>((resolve) => jobs.onDidExit(resolve));
    process.kill(jobs.pid, 'SIGSTOP');
    const waiting = jobs.request('list', null);
    process.kill(jobs.pid, 'SIGKILL');
    await assert.rejects(waiting, (error) => isCatalogError(error, 'ServiceUnavailable'));
    assert.equal(await reason, 'killed by SIGKILL');
    await assert.rejects(jobs.request('list', null), /has ended: killed by SIGKILL/);
  });

  test('ends with the window', async () => {
    const { pid } = jobs;
    assert.ok(pid);
    jobs.dispose();
    await eventually(() => assert.ok(!isRunning(pid)));
  });

  test('that can not be started says why', async () => {
    const start = JobsProcess.start({ entry: join(home, 'none.cjs'), node, onChanged: () => {} });
    await assert.rejects(start, (error) => {
      assert.ok(isCatalogError(error, 'ServiceUnavailable'));
      assert.match(error.message, /did not start: exit code 1 \(Error: Cannot find module .*none\.cjs/);
      return true;
    });
  });
});
