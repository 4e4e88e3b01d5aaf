import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Catalog } from '../../../kernel/client/catalog.ts';
import { connectNamespace } from '../../../kernel/client/connect.ts';
import { registerDir } from '../../../kernel/engine/register.ts';
import { withHash } from '../../../kernel/jobs/definition/hash.ts';
import { readMark } from '../../../kernel/jobs/records/processMark.ts';
import { openJobs } from '../../../kernel/jobs/service/openJobs.ts';
import type { RunnerName } from '../../../kernel/shared/jobs/backfill.ts';
import type { JobView } from '../../../kernel/shared/jobs/jobView.ts';
import { isActive } from '../../../kernel/shared/jobs/jobWords.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { eventually } from '../eventually.ts';
import { gatedFunction } from '../gatedFunction.ts';
import { deletedBelow, lengthOf, lengths, textTable } from '../localTable.ts';

const soon = (): AbortSignal => AbortSignal.timeout(120_000);

// The product's own bundle of a job's process, with the runners that it has.
suite('A job that was killed', function () {
  this.timeout(180_000);
  const root = tempFolder();
  const folder = join(tempFolder(), 'jobs');
  // What was agreed to on this machine is nobody's but this run's.
  process.env['XDG_DATA_HOME'] = tempFolder();
  const jobs = openJobs({ folder, entry: inRoot('dist/job.cjs') });
  let db: Catalog;
  suiteSetup(async () => {
    registerDir();
    db = await connectNamespace('dir', { root });
  });
  suiteTeardown(() => db.close());

  const ended = async (id: string): Promise<JobView> => {
    for await (const view of jobs.follow(id, soon())) if (!isActive(view)) return view;
    return jobs.view(id, soon());
  };

  for (const [first, second] of [
    ['local', 'local'],
    ['local', 'local-python'],
    ['local-python', 'local'],
  ] as const satisfies readonly (readonly [RunnerName, RunnerName])[]) {
    test(`by the runner ${first} is taken up by ${second}, which computes nothing again that was kept`, async () => {
      const name = `${first}-${second}`;
      const table = await textTable(db, name, { fragments: 4, rows: 2000 });
      const gated = gatedFunction('length', 1200);
      const request = {
        table: { catalog: { implementation: 'dir', root }, namespacePath: [], name },
        column: 'length',
        function: withHash(gated.function),
        runner: first,
        python: python(),
        concurrency: 2,
        checkpointSize: 100,
        commitGranularity: 1,
      } as const;
      const { id } = await jobs.start(request, soon());
      // Two fragments are in the table, and the others wait.
      await eventually(async () => {
        const inTable = await lengths(table, 'length IS NOT NULL AND id < 1000');
        assert.equal(inTable.length, 1000 - deletedBelow(1000));
      }, 60);
      const mark = readMark(join(folder, id));
      assert.ok(mark);
      process.kill(mark.pid, 'SIGKILL');
      assert.equal((await ended(id)).state, 'interrupted');
      gated.open();
      await jobs.resume(id, { runner: second }, soon());
      const done = await ended(id);
      assert.equal(done.state, 'succeeded', `${done.sentence} ${JSON.stringify(done.failure)}`);
      assert.equal(done.runner, second);
      const wrong = (await lengths(table)).filter(([row, , length]) => length !== lengthOf(row));
      assert.deepEqual(wrong, []);
      const again = [...gated.calls()].filter(([row, calls]) => row < 1000 && calls !== 1);
      assert.deepEqual(again, [], 'what was in the table is not computed again');
    });
  }
});
