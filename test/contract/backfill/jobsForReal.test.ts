import assert from 'node:assert/strict';
import { JobsProcess } from '#processes/jobsProcess.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { sqlName } from '#catalog/sqlText.ts';
import type { Catalog } from '#catalog/catalog.ts';
import { isJobError } from '#shared/jobs/jobErrors.ts';
import type { BackfillRequest } from '#shared/jobs/backfill.ts';
import type { JobView } from '#shared/jobs/jobView.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import { eventually } from '../eventually.ts';

const rows = 200;

// These tests use the same parts as VS Code: the bundles of the product, a real table, and the runner that needs no
// installation.
suite('A backfill that an editor asks for', function () {
  this.timeout(120_000);
  let root: string;
  let db: Catalog;
  let jobs: JobsProcess;
  const views = new Map<string, JobView>();
  const onChanged = (changed: readonly JobView[], removed: readonly string[]): void => {
    for (const view of changed) views.set(view.id, view);
    for (const id of removed) views.delete(id);
  };
  suiteSetup(async () => {
    root = tempFolder();
    db = await openDir({ root });
    await db.createTable(
      'words',
      Array.from({ length: rows }, (_, id) => ({ id: `k${id}`, text: 'x'.repeat(id) })),
    );
    const env = { XDG_DATA_HOME: tempFolder() };
    const node = { path: process.execPath, env: {} };
    jobs = await JobsProcess.start({ entry: inRoot('dist/jobs.cjs'), node, onChanged, env });
    await jobs.request('watch', null);
  });
  suiteTeardown(async () => {
    jobs.dispose();
    await db.close();
  });

  const table = () => ({ catalog: { implementation: 'dir', root }, namespacePath: [], name: 'words' }) as const;
  const ended = async (id: string): Promise<JobView> => {
    const isOver = (): void =>
      assert.ok(['succeeded', 'failed'].includes(views.get(id)?.state ?? ''), views.get(id)?.sentence);
    await eventually(isOver, 60);
    return views.get(id) as JobView;
  };

  const read = (expression: string) =>
    jobs.request('readFunction', { table: table(), column: 'no', source: { kind: 'sql', expression } });

  test('is defined, planned, tried, run and found in the table', async () => {
    const source = { kind: 'sql', expression: 'length(text)' } as const;
    const fn = await jobs.request('readFunction', { table: table(), column: 'size', source });
    assert.deepEqual(fn.inputs, ['text']);
    await jobs.request('register', { table: table(), column: 'size', function: fn });
    const [made] = await jobs.request('computedColumns', { table: table() });
    assert.deepEqual([made?.rows, made?.filled, made?.isStale], [rows, 0, false]);
    const request = { table: table(), column: 'size', runner: 'local', key: 'id' } as const;
    const plan = await jobs.request('plan', request);
    assert.deepEqual(plan.rows.toCompute, { value: rows, basis: 'counted' });
    assert.equal((await jobs.request('try', request)).errors, 0);
    const { id, joined } = await jobs.request('start', request);
    assert.ok(!joined);
    const done = await ended(id);
    assert.equal(done.state, 'succeeded', done.sentence);
    assert.equal(done.rows.done, rows);
    const opened = await db.openTable('words');
    assert.equal(await opened.countRows('size = length(text)'), rows);
    const [column] = await jobs.request('computedColumns', { table: table() });
    assert.deepEqual([column?.column, column?.filled, column?.isStale], ['size', rows, false]);
    assert.deepEqual(column?.complete, { rows, empty: 0 });
  });

  test('creates as many versions of the table as its plan says', async () => {
    const name = 'versions';
    const opened = await db.createTable(
      name,
      Array.from({ length: 40 }, (_, id) => ({ id: `k${id}`, text: 'x'.repeat(id) })),
    );
    const at = { ...table(), name };
    const source = { kind: 'sql', expression: 'length(text)' } as const;
    const made = await jobs.request('readFunction', { table: at, column: 'size', source });
    const versionsOfRun = async (request: BackfillRequest): Promise<readonly [planned: number, made: number]> => {
      const { versions } = await jobs.request('plan', request);
      assert.equal(versions?.basis, 'counted');
      const before = await opened.version();
      const view = await ended((await jobs.request('start', request)).id);
      assert.equal(view.state, 'succeeded', view.sentence);
      return [versions.value, (await opened.version()) - before];
    };
    const request = { table: at, column: 'size', runner: 'local', key: 'id' } as const;
    // The column, its function, the index of the key, the rows, the index again, and the mark of the column.
    assert.deepEqual(await versionsOfRun({ ...request, function: made }), [6, 6]);
    assert.deepEqual(await versionsOfRun(request), [0, 0], 'nothing is left to compute');
    await opened.add([{ id: 'new', text: 'four' }]);
    assert.deepEqual(await versionsOfRun(request), [4, 4], 'its function is stored already');
    assert.deepEqual(await versionsOfRun({ ...request, where: "id = 'k7'" }), [3, 3], 'rows that a condition selects');
  });

  test('fills a column whose name needs backticks in SQL', async () => {
    for (const column of ['total eur', 'größe']) {
      const source = { kind: 'sql', expression: 'length(text)' } as const;
      const made = await jobs.request('readFunction', { table: table(), column, source });
      const request = { table: table(), column, function: made, runner: 'local', key: 'id' } as const;
      const view = await ended((await jobs.request('start', request)).id);
      assert.equal(view.state, 'succeeded', view.sentence);
      assert.equal(await (await db.openTable('words')).countRows(`${sqlName(column)} = length(text)`), rows);
    }
  });

  test('refuses SQL that is not an expression of a row when it is defined', async () => {
    await assert.rejects(read('id; drop table'), /has a semicolon, but must be a single expression/);
    await assert.rejects(read('sum(length(text))'), /use no aggregate or window functions/);
    assert.deepEqual((await read("concat(text, ';')")).inputs, ['text']);
  });

  test('runs a function that came with it, keeps it on the table, and adds the column', async () => {
    const source = { kind: 'sql', expression: 'upper(id)' } as const;
    const fn = await jobs.request('readFunction', { table: table(), column: 'shout', source });
    const { id } = await jobs.request('start', {
      table: table(),
      column: 'shout',
      key: 'id',
      runner: 'local',
      function: fn,
    });
    const done = await ended(id);
    assert.equal(done.state, 'succeeded', done.sentence);
    const opened = await db.openTable('words');
    assert.equal(await opened.countRows('shout = upper(id)'), rows);
    const columns = await jobs.request('computedColumns', { table: table() });
    assert.equal(columns.find(({ column }) => column === 'shout')?.function.hash, fn.hash);
  });

  test('of a column without a function is refused before there is a job', async () => {
    const before = (await jobs.request('list', null)).length;
    await assert.rejects(jobs.request('start', { table: table(), column: 'text' }), (error) => {
      assert.ok(isJobError(error));
      assert.equal(error.kind, 'FunctionMissing');
      return true;
    });
    assert.equal((await jobs.request('list', null)).length, before);
  });

  test('with the code of another user runs only after it was accepted', async () => {
    const { withHash } = await import('#jobs/definition/hash.ts');
    const { registerFunction } = await import('#jobs/definition/registration.ts');
    const { output } = await jobs.request('readFunction', {
      table: table(),
      column: 'twice',
      source: { kind: 'sql', expression: 'length(text)' },
    });
    const code = 'export default (row) => row.text.length * 2;';
    const fn = withHash({
      kind: 'typescript',
      takes: 'row',
      code,
      source: code,
      name: 'twice',
      version: '1',
      inputs: ['text'],
      output,
      onError: { mode: 'fail' },
    });
    await registerFunction(await db.openTable('words'), 'twice', fn, { signal: AbortSignal.timeout(30_000) });
    const request = { table: table(), column: 'twice', key: 'id', runner: 'local' } as const;
    for (const method of ['start', 'try'] as const)
      await assert.rejects(
        jobs.request(method, request),
        (error) => isJobError(error) && error.kind === 'FunctionNotAccepted',
      );
    assert.equal(await jobs.request('isAccepted', { hash: fn.hash }), false);
    await jobs.request('accept', { hash: fn.hash });
    const { id } = await jobs.request('start', request);
    const done = await ended(id);
    assert.equal(done.state, 'succeeded', done.sentence);
    assert.equal(await (await db.openTable('words')).countRows('twice = 2 * length(text)'), rows);
  });
});
