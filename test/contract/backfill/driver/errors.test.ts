import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Utf8 } from '#arrow';
import type { FunctionBody, OnError } from '#shared/jobs/computedFunction.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { type At, BackfillTables } from '../backfillTables.ts';
import { drive, failing, functionOf, pythonBatch, pythonRow, specOf, sql, typescriptRow } from './driving.ts';

const fn = (body: FunctionBody, onError: OnError) => functionOf(body, { inputs: ['id'], onError });

suite('a backfill whose function fails', function () {
  this.timeout(120_000);
  let tables: BackfillTables;
  suiteSetup(() => void (tables = new BackfillTables()));
  suiteTeardown(async () => tables.stop());

  async function makeTable(): Promise<At> {
    const at = { uri: join(tempFolder(), 't.lance') };
    await tables.make(at, { fragments: 4, rows: 100, delete: 'id = 3' });
    return at;
  }

  /** Fails for ids that are multiples of 150: 0, 150, 300. */
  const bodies: Readonly<Record<string, FunctionBody>> = {
    Python: pythonRow("def f(id):\n    if id % 150 == 0:\n        raise ValueError(f'no {id}')\n    return id\n"),
    TypeScript: typescriptRow(
      'export default (row) => { if (row.id % 150n === 0n) throw new Error(`no ${row.id}`); return Number(row.id); };',
    ),
    SQL: sql('id + 0 / (id % 150)'),
  };

  for (const [language, body] of Object.entries(bodies)) {
    test(`ends over the first row where nothing is said, in ${language}, and keeps what was finished`, async () => {
      const at = await makeTable();
      const job = drive(specOf(at, functionOf(body, { inputs: ['id'] }), { concurrency: 1, where: 'id >= 1' }));
      await assert.rejects(
        job.done,
        failing('FunctionFailed', /f failed in row 50 of fragment 1: .*(no 150|Divide by zero)/),
      );
      assert.deepEqual(job.all('errors')[0]?.samples[0]?.inputs, { id: '150' });
      const values = await tables.values(at, 'c', 'id >= 1 AND id < 100');
      assert.ok(Object.entries(values).every(([id, value]) => Number(id) === value));
    });

    test(`leaves null where a row fails, in ${language}, and tells a few of them`, async () => {
      const at = await makeTable();
      const job = drive(specOf(at, fn(body, { mode: 'null' })));
      await job.done;
      const values = await tables.values(at, 'c');
      assert.deepEqual(
        Object.keys(values).filter((id) => values[id] === null),
        ['0', '150', '300'],
      );
      assert.equal(job.all('succeeded')[0]?.errors, 3);
      const samples = job.all('errors').flatMap((event) => event.samples);
      assert.deepEqual(
        samples.map(({ fragment, row }) => [fragment, row]).toSorted(([a = 0], [b = 0]) => a - b),
        [
          [0, 0],
          [1, 50],
          [3, 0],
        ],
      );
      assert.ok(samples.every(({ message }) => /no (0|150|300)|Divide by zero/.test(message)));
    });

    test(`skips a row that fails, in ${language}, and the next run tries that row alone`, async () => {
      const at = await makeTable();
      const skipping = fn(body, { mode: 'skip' });
      const job = drive(specOf(at, skipping));
      await job.done;
      assert.equal(job.all('succeeded')[0]?.skipped, 3);
      const next = drive(specOf(at, skipping));
      await next.done;
      assert.equal(next.all('planned')[0]?.rows, 3);
      assert.equal(next.all('succeeded')[0]?.skipped, 3);
    });
  }

  test('tries rows again that failed in a run over some fragments, and leaves the rest of these alone', async () => {
    const at = await makeTable();
    const [folder, calls] = [tempFolder(), join(tempFolder(), 'calls')];
    const mended = join(folder, 'mended');
    const body = pythonRow(
      `import os\ndef f(id):\n    open(${JSON.stringify(calls)}, 'a').write(f'{id}\\n')\n    if id % 150 == 0 and not os.path.exists(${JSON.stringify(mended)}):\n        raise ValueError('no')\n    return None if id == 7 else id\n`,
    );
    const spec = specOf(at, fn(body, { mode: 'null' }), { numFrags: 2 });
    await drive(spec).done;
    assert.deepEqual(await tables.values(at, 'c', 'id IN (0, 7, 150)'), { 0: null, 7: null, 150: null });
    writeFileSync(mended, '');
    // Run the same successful job again, as "Retry Failed Rows" does.
    await drive(spec).done;
    assert.deepEqual(await tables.values(at, 'c', 'id IN (0, 7, 150)'), { 0: 0, 7: null, 150: 150 });
    const times = readFileSync(calls, 'utf8')
      .trimEnd()
      .split('\n')
      .filter((id) => ['0', '7', '8', '150'].includes(id));
    assert.deepEqual(times.toSorted(), ['0', '0', '150', '150', '7', '8']);
  });

  test('tries a row again as often as requested', async () => {
    const at = await makeTable();
    const file = join(tempFolder(), 'tries');
    const body = pythonRow(
      `def f(id):\n    if id == 150:\n        open(${JSON.stringify(file)}, 'a').write('x')\n        if len(open(${JSON.stringify(file)}).read()) < 3:\n            raise ValueError('not yet')\n    return id\n`,
    );
    await drive(specOf(at, fn(body, { mode: 'retry', attempts: 3 }))).done;
    assert.deepEqual(await tables.values(at, 'c', 'id = 150'), { 150: 150 });
  });

  test('ends when a row fails as often as it may be tried', async () => {
    const at = await makeTable();
    const job = drive(specOf(at, fn(bodies['Python']!, { mode: 'retry', attempts: 2 })));
    await assert.rejects(job.done, failing('FunctionFailed', /no (0|150|300)/));
  });

  test('names the value that does not fit the column, and the row', async () => {
    const at = await makeTable();
    const body = pythonRow("def f(id):\n    return 'many' if id == 150 else id\n");
    await assert.rejects(
      drive(specOf(at, functionOf(body, { inputs: ['id'] }))).done,
      failing('FunctionFailed', /row 50 of fragment 1: The function returned 'many', which is not a valid int32/),
    );
  });

  test('names the number of values when a batch gets another', async () => {
    const at = await makeTable();
    const body = pythonBatch('def f(batch):\n    return [1]\n');
    await assert.rejects(
      drive(specOf(at, functionOf(body))).done,
      failing('FunctionFailed', /returned 1 values for a batch of \d+ rows/),
    );
  });

  test('says where a Python file does not load', async () => {
    const at = await makeTable();
    await assert.rejects(
      drive(specOf(at, functionOf(pythonRow('import nothing_of_that_name\n')))).done,
      failing('FunctionInvalid', /nothing_of_that_name.*line 1/),
    );
  });

  test('says which column a function reads that is not there', async () => {
    const at = await makeTable();
    await assert.rejects(
      drive(specOf(at, functionOf(pythonRow('def f(x):\n    return 1\n'), { inputs: ['nobody'] }))).done,
      failing('ColumnMissing', /no column nobody/),
    );
  });

  test('says what is wrong with an expression', async () => {
    const at = await makeTable();
    await assert.rejects(
      drive(specOf(at, functionOf(sql('no_such_function(text)')))).done,
      failing('FunctionFailed', /no_such_function/),
    );
  });

  test('says what is wrong with where', async () => {
    const at = await makeTable();
    await assert.rejects(
      drive(specOf(at, functionOf(sql('length(text)')), { where: 'nobody = 1' })).done,
      failing('RequestInvalid', /nobody/),
    );
  });

  test('names the location of a missing table', async () => {
    await assert.rejects(
      drive(specOf({ uri: join(tempFolder(), 'none.lance') }, functionOf(sql('1')))).done,
      failing('StorageFailed', /none\.lance/),
    );
  });

  test('shows a trial of one fragment and writes nothing', async () => {
    const at = await makeTable();
    const { version } = await tables.state(at, 'c');
    const said = await drive(specOf(at, fn(bodies['Python']!, { mode: 'null' })), {
      mode: 'try',
      trial: { fragment: 1 },
    }).done;
    assert.equal(said?.['fragment'], 1);
    assert.equal(said?.['errors'], 1);
    assert.equal((await tables.state(at, 'c')).version, version);
    assert.equal(existsSync(join(at.uri, '_ckp')), false);
  });

  test('says in words that the disk is full, keeps what was committed, and goes on when there is room', async function () {
    const disk = join(tempFolder(), 'disk');
    mkdirSync(disk);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk], { encoding: 'utf8' });
    assert.equal(mounted.status, 0, `A small disk can't be mounted: ${mounted.stderr}`);
    try {
      const at = { uri: join(disk, 't.lance') };
      await tables.make(at, { fragments: 4, rows: 2000 });
      writeFileSync(join(disk, 'ballast'), Buffer.alloc(1_500_000));
      // 512 incompressible bytes per row: a megabyte per fragment.
      const body = pythonBatch(
        'import hashlib\ndef f(batch):\n    return [hashlib.shake_256(str(n).encode()).hexdigest(256) for n in batch.column("id").to_pylist()]\n',
      );
      const big = functionOf(body, { inputs: ['id'], type: new Utf8() });
      const job = drive(specOf(at, big, { concurrency: 1, commitGranularity: 1, checkpointSize: 100_000 }));
      await assert.rejects(job.done, failing('StorageFull', /no space left/));
      const committed = job.all('committed').flatMap(({ fragments }) => fragments);
      const filled = Object.values(await tables.values(at, 'c')).filter((value) => value !== null).length;
      assert.equal(filled, committed.length * 2000);
      spawnSync('mount', ['-o', 'remount,size=40m', disk]);
      const next = drive(specOf(at, big, { concurrency: 1 }));
      await next.done;
      assert.equal(next.all('planned')[0]?.committedFragments, committed.length);
      assert.ok(Object.values(await tables.values(at, 'c')).every((value) => value !== null));
    } finally {
      spawnSync('umount', ['-l', disk]);
    }
  });
});
