import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withHash } from '#jobs/definition/hash.ts';
import type { RunnerName } from '#shared/jobs/backfill.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { folderRoot } from './backfillRoot.ts';
import { rowFunction } from './local/localJobs.ts';
import { lengthOf, lengths, textTable } from './local/localTable.ts';
import { ownJobs, soon } from './ownJobs.ts';

suite('Rows that failed', function () {
  this.timeout(120_000);
  const place = folderRoot();
  const { jobs, ended } = ownJobs();

  for (const [runner, mode, where] of [
    ['local', 'skip', undefined],
    ['local', 'null', 'id < 300'],
    ['local-python', 'null', 'id < 300'],
    ['local-python', 'skip', undefined],
  ] as const satisfies readonly (readonly [RunnerName, string, string | undefined])[]) {
    const scope = where === undefined ? '' : ' of some rows';
    test(`of a job${scope} by ${runner} that goes on over them (${mode}) are computed by a retry`, async () => {
      const name = `${runner}-${mode}`;
      const table = await textTable(place.db, name, { fragments: 2, rows: 400 });
      const mended = join(tempFolder(), 'mended');
      const fails = `import { existsSync } from 'node:fs';
        export default ({ id, text }) => {
          if (Number(id) % 50 === 7 && !existsSync(${JSON.stringify(mended)})) throw new Error('Not yet.');
          return text.length;
        };`;
      const request = {
        table: { catalog: place.catalog, namespacePath: [], name },
        column: 'length',
        function: withHash(rowFunction('length', fails, ['id', 'text'])),
        onError: { mode },
        where,
        runner,
        python: python(),
      } as const;
      const { id } = await jobs.start(request, soon());
      const first = await ended(id);
      assert.equal(first.state, 'succeeded', first.sentence);
      const failed = where === undefined ? 8 : 6;
      assert.equal(first.errors.count, failed);
      assert.match(first.errors.samples[0]?.message ?? '', /Not yet/);
      assert.ok(first.can.retry);
      writeFileSync(mended, '');
      await jobs.resume(id, {}, soon());
      const second = await ended(id);
      assert.equal(second.state, 'succeeded', second.sentence);
      assert.deepEqual([second.errors.count, second.rows.done, second.can.retry], [0, failed, false]);
      const inScope = await lengths(table, where ?? 'TRUE');
      assert.deepEqual(
        inScope.filter(([row, , length]) => length !== lengthOf(row)),
        [],
      );
    });
  }
});
