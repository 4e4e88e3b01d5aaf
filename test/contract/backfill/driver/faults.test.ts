import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { driverFile } from '#jobs/driver/driverFiles.ts';
import { specToJson } from '#jobs/jobSpec.ts';
import { bundleFile } from '#processes/bundleFile.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { python } from '../../../harness/needs/python.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { eventually } from '../../eventually.ts';
import { descendantsOf, type RunningProcess, stillRunning } from '../../processTree.ts';
import { type At, BackfillTables } from '../backfillTables.ts';
import { drive, type Driving, functionOf, gatedPython, specOf, typescriptRow } from './driving.ts';

// These tests kill real processes. Afterwards, saved rows must not be computed again and every value must be correct.

const rows = 480;

const drivers = (): RunningProcess[] =>
  descendantsOf(process.pid).filter(({ command }) => /backfill\.py -/.test(command));
const workers = (): RunningProcess[] =>
  descendantsOf(process.pid).filter(({ command }) => /backfill\.py worker/.test(command));
const functions = (): RunningProcess[] =>
  // Exclude other processes of the backfill, because their command lines also contain `functionWorker.mjs`.
  descendantsOf(process.pid).filter(({ command }) => /functionWorker\.mjs/.test(command) && !/backfill/.test(command));

/** Returns the number of rows for which the function was called more than once. */
const twice = (calls: readonly string[]): number => calls.length - new Set(calls).size;

/** Starts a job that waits at row 200, in the fourth of eight fragments, with all earlier rows computed. */
async function standing(at: At, gated: ReturnType<typeof gatedPython>): Promise<Driving> {
  const job = drive(
    specOf(at, functionOf(gated.body, { inputs: ['id', 'text'] }), { concurrency: 1, checkpointSize: 1 }),
  );
  await eventually(() => assert.ok(gated.calls().includes('200')), 60);
  // The job starts the fourth fragment while it commits the first three.
  await job.first('committed');
  return job;
}

const slowTypescript = (folder: string, from: number) =>
  typescriptRow(`
    import { appendFileSync, existsSync } from 'node:fs';
    import { setTimeout } from 'node:timers/promises';
    export default async (row) => {
      appendFileSync(${JSON.stringify(join(folder, 'calls'))}, row.id + '\\n');
      while (row.id >= ${from} && !existsSync(${JSON.stringify(join(folder, 'gate'))})) await setTimeout(10);
      return row.text === null ? null : [...row.text].length;
    };`);

suite('a backfill whose processes die', function () {
  this.timeout(180_000);
  let tables: BackfillTables;
  suiteSetup(() => void (tables = new BackfillTables()));
  suiteTeardown(async () => tables.stop());

  async function makeTable(): Promise<At> {
    const at = { uri: join(tempFolder(), 't.lance') };
    await tables.make(at, { fragments: 8, rows: 60 });
    return at;
  }

  const isAllRight = async (at: At): Promise<void> =>
    assert.deepEqual(await tables.check(at, 'c', 'length'), { rows, wrong: 0, samples: [] });

  test('goes on after its driver was killed, and computes no row twice', async () => {
    const at = await makeTable();
    const gated = gatedPython(tempFolder(), 200);
    const job = await standing(at, gated);
    const all = descendantsOf(drivers()[0]!.pid).map(({ pid }) => pid);
    process.kill(drivers()[0]!.pid, 'SIGKILL');
    await assert.rejects(
      job.done,
      (error) => isJobError(error) && error.kind === 'FunctionCrashed' && error.isTransient,
    );
    await eventually(() => assert.deepEqual(stillRunning(all), []), 60);
    writeFileSync(gated.gate, '');
    const next = drive(specOf(at, functionOf(gated.body, { inputs: ['id', 'text'] })));
    await next.done;
    await isAllRight(at);
    // The function was called for the waiting row, but it did not return, so that row is computed again.
    assert.deepEqual(
      gated.calls().filter((id, index, calls) => calls.indexOf(id) !== index),
      ['200'],
    );
    const [planned] = next.all('planned');
    assert.equal(planned?.committedFragments, 3);
    assert.equal(planned?.reusedRows, 20);
  });

  test('goes on after it was cancelled, and computes no row twice', async () => {
    const at = await makeTable();
    const gated = gatedPython(tempFolder(), 200);
    const fn = functionOf(gated.body, { inputs: ['id', 'text'] });
    const job = drive(specOf(at, fn, { concurrency: 1, checkpointSize: 100_000 }));
    await eventually(() => assert.ok(gated.calls().includes('200')), 60);
    job.controller.abort();
    // Let the function continue, so that its worker can save the rows of all calls.
    writeFileSync(gated.gate, '');
    await assert.rejects(job.done, { name: 'AbortError' });
    assert.deepEqual(drivers(), []);
    const before = gated.calls().length;
    const next = drive(specOf(at, fn));
    await next.done;
    await isAllRight(at);
    assert.equal(twice(gated.calls()), 0);
    assert.equal(gated.calls().length, rows);
    assert.ok(before < rows);
  });

  test('goes on by itself after a worker was killed, and computes no kept row twice', async () => {
    const at = await makeTable();
    const gated = gatedPython(tempFolder(), 200);
    const job = await standing(at, gated);
    process.kill(workers()[0]!.pid, 'SIGKILL');
    writeFileSync(gated.gate, '');
    await job.done;
    await isAllRight(at);
    assert.deepEqual(
      job.all('restarted').map(({ what }) => what),
      ['worker'],
    );
    assert.deepEqual(
      gated.calls().filter((id, index, calls) => calls.indexOf(id) !== index),
      ['200'],
    );
  });

  test('ends a hanging worker and continues with another', async () => {
    const at = await makeTable();
    const gated = gatedPython(tempFolder(), 200);
    const job = drive(
      specOf(at, functionOf(gated.body, { inputs: ['id', 'text'] }), { concurrency: 1, checkpointSize: 1 }),
      { env: { LANCE_CATALOG_STALL_SECONDS: '1.5' } },
    );
    await eventually(() => assert.ok(gated.calls().includes('200')), 60);
    process.kill(workers()[0]!.pid, 'SIGSTOP');
    writeFileSync(gated.gate, '');
    await job.done;
    await isAllRight(at);
    assert.ok(job.all('restarted').length > 0);
  });

  test('gives up a worker that dies at the same rows again and again, and keeps the others', async () => {
    const at = await makeTable();
    const body = {
      kind: 'python',
      takes: 'row',
      entry: 'f',
      code: 'import os\ndef f(id):\n    if id == 140:\n        os.abort()\n    return id\n',
    } as const;
    const job = drive(specOf(at, functionOf(body, { inputs: ['id'] }), { concurrency: 1, checkpointSize: 1 }));
    await assert.rejects(job.done, (error) => isJobError(error) && error.kind === 'FunctionCrashed');
    assert.equal(job.all('restarted').length, 3);
    const values = await tables.values(at, 'c', 'id < 120');
    assert.ok(Object.entries(values).every(([id, value]) => Number(id) === value));
  });

  test('goes on by itself after the process of a TypeScript function was killed', async () => {
    const at = await makeTable();
    const folder = tempFolder();
    const fn = functionOf(slowTypescript(folder, 200), { inputs: ['id', 'text'] });
    const job = drive(specOf(at, fn, { concurrency: 1 }));
    await job.first('committed');
    await eventually(() => assert.ok(functions().length === 1), 60);
    process.kill(functions()[0]!.pid, 'SIGKILL');
    writeFileSync(join(folder, 'gate'), '');
    await job.done;
    await isAllRight(at);
    assert.ok(job.all('restarted').some(({ what }) => what === 'function'));
  });

  test('keeps no Node that was started for a worker without anything to do', async () => {
    const at = { uri: join(tempFolder(), 't.lance') };
    await tables.make(at, { fragments: 1, rows: 60 });
    const folder = tempFolder();
    const job = drive(
      specOf(at, functionOf(slowTypescript(folder, 0), { inputs: ['id', 'text'] }), { concurrency: 2 }),
    );
    await eventually(() => assert.ok(existsSync(join(folder, 'calls'))), 60);
    await eventually(() => assert.equal(functions().length, 1), 60);
    writeFileSync(join(folder, 'gate'), '');
    await job.done;
    assert.deepEqual(await tables.check(at, 'c', 'length'), { rows: 60, wrong: 0, samples: [] });
    assert.deepEqual(functions(), []);
  });

  test('goes on by itself after a process was killed that workers of a TypeScript function share', async () => {
    const at = await makeTable();
    const folder = tempFolder();
    const fn = functionOf(slowTypescript(folder, 200), { inputs: ['id', 'text'] });
    const job = drive(specOf(at, fn, { concurrency: 5 }));
    await job.first('committed');
    await eventually(() => assert.equal(functions().length, 5), 60);
    const [shared, ...more] = workers();
    assert.equal(more.length, 1);
    process.kill(shared!.pid, 'SIGKILL');
    writeFileSync(join(folder, 'gate'), '');
    await job.done;
    await isAllRight(at);
    const restarted = job.all('restarted').map(({ what }) => what);
    // The number depends on the killed process: one of the processes has one worker, the other has four.
    assert.ok([1, 4].includes(restarted.length), String(restarted));
    assert.ok(restarted.every((what) => what === 'worker'));
  });

  test('has no process beside the Nodes of up to four workers, and leaves nothing of them', async () => {
    const at = await makeTable();
    const [folder, temporary] = [tempFolder(), tempFolder()];
    mkdirSync(temporary, { recursive: true });
    const fn = functionOf(slowTypescript(folder, 200), { inputs: ['id', 'text'] });
    const job = drive(specOf(at, fn, { concurrency: 4 }), { env: { TMPDIR: temporary } });
    await job.first('committed');
    await eventually(() => assert.equal(functions().length, 4), 60);
    assert.deepEqual(workers(), []);
    assert.ok(readdirSync(temporary).length > 0);
    writeFileSync(join(folder, 'gate'), '');
    await job.done;
    await isAllRight(at);
    assert.deepEqual(functions(), []);
    assert.deepEqual(readdirSync(temporary), []);
  });

  test('leaves no busy Node process behind if its driver is killed', async function () {
    // Other systems do not report that the other end of a pipe was closed.
    if (process.platform !== 'linux') this.skip();
    const at = await makeTable();
    const begun = join(tempFolder(), 'begun');
    const code = `import { writeFileSync } from 'node:fs';
      export default () => { writeFileSync(${JSON.stringify(begun)}, ''); for (;;); };`;
    const job = {
      ...specToJson(specOf(at, functionOf(typescriptRow(code)))),
      node: process.execPath,
      worker: bundleFile('functionWorker.mjs'),
    };
    const driver = spawn(python(), [driverFile(), '-'], { stdio: ['pipe', 'ignore', 'ignore'] });
    driver.stdin.write(`${JSON.stringify(job)}\n`);
    await eventually(() => assert.ok(existsSync(begun)), 60);
    const nodes = functions().map(({ pid }) => pid);
    assert.ok(nodes.length > 0);
    try {
      driver.kill('SIGKILL');
      await eventually(() => assert.deepEqual(stillRunning(nodes), []), 30);
    } finally {
      for (const { pid } of stillRunning(nodes)) process.kill(pid, 'SIGKILL');
    }
  });

  test('leaves nothing of workers in processes of their own', async () => {
    const at = await makeTable();
    const temporary = tempFolder();
    mkdirSync(temporary, { recursive: true });
    const fn = functionOf(typescriptRow('export default ({ text }) => text === null ? null : [...text].length;'));
    const job = drive(specOf(at, fn, { concurrency: 5 }), { env: { TMPDIR: temporary } });
    await eventually(() => assert.ok(readdirSync(temporary).length > 0), 60);
    await job.done;
    await isAllRight(at);
    assert.deepEqual([...workers(), ...functions()], []);
    assert.deepEqual(readdirSync(temporary), []);
  });

  test('leaves nothing when it is cancelled while its function is loaded, which never ends', async () => {
    const at = await makeTable();
    const temporary = tempFolder();
    mkdirSync(temporary, { recursive: true });
    const fn = functionOf(typescriptRow('for (;;);\nexport default () => 1;'));
    const job = drive(specOf(at, fn), { env: { TMPDIR: temporary } });
    await job.first('workers');
    await eventually(() => assert.equal(functions().length, 2), 60);
    job.controller.abort();
    await assert.rejects(job.done, { name: 'AbortError' });
    assert.deepEqual([...drivers(), ...functions()], []);
    assert.deepEqual(readdirSync(temporary), []);
  });

  test('leaves no process and loses no row when it is cancelled in a function that does not come back', async () => {
    const at = await makeTable();
    const folder = tempFolder();
    const fn = functionOf(slowTypescript(folder, 200), { inputs: ['id', 'text'] });
    const job = drive(specOf(at, fn, { concurrency: 2 }));
    await job.first('committed');
    const all = descendantsOf(process.pid)
      .filter(({ command }) => /backfill\.py|functionWorker/.test(command))
      .map(({ pid }) => pid);
    // The three processes are the driver and the Node processes of the two workers.
    assert.equal(all.length, 3);
    job.controller.abort();
    await assert.rejects(job.done, { name: 'AbortError' });
    await eventually(() => assert.deepEqual(stillRunning(all), []), 60);
    writeFileSync(join(folder, 'gate'), '');
    await drive(specOf(at, fn)).done;
    await isAllRight(at);
  });

  test('takes what a run with another number of workers had kept', async () => {
    const at = await makeTable();
    const gated = gatedPython(tempFolder(), 200);
    const job = await standing(at, gated);
    process.kill(drivers()[0]!.pid, 'SIGKILL');
    await assert.rejects(job.done);
    writeFileSync(gated.gate, '');
    const fn = functionOf(gated.body, { inputs: ['id', 'text'] });
    await drive(specOf(at, fn, { concurrency: 3, taskSize: 25, checkpointSize: 10 })).done;
    await isAllRight(at);
    assert.equal(twice(gated.calls()), 1);
  });
});
