import assert from 'node:assert/strict';
import { join } from 'node:path';
import { tableFromIPC } from '#arrow';
import { localPythonRunner, planWithPython, tryWithPython } from '#jobs/runners/pythonRunner.ts';
import type { NewEvent, RunContext } from '#jobs/runners/runner.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import { python } from '../../../harness/needs/python.ts';
import { tempFolder } from '../../../harness/temp.ts';
import { BackfillTables } from '../backfillTables.ts';
import { functionOf, pythonRow, specOf, sql, typescriptRow } from '../driver/driving.ts';

suite('the runner local-python', function () {
  this.timeout(120_000);
  const { signal } = new AbortController();
  let tables: BackfillTables;
  suiteSetup(() => void (tables = new BackfillTables()));
  suiteTeardown(async () => tables.stop());

  async function makeJob(fn = functionOf(sql('length(text)'))) {
    const folder = tempFolder();
    const at = { uri: join(folder, 't.lance') };
    await tables.make(at, { fragments: 2, rows: 50, delete: 'id = 7' });
    const request: BackfillRequest = {
      table: { catalog: { implementation: 'dir', root: folder }, namespacePath: [], name: 't' },
      column: 'c',
      function: fn,
      python: python(),
    };
    return { at, request, spec: specOf(at, fn) };
  }

  function contextOf({ spec, request }: Awaited<ReturnType<typeof makeJob>>) {
    const events: NewEvent[] = [];
    const log: string[] = [];
    const context: RunContext = {
      spec,
      request,
      emit: (event) => void events.push(event),
      log: (text) => void log.push(text),
      folder: tempFolder(),
      kept: { get: () => undefined, set: () => {} },
      signal,
    };
    return { context, events, log };
  }

  test('runs a job to its end and tells it', async () => {
    const job = await makeJob();
    const { context, events } = contextOf(job);
    await localPythonRunner.run(context);
    assert.equal((await tables.check(job.at, 'c', 'length')).wrong, 0);
    assert.equal(events.at(-1)?.kind, 'succeeded');
    assert.ok(events.every((event) => !('at' in event)));
  });

  test('puts what the function prints into the log and takes none of it for an event', async () => {
    const lie = '@@{"kind":"succeeded","at":1,"rows":9,"errors":0,"skipped":0,"bytes_written":1,"version":1}';
    const job = await makeJob(
      functionOf(pythonRow(`def f(text):\n    print('hello from f')\n    print('''${lie}''')\n    return 1\n`)),
    );
    const { context, events, log } = contextOf(job);
    await localPythonRunner.run(context);
    assert.match(log.join(''), /hello from f/);
    assert.equal(events.filter(({ kind }) => kind === 'succeeded').length, 1);
    const end = events.at(-1);
    assert.ok(end?.kind === 'succeeded' && end.rows === 99);
  });

  test('throws what the driver failed with', async () => {
    const job = await makeJob(functionOf(pythonRow('def f(text):\n    raise KeyError("k")\n')));
    const { context, events } = contextOf(job);
    await assert.rejects(
      localPythonRunner.run(context),
      (error) => isJobError(error) && error.kind === 'FunctionFailed',
    );
    assert.ok(events.every(({ kind }) => kind !== 'failed'));
  });

  test('says which Python it would take', async () => {
    const { request } = await makeJob();
    const { isPossible, reason } = await localPythonRunner.availability(request, signal);
    assert.ok(isPossible, reason);
    assert.ok(reason.includes(python()));
  });

  test('says why a Python will not do', async () => {
    const { request } = await makeJob();
    const { isPossible, reason } = await localPythonRunner.availability({ ...request, python: '/bin/false' }, signal);
    assert.equal(isPossible, false);
    assert.match(reason, /\/bin\/false.*does not run/);
  });

  test('is not for tables that only a server reaches', async () => {
    const { request } = await makeJob();
    const table = { ...request.table, catalog: { implementation: 'rest' as const, uri: 'http://127.0.0.1:9' } };
    assert.equal((await localPythonRunner.availability({ ...request, table }, signal)).isPossible, false);
  });

  test('counts in a plan what a run would do', async () => {
    const { spec } = await makeJob();
    const plan = await planWithPython(spec, { python: python(), folder: tempFolder(), log: () => {}, signal });
    const { rows, physicalRows, totalFragments, fragments, reusedRows } = plan;
    assert.deepEqual(
      { rows, physicalRows, totalFragments, fragments, reusedRows },
      { rows: 99, physicalRows: 100, totalFragments: 2, fragments: [0, 1], reusedRows: 0 },
    );
    assert.ok(Number(plan.inputBytes) > 0);
  });

  test('tries a TypeScript function on one fragment, and shows rows before and after', async () => {
    const fn = functionOf(typescriptRow('export default (row) => row.text === null ? null : [...row.text].length;'));
    const { spec } = await makeJob(fn);
    const tools = { python: python(), folder: tempFolder(), log: () => {}, signal, rows: 10 };
    const trial = await tryWithPython(spec, tools);
    const [before, after] = [trial.before, trial.after].map((text) => tableFromIPC(Buffer.from(text, 'base64')));
    assert.equal(trial.rows, 49);
    assert.deepEqual(
      after?.schema.fields.map(({ name }) => name),
      ['text', 'c'],
    );
    assert.equal(after?.numRows, 10);
    const texts = [...(after?.getChild('text') ?? [])] as (string | null)[];
    assert.deepEqual(
      [...(after?.getChild('c') ?? [])],
      texts.map((text) => (text === null ? null : Array.from(text).length)),
    );
    assert.equal(before?.getChild('c')?.nullCount, 10);
  });
});
