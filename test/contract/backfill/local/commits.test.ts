import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from '#arrow';
import { planBackfill } from '#jobs/plan/planBackfill.ts';
import { localRunner } from '#jobs/runners/localRunner.ts';
import { inRoot } from '../../../../scripts/paths.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { eventually } from '../../eventually.ts';
import { folderRoot } from '../backfillRoot.ts';
import { gatedFunction } from '../gatedFunction.ts';
import { contextOf, eventsOf, functionOf } from './localJobs.ts';
import { lengthOf, lengths, textTable } from './localTable.ts';

/** More than 32 groups of eight fragments. */
const fragments = 288;

/** Returns the ids of rows in checkpoints, for tables with two rows per fragment. */
const keptIds = (folder: string): number[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.arrow'))
    .flatMap((name) =>
      Array.from(tableFromIPC(readFileSync(join(folder, name))).getChild('_rowaddr')!, (address: bigint) => {
        const [fragment, row] = [Number(address >> 32n), Number(address & 0xffffffffn)];
        return fragment * 2 + row;
      }),
    );

const local = { known: ['local'], load: () => Promise.resolve(localRunner) } as const;
const sql = functionOf('length', { kind: 'sql', expression: 'CAST(length(text) AS INT)' });

suite('commits of backfills by the runner local', function () {
  this.timeout(120_000);
  const place = folderRoot();
  const makeTable = (name: string) => textTable(place.db, name, { fragments, rows: 2 * fragments });

  test('are at most 32 for a table of many fragments, as the plan says', async () => {
    const table = await makeTable('many');
    const before = await table.version();
    const { context, events } = contextOf(place.jobOf('many', { function: sql, commitsByDefault: true }));
    const plan = await planBackfill({ ...context.request, function: sql }, context.signal, local);
    await localRunner.run(context);
    const commits = eventsOf(events, 'committed');
    assert.equal(commits.length, 32);
    assert.deepEqual(new Set(commits.map((commit) => commit.fragments.length)), new Set([9]));
    const made = (await table.version()) - before;
    // 32 commits, two of the key's index, one of the metadata. The plan also counts the function's registration, which
    // the service of jobs does and not the runner.
    assert.deepEqual([made, plan.versions], [35, { value: 36, basis: 'counted' }]);
    assert.deepEqual(
      (await lengths(table)).filter(([id, , length]) => length !== lengthOf(id)),
      [],
    );
  });

  test('are after the requested number of fragments if there is one', async () => {
    await textTable(place.db, 'requested', { fragments: 12, rows: 24 });
    const options = { commitGranularity: 5 };
    const { context, events } = contextOf(place.jobOf('requested', { function: sql, options }));
    const plan = await planBackfill({ ...context.request, function: sql }, context.signal, local);
    await localRunner.run(context);
    assert.deepEqual(
      eventsOf(events, 'committed').map((commit) => commit.fragments.length),
      [5, 5, 2],
    );
    assert.equal(plan.versions?.value, 3 + 4);
  });

  test('of a killed job are made up by the next one, which computes no row again', async () => {
    const table = await makeTable('killed');
    const gate = 330;
    const gated = gatedFunction('length', gate);
    const options = { checkpointSize: 100, concurrency: 1 };
    const job = place.jobOf('killed', { function: gated.function, options, commitsByDefault: true });
    const file = join(tempFolder(), 'job.json');
    writeFileSync(file, JSON.stringify(job));
    const child = spawn(process.execPath, [inRoot('test/contract/backfill/local/runLocalJob.ts'), file], {
      stdio: 'inherit',
    });
    // Wait until some fragments are committed and others are computed but not committed.
    await eventually(() => assert.ok(gated.calls().has(gate - 1)));
    await eventually(async () => assert.ok((await lengths(table, 'length IS NOT NULL')).length >= 300));
    child.kill('SIGKILL');
    await once(child, 'exit');
    const committed = new Set((await lengths(table, 'length IS NOT NULL')).map(([id]) => id));
    const kept = keptIds(join(place.root, 'killed.lance', '_ckp')).filter((id) => !committed.has(id));
    assert.ok(kept.length > 0);
    gated.open();
    const { context, events } = contextOf(job);
    await localRunner.run(context);
    assert.equal(eventsOf(events, 'planned')[0]?.reusedRows, kept.length);
    const calls = gated.calls();
    assert.deepEqual(
      [...committed, ...kept].filter((id) => calls.get(id) !== 1),
      [],
    );
    // Only rows that were being computed when the process ended are computed again.
    assert.ok([...calls.values()].filter((count) => count > 1).length <= 8);
    assert.deepEqual(
      (await lengths(table)).filter(([id, , length]) => length !== lengthOf(id)),
      [],
    );
  });
});
