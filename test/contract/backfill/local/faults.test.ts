import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from '#arrow';
import { connectNamespace } from '#catalog/connect.ts';
import { loadNative } from '#engine/native.ts';
import { localRunner } from '#jobs/runners/localRunner.ts';
import { inRoot } from '../../../../scripts/paths.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { eventually } from '../../eventually.ts';
import { folderRoot } from '../backfillRoot.ts';
import { gatedFunction } from '../gatedFunction.ts';
import { contextOf, eventsOf, functionOf, type LocalJob, rowFunction } from './localJobs.ts';
import { deletedBelow, lengthOf, lengths, rowsFrom, textTable } from './localTable.ts';

const amongOthers = (id: number, text: string): number => (id === 2600 ? -1 : lengthOf(id, text));

/** Returns the ids of rows in chunks, for tables with 500 rows per fragment. */
const keptIds = (files: readonly string[]): number[] =>
  files.flatMap((file) =>
    Array.from(tableFromIPC(readFileSync(file)).getChild('_rowaddr')!, (address: bigint) => {
      const [fragment, row] = [Number(address >> 32n), Number(address & 0xffffffffn)];
      return fragment * 500 + row;
    }),
  );

suite('faults of backfills by the runner local', function () {
  this.timeout(120_000);
  const place = folderRoot();
  const { root, jobOf } = place;
  const checkpointsOf = (table: string): string[] => {
    const folder = join(root, `${table}.lance`, '_ckp');
    return existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
          .filter((name) => name.endsWith('.arrow'))
          .map((name) => join(folder, name))
      : [];
  };
  test('a job that is killed goes on where it was, and computes nothing again that was kept', async () => {
    const table = await textTable(place.db, 'killed', { fragments: 4, rows: 2000 });
    const gated = gatedFunction('length', 1200);
    const job = jobOf('killed', { function: gated.function, options: { checkpointSize: 100 } });
    const file = join(tempFolder(), 'job.json');
    writeFileSync(file, JSON.stringify(job));
    const child = spawn(process.execPath, [inRoot('test/contract/backfill/local/runLocalJob.ts'), file], {
      stdio: 'inherit',
    });
    // Wait until two fragments are committed and a part of the third is saved.
    await eventually(async () => {
      assert.ok(keptIds(checkpointsOf('killed')).some((id) => id >= 1000));
      assert.equal((await lengths(table, 'length IS NOT NULL AND id < 1000')).length, 1000 - deletedBelow(1000));
    });
    child.kill('SIGKILL');
    await once(child, 'exit');
    const kept = keptIds(checkpointsOf('killed'));
    gated.open();
    const { context, events } = contextOf(job);
    await localRunner.run(context);
    const calls = gated.calls();
    assert.deepEqual(
      kept.filter((id) => calls.get(id) !== 1),
      [],
    );
    assert.ok((eventsOf(events, 'planned')[0]?.reusedRows ?? 0) >= 98);
    const rows = await lengths(table);
    assert.deepEqual(
      rows.filter(([id, , length]) => length !== lengthOf(id)),
      [],
    );
    assert.deepEqual(checkpointsOf('killed'), []);
    assert.deepEqual(await table.listIndices(), []);
  });

  test('a function worker that is killed is replaced, and no row is lost', async () => {
    const table = await textTable(place.db, 'worker', { fragments: 2, rows: 1000 });
    const mark = join(tempFolder(), 'killed');
    const fn = rowFunction(
      'length',
      `import { existsSync, writeFileSync } from 'node:fs';
       export default ({ id, text }) => {
         if (Number(id) === 700 && !existsSync(${JSON.stringify(mark)})) {
           writeFileSync(${JSON.stringify(mark)}, '');
           process.kill(process.pid, 'SIGKILL');
         }
         return text.length;
       };`,
      ['id', 'text'],
    );
    const { context, events } = contextOf(jobOf('worker', { function: fn }));
    await localRunner.run(context);
    assert.equal(eventsOf(events, 'restarted').length, 1);
    const rows = await lengths(table);
    assert.deepEqual(
      rows.filter(([id, , length]) => length !== lengthOf(id)),
      [],
    );
  });

  test('a worker that is stopped holds the job up and goes on with it', async () => {
    const table = await textTable(place.db, 'stopped', { fragments: 2, rows: 1000 });
    const gated = gatedFunction('length', 500);
    const { context } = contextOf(jobOf('stopped', { function: gated.function, options: { concurrency: 1 } }));
    const running = localRunner.run(context);
    await eventually(() => assert.equal(gated.pids().length, 1));
    const [pid] = gated.pids();
    process.kill(pid!, 'SIGSTOP');
    gated.open();
    const ended = await Promise.race([running.then(() => true), new Promise((done) => setTimeout(done, 300, false))]);
    process.kill(pid!, 'SIGCONT');
    await running;
    assert.equal(ended, false);
    assert.equal((await lengths(table, 'length IS NULL')).length, 0);
  });

  test('others may append, update, delete, compact and write values meanwhile', async () => {
    const table = await textTable(place.db, 'others', { fragments: 8, rows: 4000 });
    const gated = gatedFunction('length', 500);
    const other = await connectNamespace('dir', { root });
    const theirs = await other.openTable('others');
    const change = async (): Promise<void> => {
      await theirs.add(rowsFrom(10_000, 50));
      await theirs.update({ where: 'id = 2100', values: { text: 'changed by somebody' } });
      await theirs.update({ where: 'id = 2600', values: { length: -1 } });
      await theirs.delete('id >= 3000 AND id < 3010');
      const native = await (await loadNative()).connect(root);
      await (await native.openTable('others')).optimize();
      native.close();
    };
    let changed: Promise<void> | undefined;
    const { context, events } = contextOf(jobOf('others', { function: gated.function }), (event) => {
      if (event.kind === 'committed') changed ??= change().finally(() => gated.open());
    });
    await localRunner.run(context);
    await changed;
    await other.close();
    const rows = await lengths(table);
    assert.deepEqual(
      rows.filter(([id, text, length]) => length !== amongOthers(id, text)),
      [],
    );
    assert.equal(rows.find(([id]) => id === 2100)?.[2], 'changed by somebody'.length);
    assert.ok(!rows.some(([id]) => id >= 3000 && id < 3010));
    assert.equal(rows.filter(([id]) => id < 10_000).length, 4000 - deletedBelow(4000) - 10);
    assert.ok(eventsOf(events, 'conflict').length > 0);
    assert.match(
      eventsOf(events, 'notice')
        .map(({ text }) => text)
        .join(' '),
      /new rows are computed too/,
    );
  });

  for (const mode of ['null', 'skip'] as const) {
    for (const kind of ['sql', 'typescript'] as const) {
      test(`rows that a function in ${kind} throws for stay null with onError ${mode}, and are counted`, async () => {
        const table = await textTable(place.db, `on_${mode}_${kind}`, { fragments: 2, rows: 1000 });
        const fn =
          kind === 'sql'
            ? functionOf('length', { kind, expression: 'CAST(1000 / (id % 100 - 3) AS INT)' }, ['id', 'text'])
            : rowFunction(
                'length',
                `export default ({ id }) => {
                  if (Number(id) % 100 === 3) throw new Error('three');
                  return Math.trunc(1000 / ((Number(id) % 100) - 3));
                };`,
                ['id'],
              );
        const { context, events } = contextOf(
          jobOf(table.name, { function: { ...fn, onError: { mode } }, options: { onError: { mode } } }),
        );
        await localRunner.run(context);
        const bad = 10;
        const [done] = eventsOf(events, 'succeeded');
        assert.deepEqual([done?.errors, done?.skipped], [bad, mode === 'skip' ? bad : 0]);
        const rows = await lengths(table);
        assert.deepEqual(
          rows.filter(([id, , length]) => length !== (id % 100 === 3 ? null : Math.trunc(1000 / ((id % 100) - 3)))),
          [],
        );
        assert.equal(eventsOf(events, 'errors')[0]?.samples[0]?.inputs['id'], '3');
        // In the mode `skip`, checkpoints stay, because they list the rows to be tried again.
        assert.equal(checkpointsOf(table.name).length > 0, mode === 'skip');
      });
    }
  }

  test('a row that the function throws for ends the job with its inputs, and what was finished stays', async () => {
    const table = await textTable(place.db, 'fails', { fragments: 4, rows: 2000 });
    const fn = rowFunction(
      'length',
      'export default ({ id, text }) => { if (Number(id) === 1300) throw new Error("thirteen"); return text.length; };',
      ['id', 'text'],
    );
    const { context } = contextOf(jobOf('fails', { function: fn }));
    await assert.rejects(localRunner.run(context), (error: Error) => {
      assert.match(error.message, /row 300 of fragment 2 \(id = 1300, text = .*thirteen/);
      return true;
    });
    const there = await lengths(table, 'length IS NOT NULL');
    const kept = new Set([...there.map(([id]) => id), ...keptIds(checkpointsOf('fails'))]);
    assert.equal([...kept].filter((id) => id < 1000).length, 1000 - deletedBelow(1000));
    assert.deepEqual(await table.listIndices(), []);
  });

  test('a full disk ends the job in words, what was written stays, and it goes on once there is room', async function () {
    const disk = tempFolder();
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]).status !== 0) {
      // Skip without the right to mount. The machines that run all tests have this right.
      this.skip();
    }
    try {
      const small = await connectNamespace('dir', { root: disk });
      const table = await textTable(small, 'full', { fragments: 4, rows: 2000 });
      const job: LocalJob = {
        catalog: { implementation: 'dir', root: disk },
        table: 'full',
        uri: join(disk, 'full.lance'),
        function: functionOf('length', { kind: 'sql', expression: 'CAST(length(text) AS INT)' }),
      };
      const filler = join(disk, 'filler');
      const first = contextOf(job, (event) => {
        if (event.kind === 'committed' && !existsSync(filler))
          spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4k']);
      });
      await assert.rejects(localRunner.run(first.context), { kind: 'StorageFull', message: /no space left/ });
      rmSync(filler);
      assert.ok((await lengths(table, 'length IS NOT NULL')).length >= 494);
      await localRunner.run(contextOf(job).context);
      assert.deepEqual(
        (await lengths(table)).filter(([id, , length]) => length !== lengthOf(id)),
        [],
      );
      await small.close();
    } finally {
      spawnSync('umount', ['-l', disk]);
    }
  });

  test('rows that failed in a job that was cancelled are left alone by that job and tried again by another', async () => {
    const calls = join(tempFolder(), 'calls');
    const fn = rowFunction(
      'length',
      `import { appendFileSync } from 'node:fs';
       export default ({ id, text }) => {
         appendFileSync(${JSON.stringify(calls)}, id + '\\n');
         if (Number(id) % 100 === 3) throw new Error('three');
         return text.length;
       };`,
      ['id', 'text'],
    );
    const failed = (): number =>
      readFileSync(calls, 'utf8')
        .split('\n')
        .filter((id) => id !== '' && Number(id) % 100 === 3).length;
    await textTable(place.db, 'failed', { fragments: 2, rows: 1000 });
    const options = { onError: { mode: 'null' }, commitGranularity: 9, concurrency: 1 } as const;
    const start = (jobId: string, cancelAt: number) => {
      const job = jobOf('failed', { function: { ...fn, onError: options.onError }, options: { ...options, jobId } });
      const made = contextOf(job, (event) => {
        if (event.kind === 'fragment' && event.fragment === cancelAt) made.abort.abort();
      });
      return localRunner.run(made.context);
    };
    await assert.rejects(start('bf-first', 1), { name: 'AbortError' });
    assert.equal(failed(), 10);
    await assert.rejects(start('bf-first', 1), { name: 'AbortError' });
    assert.equal(failed(), 10);
    await start('bf-second', -1);
    assert.equal(failed(), 20);
  });

  test('a slow function is seen to go on, and what it had computed when the job is cancelled is kept', async () => {
    await textTable(place.db, 'slow', { fragments: 1, rows: 2000 });
    const calls = join(tempFolder(), 'calls');
    const code = `
      import { appendFileSync } from 'node:fs';
      export default ({ id, text }) => {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
        appendFileSync(${JSON.stringify(calls)}, id + '\\n');
        return text.length;
      };`;
    const job = jobOf('slow', { function: rowFunction('length', code, ['id', 'text']) });
    const { context, events, abort } = contextOf(job, (event) => {
      if (event.kind === 'progress' && event.rows > 100) abort.abort();
    });
    await assert.rejects(localRunner.run(context), { name: 'AbortError' });
    assert.ok(eventsOf(events, 'progress')[0]!.rows < 200);
    const called = readFileSync(calls, 'utf8').trim().split('\n');
    const kept = keptIds(checkpointsOf('slow')).length;
    // Only the current batches of the two workers are lost. Each batch takes about a quarter of a second.
    assert.ok(kept > 100 && called.length - kept <= 75, `${kept} of ${called.length}`);
  });
});
