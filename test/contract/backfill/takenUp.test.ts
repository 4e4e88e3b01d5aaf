import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withHash } from '#jobs/definition/hash.ts';
import { readMark } from '#jobs/records/heartbeat.ts';
import type { CatalogConfig } from '#shared/catalogConfig.ts';
import type { RunnerName } from '#shared/jobs/backfill.ts';
import { python } from '../../harness/needs/python.ts';
import { eventually } from '../eventually.ts';
import { type BackfillRoot, bucketRoot, folderRoot } from './backfillRoot.ts';
import { gatedFunction } from './gatedFunction.ts';
import { deletedBelow, lengthOf, lengths, textTable } from './local/localTable.ts';
import { ownJobs, soon } from './ownJobs.ts';

type Pair = readonly [RunnerName, RunnerName];
const across: readonly Pair[] = [
  ['local', 'local-python'],
  ['local-python', 'local'],
];
const places = [
  ['a folder', folderRoot, [['local', 'local'], ...across]],
  ['a bucket', bucketRoot, across],
] as const satisfies readonly (readonly [string, () => BackfillRoot, readonly Pair[]])[];

for (const [where, open, pairs] of places)
  suite(`A job at a table in ${where} that was killed`, function () {
    this.timeout(180_000);
    const place = open();
    const { folder, jobs, ended } = ownJobs();

    for (const [first, second] of pairs) {
      test(`by the runner ${first} is taken up by ${second}, which computes nothing again that was kept`, async () => {
        const name = `${first}-${second}`;
        const table = await textTable(place.db, name, { fragments: 4, rows: 2000 });
        const gated = gatedFunction('length', 1200);
        const request = {
          table: { catalog: place.catalog, namespacePath: [], name },
          column: 'length',
          function: withHash(gated.function),
          runner: first,
          python: python(),
          concurrency: 2,
          checkpointSize: 100,
          commitGranularity: 1,
        } as const;
        const { id } = await jobs.start(request, soon());
        // Wait until two fragments are committed. The others wait for the gate.
        await eventually(async () => {
          const inTable = await lengths(table, 'length IS NOT NULL AND id < 1000');
          assert.equal(inTable.length, 1000 - deletedBelow(1000));
        }, 60);
        const mark = readMark(join(folder, id));
        assert.ok(mark);
        process.kill(mark.pid, 'SIGKILL');
        assert.equal((await ended(id)).state, 'interrupted');
        gated.open();
        await jobs.resume(id, { runner: second, request }, soon());
        const done = await ended(id);
        assert.equal(done.state, 'succeeded', `${done.sentence} ${JSON.stringify(done.failure)}`);
        assert.equal(done.runner, second);
        const wrong = (await lengths(table)).filter(([row, , length]) => length !== lengthOf(row));
        assert.deepEqual(wrong, []);
        const again = [...gated.calls()].filter(([row, calls]) => row < 1000 && calls !== 1);
        assert.deepEqual(again, [], 'what was in the table is not computed again');
        assert.deepEqual(secretsIn(join(folder, id), place.catalog), []);
      });
    }
  });

/** Returns the files of a job that contain a secret of its catalog. */
function secretsIn(folder: string, catalog: CatalogConfig): string[] {
  const options = catalog.implementation === 'dir' ? catalog.storageOptions : undefined;
  const secret = options?.['aws_secret_access_key'];
  if (secret === undefined) return [];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((file) => readFileSync(file).includes(secret));
}
