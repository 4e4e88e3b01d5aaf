import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { withHash } from '#jobs/definition/hash.ts';
import { readMark } from '#jobs/records/heartbeat.ts';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { eventually } from '../eventually.ts';
import { descendantsOf, stillRunning } from '../processTree.ts';
import { folderRoot } from './backfillRoot.ts';
import { functionOf, rowFunction } from './local/localJobs.ts';
import { textTable } from './local/localTable.ts';
import { ownJobs, soon } from './ownJobs.ts';

/** Functions that create a file and, from a later row on, never return. */
const endless = {
  TypeScript: (begun: string): ComputedFunction =>
    rowFunction(
      'length',
      `import { writeFileSync } from 'node:fs';
       import { setTimeout as pause } from 'node:timers/promises';
       export default async ({ text }) => {
         await pause(1500);
         writeFileSync(${JSON.stringify(begun)}, '');
         for (;;);
       };`,
    ),
  // A regular expression holds Python's lock while it runs, and this one never ends.
  Python: (begun: string): ComputedFunction =>
    functionOf('length', {
      kind: 'python',
      takes: 'row',
      entry: 'f',
      code: `import re\ndef f(text):\n    open(${JSON.stringify(begun)}, 'w').close()\n    return re.match('(a+)+b', 'a' * 99) and 1\n`,
    }),
};

suite('Processes of a backfill whose function never comes back', function () {
  this.timeout(180_000);
  const place = folderRoot();
  const { folder, jobs, ended } = ownJobs();

  for (const [language, runner, what, killed] of [
    ['TypeScript', 'local', 'its job', undefined],
    ['TypeScript', 'local-python', 'its job', undefined],
    ['TypeScript', 'local-python', 'its driver', /backfill\.py -/],
    ['TypeScript', 'local-python', 'its worker', /backfill\.py worker/],
    ['Python', 'local-python', 'its job', undefined],
    ['Python', 'local-python', 'its driver', /backfill\.py -/],
  ] as const)
    test(`end with ${what} that is killed: ${language} by ${runner}`, async () => {
      const name = `${language}-${runner}-${what.replace(' ', '-')}`;
      await textTable(place.db, name, { fragments: 1, rows: 100 });
      const begun = join(tempFolder(), 'begun');
      const { id } = await jobs.start(
        {
          table: { catalog: place.catalog, namespacePath: [], name },
          column: 'length',
          function: withHash(endless[language](begun)),
          runner,
          python: python(),
          // With five workers, some of them are separate processes and not threads of the driver.
          concurrency: what === 'its worker' ? 5 : 1,
        },
        soon(),
      );
      let below: number[] = [];
      try {
        await eventually(() => assert.ok(existsSync(begun)), 60);
        const mark = readMark(join(folder, id));
        assert.ok(mark);
        const all = descendantsOf(mark.pid);
        assert.ok(all.length > 0);
        below = all.map(({ pid }) => pid);
        const victim = killed ? all.find(({ command }) => killed.test(command))?.pid : mark.pid;
        assert.ok(victim !== undefined, all.map(({ command }) => command).join('\n'));
        below = descendantsOf(victim).map(({ pid }) => pid);
        process.kill(victim, 'SIGKILL');
        await eventually(() => assert.deepEqual(stillRunning([victim, ...below]), []), 60);
      } finally {
        for (const { pid } of stillRunning(below)) process.kill(pid, 'SIGKILL');
        if (what === 'its worker') await jobs.cancel(id, soon());
        await ended(id);
      }
    });
});
