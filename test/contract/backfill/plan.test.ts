import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from '#arrow';
import { planBackfill, withTrial } from '#jobs/plan/planBackfill.ts';
import { tryBackfill } from '#jobs/plan/tryBackfill.ts';
import { loadRunner } from '#jobs/runners/all.ts';
import { localRunner } from '#jobs/runners/localRunner.ts';
import { localPythonRunner } from '#jobs/runners/pythonRunner.ts';
import { python } from '../../harness/needs/python.ts';
import { folderRoot } from './backfillRoot.ts';
import { contextOf, eventsOf, functionOf, type LocalJob, rowFunction } from './local/localJobs.ts';
import { lengths, rowsFrom, textTable } from './local/localTable.ts';

const { signal } = new AbortController();
const sql = functionOf('length', { kind: 'sql', expression: 'CAST(length(text) AS INT)' });
const typescript = rowFunction(
  'length',
  'export default (row) => { if (row.text.endsWith("7")) throw new Error("seven"); return row.text.length; };',
);
const local = { known: ['local'], load: () => Promise.resolve(localRunner) } as const;

suite('plans and trials of backfills', function () {
  this.timeout(60_000);
  const place = folderRoot();
  const { root, jobOf } = place;
  const requestOf = ({ table, ...job }: Omit<LocalJob, 'catalog' | 'uri'>) => {
    const made = contextOf(jobOf(table, job));
    return { ...made, request: { ...made.context.request, function: job.function } };
  };

  test('a plan counts what a run then does', async () => {
    const table = await textTable(place.db, 'planned', { fragments: 4 });
    await table.update({ where: 'id < 500', values: { length: 1 } });
    const { request, context, events } = requestOf({ table: 'planned', function: sql });
    const plan = await planBackfill(request, signal, local);
    const before = dataBytes('planned');
    await localRunner.run(context);
    const [planned] = eventsOf(events, 'planned');
    const [done] = eventsOf(events, 'succeeded');
    const total = await table.countRows();
    assert.deepEqual(plan.rows.total, { value: total, basis: 'counted' });
    assert.deepEqual(plan.rows.toCompute, { value: planned?.rows, basis: 'counted' });
    assert.equal(plan.rows.toCompute.value + plan.rows.done.value, total);
    assert.equal(done?.rows, plan.rows.toCompute.value);
    assert.equal(plan.fragments.toCompute.value, planned?.fragments);
    assert.equal(eventsOf(events, 'fragment').length, plan.fragments.toCompute.value);
    assert.equal(done?.bytesWritten, plan.bytes.written.value);
    assert.equal(plan.bytes.rewritten.value, 0);
    // The written bytes are less than half of the read strings, so the strings were not written again.
    assert.ok(dataBytes('planned') - before < plan.bytes.read.value / 2);
  });

  test('rows that no run has filled are not called done, whichever rows are named', async () => {
    const table = await textTable(place.db, 'named', { fragments: 2, rows: 200 });
    const where = 'id < 100';
    const fresh = functionOf('size', { kind: 'sql', expression: 'CAST(length(text) AS INT)' });
    const before = await planBackfill(
      { ...requestOf({ table: 'named', function: fresh }).request, where },
      signal,
      local,
    );
    assert.deepEqual([before.rows.toCompute.value, before.rows.done.value], [await table.countRows(where), 0]);
    await table.update({ where: 'id >= 90 AND id < 130', values: { length: 1 } });
    const request = { ...requestOf({ table: 'named', function: sql }).request, where };
    const after = await planBackfill(request, signal, local);
    assert.deepEqual(
      [after.rows.toCompute.value, after.rows.done.value],
      [await table.countRows(where), await table.countRows('id >= 100 AND id < 130')],
    );
  });

  test('a function of a column that is not there is refused by a plan as it is by a run', async () => {
    await textTable(place.db, 'misnamed', { fragments: 1, rows: 10 });
    const misnamed = { ...typescript, inputs: ['txet'] };
    const { request } = requestOf({ table: 'misnamed', function: misnamed });
    await assert.rejects(
      planBackfill(request, signal, local),
      /reads the column "txet", but table "misnamed" has no such column/,
    );
  });

  test('an empty condition is refused in words, since it says neither all rows nor those without a value', async () => {
    await textTable(place.db, 'blank', { fragments: 1, rows: 10 });
    const { request } = requestOf({ table: 'blank', function: sql });
    await assert.rejects(
      planBackfill({ ...request, where: ' ' }, signal, local),
      /"where", got an empty string\. Omit it/,
    );
  });

  test('a plan changes nothing', async () => {
    const table = await textTable(place.db, 'unchanged', { fragments: 2, rows: 200 });
    const before = await table.version();
    await planBackfill(requestOf({ table: 'unchanged', function: sql }).request, signal, local);
    assert.equal(await table.version(), before);
    assert.deepEqual(await table.listIndices(), []);
  });

  test('before the column is there, all rows are to compute, and a trial shows them without a value', async () => {
    const table = await textTable(place.db, 'fresh', { fragments: 2, rows: 200 });
    const fresh = functionOf('size', { kind: 'sql', expression: 'CAST(length(text) AS INT)' });
    const { request } = requestOf({ table: 'fresh', function: fresh });
    const plan = await planBackfill(request, signal, local);
    assert.deepEqual([plan.rows.toCompute.value, plan.rows.done.value], [await table.countRows(), 0]);
    assert.equal(plan.bytes.written.value, plan.rows.total.value * (4 + 8));
    const trial = await tryBackfill(request, signal);
    const [before, after] = [trial.before, trial.after].map((text) => tableFromIPC(Buffer.from(text, 'base64')));
    assert.equal(before?.getChild('size')?.nullCount, trial.rows);
    assert.equal(after?.getChild('size')?.nullCount, 0);
    assert.ok(!(await table.schema()).names.includes('size'));
  });

  test('a trial computes one fragment and writes nothing', async () => {
    const table = await textTable(place.db, 'tried', { fragments: 4, rows: 400 });
    await table.add(rowsFrom(1000, 30));
    const { request } = requestOf({ table: 'tried', function: typescript });
    const version = await table.version();
    const trial = await tryBackfill(request, signal);
    assert.equal(await table.version(), version);
    assert.equal(trial.rows, 30);
    assert.equal(trial.errors, 3);
    const [before, after] = [trial.before, trial.after].map((text) => tableFromIPC(Buffer.from(text, 'base64')));
    assert.deepEqual(before?.schema.names, ['text', 'length']);
    assert.deepEqual(after?.schema.names, ['text', 'length', 'error']);
    const rows = after.toArray().map((row) => row.toJSON());
    assert.ok(rows.every((row) => row['length'] === (row['error'] === null ? String(row['text']).length : null)));
    assert.ok(before.getChild('length')!.nullCount === 30);
    const plan = withTrial(await planBackfill(request, signal, local), trial);
    assert.match(JSON.stringify(plan.seconds?.basis), /the trial of 30 rows/);
  });

  test('a sample computes five rows and no more', async () => {
    await textTable(place.db, 'sampled', { fragments: 2, rows: 4000 });
    for (const fn of [sql, typescript]) {
      const { request } = requestOf({ table: 'sampled', function: fn });
      const sample = await tryBackfill(request, signal, 5);
      const rows = tableFromIPC(Buffer.from(sample.after, 'base64')).toArray();
      assert.deepEqual([sample.rows, rows.length], [5, 5]);
    }
  });

  test('what an earlier run has kept is counted as reused, and not to compute', async () => {
    const table = await textTable(place.db, 'kept', { fragments: 2, rows: 4000 });
    const job = { table: 'kept', function: sql, options: { checkpointSize: 500, commitGranularity: 9 } };
    const first = requestOf(job);
    const aborted = contextOf(jobOf('kept', job), (event) => {
      if (event.kind === 'fragment') aborted.abort.abort();
    });
    await assert.rejects(localRunner.run(aborted.context), { name: 'AbortError' });
    const plan = await planBackfill(first.request, signal, local);
    assert.ok(plan.rows.reused.value >= 1979);
    assert.equal(plan.rows.reused.value + plan.rows.toCompute.value, await table.countRows());
    await localRunner.run(first.context);
    assert.equal((await lengths(table, 'length IS NULL')).length, 0);
    const [done] = eventsOf(first.events, 'succeeded');
    assert.deepEqual([done?.rows, done?.reusedRows], [await table.countRows(), plan.rows.reused.value]);
  });

  test('the driver in Python plans and tries what it would run, and counts what it then does', async () => {
    const table = await textTable(place.db, 'python', { fragments: 4 });
    await table.update({ where: 'id < 500', values: { length: 1 } });
    const fn = functionOf('length', {
      kind: 'python',
      takes: 'row',
      entry: 'f',
      code: 'def f(text: str) -> int:\n    return len(text)\n',
    });
    const job = { table: 'python', function: fn, options: { python: python() }, commitsByDefault: true };
    const { request, context, events } = requestOf(job);
    const runners = { known: ['local', 'local-python'], load: loadRunner } as const;
    const plan = await planBackfill(request, signal, runners);
    assert.equal(plan.runner, 'local-python');
    assert.match(plan.others[0]?.reason ?? '', /Python/);
    const trial = await tryBackfill(request, signal);
    assert.ok(trial.rows > 0);
    const before = await table.version();
    await localPythonRunner.run(context);
    assert.ok((await table.version()) - before <= plan.versions!.value);
    const [planned] = eventsOf(events, 'planned');
    assert.equal(plan.rows.toCompute.value, planned?.rows);
    assert.equal(plan.fragments.toCompute.value, planned?.fragments);
    assert.equal(plan.rows.toCompute.value, eventsOf(events, 'succeeded')[0]?.rows);
    assert.equal(plan.bytes.read.basis, 'counted');
  });

  test('a key that two rows share is refused in a plan, with the value that they share', async () => {
    const table = await textTable(place.db, 'twice', { fragments: 2, rows: 200 });
    await table.add(rowsFrom(10, 1));
    const { request } = requestOf({ table: 'twice', function: sql, options: { key: 'id' } });
    await assert.rejects(planBackfill({ ...request, runner: 'local' }, signal, local), /more than one row has "10"/);
  });

  const dataBytes = (table: string): number => {
    const folder = join(root, `${table}.lance`, 'data');
    return readdirSync(folder).reduce((total, name) => total + statSync(join(folder, name)).size, 0);
  };
});
