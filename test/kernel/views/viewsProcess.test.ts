import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Table, tableFromIPC } from '#arrow';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { EngineProcess } from '#catalog/engineProcess.ts';
import { ViewsProcess } from '#processes/viewsProcess.ts';
import { isAbort, isCatalogError } from '#shared/errors.ts';
import { pageRows } from '#shared/mime.ts';
import type { ChangeKind, ChangesState } from '#shared/protocol/changes.ts';
import type {
  ExportRequest,
  SqlRequest,
  SqlResultState,
  ViewsCatalog,
  ViewState,
} from '#shared/protocol/viewsMessages.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { startServing } from '../../contract/serve/serving.ts';
import { isRunning } from '../../harness/running.ts';
import { tempFolder } from '../../harness/temp.ts';
import { node, sampleCatalog, until } from '../support.ts';

/** Counts endlessly, without reading a table. */
const endless =
  'with recursive counted(n) as (select 1 union all select n + 1 from counted) select count(*) from counted';

/** A million rows of several types, some of which are null. */
const million = `select range as id, 'row ' || range as name, if(range % 7 = 0, null, range / 4) as price,
  range % 2 = 0 as is_even, [range, null, range + 1] as list, timestamp '2026-01-01' + interval (range) second as "at"
from range(1000000)`;

/** Returns the child processes of a process that run a bundle. */
const childrenOf = (parent: number, bundle = 'sql.cjs'): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        const isChild = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(parent);
        return isChild && isRunning(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(bundle);
      } catch {
        // The process has ended meanwhile.
        return false;
      }
    });

/** Returns the temporary folders of SQL that processes have created. */
const foldersOf = (pids: readonly number[]): string[] =>
  readdirSync(tmpdir()).filter((name) => pids.some((pid) => name.startsWith(`lance-catalog-spill-${pid}-`)));

/** Returns the bytes of the files that a process has open although they have no name. */
const unnamedFiles = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/${pid}/fd/${fd}`);
      return /lance-catalog-spill-.*\(deleted\)$/.test(path) ? [path] : [];
    } catch {
      return [];
    }
  });

const withText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

/** Returns the rows of a table as plain values. */
const valuesOf = (table: Table): unknown[] =>
  table.toArray().map((row) => JSON.parse(JSON.stringify(row, withText)) as unknown);

/** Returns the ids in an Arrow file. */
const idsIn = (file: string): number[] => [...tableFromIPC(readFileSync(file)).getChild('id')!].map(Number);

type Note = { id: number; note: string | null };

/** Whether two rows are in the order of notes descending by bytes, nulls last, ties in the order of the table. Ids rise in it. */
function isInOrder(a: Note, b: Note): boolean {
  if (a.note === b.note) return a.id < b.id;
  if (a.note === null || b.note === null) return b.note === null;
  return Buffer.compare(Buffer.from(a.note), Buffer.from(b.note)) > 0;
}

suite('The views process', function () {
  this.timeout(60_000);
  let engine: EngineProcess;
  let catalog: ViewsCatalog;
  let views: ViewsProcess;
  const states = new Map<string, SqlResultState[]>();
  const progress = new Map<string, number>();
  const viewStates = new Map<string, ViewState[]>();
  const changesStates = new Map<string, ChangesState[]>();
  let lastId = 0;

  suiteSetup(async () => {
    engine = await EngineProcess.start({ entry: inRoot('dist/engine.cjs'), node });
    catalog = { implementation: 'engine', ...engine.address, root: await sampleCatalog() };
  });
  suiteTeardown(() => engine?.dispose());
  setup(async () => {
    states.clear();
    viewStates.clear();
    changesStates.clear();
    views = await ViewsProcess.start({
      entry: inRoot('dist/views.cjs'),
      node,
      onResult: (id, state) => states.set(id, [...(states.get(id) ?? []), state]),
      onExport: (id, rows) => progress.set(id, rows),
      onChanges: (id, state) => changesStates.set(id, [...(changesStates.get(id) ?? []), state]),
      onView: (id, state) => viewStates.set(id, [...(viewStates.get(id) ?? []), state]),
    });
  });
  teardown(() => views?.dispose());

  async function start(text: string, options: Partial<SqlRequest> = {}): Promise<string> {
    const id = `result ${++lastId}`;
    await views.request('startSql', { id, text, catalog, others: {}, mayWrite: false, maxBytes: 1e10, ...options });
    return id;
  }

  const stateOf = (id: string): SqlResultState | undefined => states.get(id)?.at(-1);

  const ended = (id: string): Promise<SqlResultState> =>
    until(
      'the end of the query',
      () => {
        const state = stateOf(id);
        return state && state.end !== 'running' ? state : undefined;
      },
      60,
    );

  const changesEnd = (id: string): Promise<ChangesState> =>
    until(
      'the end of the comparison',
      () => {
        const state = changesStates.get(id)?.at(-1);
        return state && state.end !== 'running' ? state : undefined;
      },
      60,
    );

  const page = async (id: string, first: number, end: number): Promise<Table> =>
    tableFromIPC(Buffer.from(await views.request('readRows', { id, start: first, end }), 'base64'));

  /** Returns the megabytes of memory that the process uses. */
  const memory = (): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${views.pid}/status`, 'utf8'))?.[1]) / 1024;

  test('reads tables of a directory through the engine process, and returns columns, rows and time', async () => {
    const id = await start('select count(*) as n, max(price) as most from shop.products');
    const { columns, rows, end, milliseconds } = await ended(id);
    assert.deepEqual(
      { names: columns?.map(({ name }) => name), rows, end },
      { names: ['n', 'most'], rows: 1, end: 'complete' },
    );
    assert.ok(milliseconds > 0);
    assert.equal((await page(id, 0, 1)).numRows, 1);
  });

  test('writes a table to a file and tells how far it is; a canceled export leaves no file', async () => {
    const folder = tempFolder();
    const orders = { catalog, path: ['shop', 'eu', 'orders'], version: null, where: '', orderBy: [] };
    const file = join(folder, 'orders.arrow');
    const { rows, bytes } = await views.request('exportTable', { id: 'whole', file, ...orders });
    assert.equal(bytes, statSync(file).size);
    assert.equal(tableFromIPC(readFileSync(file)).numRows, rows);
    const some = join(folder, 'some.arrow');
    const most = { where: 'quantity > 1', orderBy: [{ column: 'amount', descending: true }], version: 1 };
    await views.request('exportTable', { id: 'some', file: some, ...orders, ...most });
    const found = tableFromIPC(readFileSync(some));
    const amounts = [...found.getChild('amount')!].map(Number);
    assert.ok(found.numRows > 1 && found.numRows < rows, `${found.numRows} of ${rows} rows`);
    assert.ok([...found.getChild('quantity')!].every((quantity) => Number(quantity) > 1));
    assert.deepEqual(
      amounts,
      amounts.toSorted((a, b) => b - a),
    );
    rmSync(some);
    const stop = new AbortController();
    const json = join(folder, 'orders.json');
    const canceled = views.request('exportTable', { id: 'canceled', file: json, ...orders }, stop.signal);
    await until('some rows in the file', () => (progress.get('canceled') ?? 0) > 0, 60);
    stop.abort();
    await assert.rejects(canceled, isAbort);
    await until('the end of the export', () => readdirSync(folder).join() === 'orders.arrow', 60);
    await assert.rejects(
      views.request('exportTable', { id: 'wrong', file: join(folder, 'orders.txt'), ...orders }),
      (error) => isCatalogError(error, 'InvalidInput') && /ending of a known format/.test(error.message),
    );
  });

  test('writes files that others can read if the umask of the user allows it', async () => {
    const file = join(tempFolder(), 'orders.csv');
    const orders = { catalog, path: ['shop', 'eu', 'orders'], version: null, where: '', orderBy: [] };
    await views.request('exportTable', { id: 'readable', file, ...orders });
    assert.equal(statSync(file).mode & 0o777, 0o666 & ~process.umask());
  });

  test('writes selected rows of a table and of a view to a file, also if the view is closed meanwhile', async () => {
    const folder = tempFolder();
    const path = ['shop', 'eu', 'orders'];
    const table = { catalog, path, version: 1 };
    const orders = { ...table, where: '', orderBy: [] };
    const [plain, sorted] = [join(folder, 'plain.arrow'), join(folder, 'sorted.arrow')];
    const some = { view: null, start: 1_000, end: 3_500, columns: null };
    const { rows } = await views.request('exportTable', { id: 'plain', file: plain, ...orders, selection: some });
    assert.equal(rows, 2_500);
    assert.deepEqual(
      idsIn(plain),
      Array.from({ length: 2_500 }, (_, index) => 1_001 + index),
    );
    const view = { where: 'id <= 9000', orderBy: [{ column: 'id', descending: true }] };
    await views.request('openView', { ...table, id: 'sorted', view });
    const selection = { view: 'sorted', start: 10, end: 8_010, columns: ['note', 'id'] };
    const exported = views.request('exportTable', { id: 'sorted', file: sorted, ...orders, selection });
    await views.request('closeView', { id: 'sorted' });
    assert.equal((await exported).rows, 8_000);
    assert.deepEqual(
      idsIn(sorted),
      Array.from({ length: 8_000 }, (_, index) => 8_990 - index),
    );
    assert.deepEqual(
      tableFromIPC(readFileSync(sorted)).schema.fields.map(({ name }) => name),
      ['note', 'id'],
    );
    const again = views.request('exportTable', {
      id: 'again',
      file: join(folder, 'again.arrow'),
      ...orders,
      selection,
    });
    await assert.rejects(again, /no longer sorted or filtered/);
    assert.deepEqual(readdirSync(folder).toSorted(), ['plain.arrow', 'sorted.arrow']);
  });

  test('returns every page of a million rows as one query for all rows does', async () => {
    const id = await start(million);
    await until('some rows while the query runs', () => (states.get(id) ?? []).some(({ rows }) => rows > 0), 60);
    assert.equal((await ended(id)).rows, 1_000_000);
    const rows = 1_000_000;
    // Pages within a batch, over two batches, the first and the last one.
    for (const first of [0, pageRows, 65_536 - 10, 65_536, 131_072 - 499, 500_000, rows - pageRows]) {
      const [direct, paged] = await Promise.all([
        start(`select * from (${million}) where id >= ${first} and id < ${first + pageRows} order by id`),
        page(id, first, first + pageRows),
      ]);
      await ended(direct);
      assert.equal(paged.numRows, pageRows);
      assert.deepEqual(valuesOf(paged), valuesOf(await page(direct, 0, pageRows)), `the page from ${first}`);
    }
    let sum = 0n;
    for (let first = 0; first < rows; first += 20_000)
      for (const value of (await page(id, first, first + 20_000)).getChild('id')!) sum += value as bigint;
    assert.equal(sum, (999_999n * 1_000_000n) / 2n);
  });

  test('keeps the memory of this process flat while a result grows', async function () {
    if (process.platform !== 'linux') return this.skip();
    await ended(await start('select 1'));
    const before = memory();
    const id = await start("select range as id, 'a text with the number ' || range as name from range(5000000)");
    let most = 0;
    while (stateOf(id)?.end !== 'complete') {
      most = Math.max(most, memory());
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(stateOf(id)?.rows, 5_000_000);
    assert.ok(most - before < 200, `${Math.round(before)} MB before, ${Math.round(most)} MB at most`);
  });

  test('cancels a query that computes, at once, and keeps the rows that it has', async () => {
    const id = await start(endless);
    await until('the engine', () => process.platform !== 'linux' || childrenOf(views.pid!).length > 0);
    const started = performance.now();
    await views.request('cancelSql', { id });
    assert.ok(performance.now() - started < 5000);
    assert.equal((await ended(id)).end, 'canceled');
    const many = await start('select range as id from range(2000000000)');
    await until('rows', () => (stateOf(many)?.rows ?? 0) > 0);
    await views.request('cancelSql', { id: many });
    const { rows, end } = await ended(many);
    assert.equal(end, 'canceled');
    assert.equal((await page(many, rows - 10, rows)).numRows, 10);
  });

  test('reports an error with its place, and the next query works', async () => {
    const text = 'select name,\n  prise\nfrom shop.products';
    const { end, problem } = await ended(await start(text));
    assert.equal(end, 'failed');
    assert.equal(problem?.offset, text.indexOf('prise'));
    assert.match(problem?.message ?? '', /prise.*Columns of products: .*price/s);
    assert.doesNotMatch(problem?.message ?? '', /line \d/);
    assert.equal((await ended(await start('select 1'))).end, 'complete');
  });

  test('writes only if the user has allowed it', async () => {
    const text = 'create table shop.few as select * from shop.products limit 3';
    assert.deepEqual(await views.request('readPurpose', { text }), {
      kind: 'write',
      effect: 'create',
    });
    assert.match((await ended(await start(text))).problem?.message ?? '', /The statement writes a table/);
    assert.equal((await ended(await start(text, { mayWrite: true }))).end, 'complete');
    const id = await start('select * from shop.few');
    assert.equal((await ended(id)).rows, 3);
  });

  test('says which table a statement writes, also in another connection', async () => {
    const root = join(tempFolder(), 'catalog');
    cpSync(await sampleCatalog(), root, { recursive: true });
    const other: ViewsCatalog = { implementation: 'engine', ...engine.address, root };
    const request = { id: '', catalog, others: { company: other }, mayWrite: false, maxBytes: 0 };
    const targetOf = (text: string) => views.request('findTarget', { ...request, text });
    assert.deepEqual(await targetOf('create table shop.new as select 1 as a'), { connection: null, table: 'shop.new' });
    assert.deepEqual(await targetOf('create table company.shop.new as select 1 as a'), {
      connection: 'company',
      table: 'shop.new',
    });
    assert.deepEqual(await targetOf('insert into company."shop/eu".orders select 1'), {
      connection: 'company',
      table: 'shop.eu.orders',
    });
    await assert.rejects(
      targetOf('insert into company.shop.nothing select 1'),
      /There is no table company.shop.nothing/,
    );
  });

  test('stops at the maximum size of all results, and keeps the rows that it has', async () => {
    const maxBytes = 4_000_000;
    const many = 'select range as id from range(100000000)';
    const first = await start(many, { maxBytes });
    const { end, rows, problem } = await ended(first);
    assert.equal(end, 'full');
    assert.match(
      problem?.message ?? '',
      /use all 4 MB of disk space.*Add a limit.*lanceCatalog.sql.maxResultGigabytes/,
    );
    assert.ok(rows > 100_000 && rows < 5_000_000, `${rows} rows`);
    assert.deepEqual(valuesOf(await page(first, rows - 1, rows)), [{ id: String(rows - 1) }]);
    // The bound is that of all results, so another one has room only after the first one was closed.
    const second = await start(many, { maxBytes });
    assert.deepEqual(((state) => [state.end, state.rows])(await ended(second)), ['full', 0]);
    await views.request('closeResult', { id: first });
    await views.request('closeResult', { id: second });
    assert.equal((await ended(await start('select 1 as one', { maxBytes }))).end, 'complete');
    assert.equal(unnamedFiles(views.pid!).length, process.platform === 'linux' ? 1 : 0);
  });

  test('places the error of a missing table at its name', async () => {
    const text = "select 'ä', 1\nfrom shop.products p\njoin shop.produkts q on true";
    const { problem } = await ended(await start(text));
    assert.match(problem?.message ?? '', /There is no table shop.produkts.*Did you mean shop.products\?/);
    assert.equal(problem?.offset, text.indexOf('shop.produkts'));
  });

  test('reads tables of other connections by their names', async () => {
    const id = await start('select count(*) from "company".shop.products', { others: { company: catalog } });
    assert.equal((await ended(id)).end, 'complete');
    const other = await start('select count(*) from "nobody".shop.products');
    assert.equal((await ended(other)).end, 'failed');
  });

  test('reads a server with a key, and says what to do if the key is rejected', async () => {
    const server = await startServing(await sampleCatalog());
    try {
      const rest = { implementation: 'rest', uri: server.uri, apiKey: server.key, database: 'default' } as const;
      const id = await start('select count(*) as n from shop.products', { catalog: rest });
      const { end, problem } = await ended(id);
      assert.equal(end, 'complete', problem?.message);
      const keyHint = 'Choose another key.';
      const refused = await start('select 1 from shop.products', { catalog: { ...rest, apiKey: 'wrong', keyHint } });
      const message = (await ended(refused)).problem?.message ?? '';
      assert.match(message, /Choose another key\./);
      assert.doesNotMatch(message, /wrong/);
    } finally {
      await server.close();
    }
  });

  test('has no secret in its arguments and its environment, nor has its SQL engine', async function () {
    if (process.platform !== 'linux') return this.skip();
    await ended(await start('select count(*) from shop.products'));
    const pids = [views.pid!, ...childrenOf(views.pid!)];
    assert.equal(pids.length, 2);
    for (const pid of pids)
      for (const file of ['cmdline', 'environ'])
        assert.ok(!readFileSync(`/proc/${pid}/${file}`, 'utf8').includes(engine.address.secret), file);
  });

  test('returns a plan without running the query', async () => {
    const request = { id: '', catalog, others: {}, mayWrite: false, maxBytes: 0 };
    const found = await views.request('explainSql', { ...request, text: `select count(*) from (${endless})` });
    assert.match('plan' in found ? found.plan : '', /RECURSIVE_CTE|REC_CTE/i);
    const text = 'select prise from shop.products';
    const failed = await views.request('explainSql', { ...request, text });
    assert.equal('problem' in failed && failed.problem.offset, text.indexOf('prise'));
  });

  test('finds syntax errors of several statements, and runs none', async () => {
    const texts = ['select 1', 'select from where', 'drop table shop.products', 'create table shop.x as selec 1'];
    const [good, bad, unsupported, inWrite] = await views.request('checkSyntax', { texts });
    assert.equal(good, null);
    assert.equal(bad?.offset, texts[1]!.indexOf('where'));
    assert.match(unsupported?.message ?? '', /got "drop"/);
    assert.equal(inWrite?.offset, texts[3]!.indexOf('selec'));
  });

  test('reports that the engine was killed, and the next query has another engine', async function () {
    if (process.platform !== 'linux') return this.skip();
    const id = await start(endless);
    const [pid = 0] = await until('the engine', () => {
      const found = childrenOf(views.pid!);
      return found.length > 0 ? found : undefined;
    });
    process.kill(pid, 'SIGKILL');
    assert.match((await ended(id)).problem?.message ?? '', /The SQL process has ended: killed by SIGKILL/);
    assert.equal((await ended(await start('select 1'))).end, 'complete');
  });

  test('deletes the rows of a closed result, and its file never has a name', async function () {
    if (process.platform !== 'linux') return this.skip();
    const id = await start('select range from range(100000)');
    await ended(id);
    assert.equal(unnamedFiles(views.pid!).length, 1);
    assert.deepEqual(
      foldersOf([views.pid!]).filter((name) => readdirSync(join(tmpdir(), name)).includes('rows')),
      [],
    );
    await views.request('closeResult', { id });
    assert.equal(unnamedFiles(views.pid!).length, 0);
    await assert.rejects(views.request('readRows', { id, start: 0, end: 1 }), (error) =>
      isCatalogError(error, 'InvalidInput'),
    );
  });

  for (const [how, end] of [
    ['closes', (one: ViewsProcess) => one.closePipe()],
    ['disposes it', (one: ViewsProcess) => one.dispose()],
  ] as const)
    test(`leaves no process and no file when its window ${how}`, async function () {
      if (process.platform !== 'linux') return this.skip();
      const many = await start('select range as id from range(2000000000)');
      await until('rows', () => (stateOf(many)?.rows ?? 0) > 0);
      const pids = [views.pid!, ...childrenOf(views.pid!)];
      assert.equal(pids.length, 2);
      end(views);
      await until('their ends', () => pids.every((pid) => !isRunning(pid)));
      await until('the removal of the folders', () => foldersOf(pids).length === 0);
    });

  test('leaves no process and no file when its window is killed', async function () {
    if (process.platform !== 'linux') return this.skip();
    const window = spawn(process.execPath, [inRoot('test/kernel/views/killedWindow.ts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (
      await new Promise<string>((resolve, reject) => {
        window.once('error', reject).once('exit', () => reject(new Error('The window has ended.')));
        window.stdout.setEncoding('utf8').once('data', resolve);
      })
    ).split('\n');
    const pid = Number(line);
    const pids = [pid, ...childrenOf(pid)];
    assert.ok(pid > 0);
    window.kill('SIGKILL');
    await until('their ends', () => pids.every((each) => !isRunning(each)));
    await until('the removal of the folders', () => foldersOf(pids).length === 0);
  });

  test('refuses parameters of another shape', async () => {
    const request = {
      id: 'x',
      text: 'select 1',
      catalog: { implementation: 'engine', root: '/' },
      others: {},
      mayWrite: true,
    };
    await assert.rejects(views.request('startSql', request as never), /invalid parameters/);
    await assert.rejects(views.request('readRows', { id: 'x', start: -1, end: 1 }), /invalid parameters/);
  });

  const viewed = (name: string, version: number) => ({ catalog, path: ['shop', 'eu', name], version });

  /** Waits until all rows of a view are listed, and returns their number. */
  const listed = async (id: string): Promise<number> => {
    await until(`the rows of ${id}`, () => viewStates.get(id)?.at(-1)?.end === 'complete');
    return viewStates.get(id)!.at(-1)!.rows;
  };

  test('a view has its first rows at once and then all, each on one page, by the rule of the order', async () => {
    const table = { ...viewed('orders', 1), id: 'view' };
    const where = 'id <= 30000';
    const first = await views.request('openView', {
      ...table,
      view: { where, orderBy: [{ column: 'note', descending: true }] },
    });
    assert.deepEqual(first, { rows: pageRows, listed: 0, end: 'running' });
    const read = async (from: number, to: number): Promise<Note[]> => {
      const text = await views.request('readView', { id: 'view', start: from, end: to, columns: ['note', 'id'] });
      return valuesOf(tableFromIPC(Buffer.from(text, 'base64'))).map((row) => {
        const { id, note } = row as { id: string; note: string | null };
        return { id: Number(id), note };
      });
    };
    const early = await read(0, pageRows);
    assert.equal(await listed('view'), 30_000);
    const rows: Note[] = [];
    for (let at = 0; at < 30_000; at += 1_500) rows.push(...(await read(at, at + 1_500)));
    assert.deepEqual(rows.slice(0, pageRows), early);
    assert.equal(new Set(rows.map(({ id }) => id)).size, 30_000);
    assert.ok(rows.some(({ note }) => note === null));
    assert.ok(rows.every((row, index) => index === 0 || isInOrder(rows[index - 1]!, row)));
    const filter = { ...table, where, row: 29_999, column: 'note', isOther: false };
    assert.equal(await views.request('filterByCell', filter), 'id <= 30000 AND `note` IS NULL');
    assert.equal(
      await views.request('filterByCell', { ...filter, id: null, row: 6, column: 'id', isOther: true }),
      'id <= 30000 AND (`id` <> 7 OR `id` IS NULL)',
    );
    await views.request('closeView', { id: 'view' });
    await assert.rejects(read(0, 1), /no longer sorted or filtered/);
  });

  test('a view names a wrong filter, and a view of few rows needs no list', async () => {
    const table = viewed('orders', 1);
    const open = (id: string, where: string) =>
      views.request('openView', { ...table, id, view: { where, orderBy: [] } });
    await assert.rejects(open('wrong', 'nothing = 1'), /has no column "nothing"/);
    assert.deepEqual(await open('wrong', 'id < 4'), { rows: 3, listed: 3, end: 'complete' });
    assert.equal(viewStates.size, 0);
  });

  test('a view of a table on a server has its rows in order', async () => {
    const server = await startServing(await sampleCatalog());
    try {
      const rest = { implementation: 'rest', uri: server.uri, apiKey: server.key, database: 'default' } as const;
      const first = await views.request('openView', {
        ...viewed('orders', 1),
        catalog: rest,
        id: 'served',
        view: { where: 'id > 990000', orderBy: [{ column: 'amount', descending: true }] },
      });
      assert.equal(first.rows, pageRows);
      assert.equal(await listed('served'), 10_000);
      const text = await views.request('readView', { id: 'served', start: 0, end: 10_000, columns: ['id', 'amount'] });
      const rows = valuesOf(tableFromIPC(Buffer.from(text, 'base64'))) as { id: string; amount: number }[];
      assert.equal(new Set(rows.map(({ id }) => id)).size, 10_000);
      for (const [index, { id, amount }] of rows.entries()) {
        const before = rows[index - 1];
        if (!before) continue;
        assert.ok(before.amount > amount || (before.amount === amount && Number(before.id) < Number(id)), id);
      }
    } finally {
      await server.close();
    }
  });

  test('compares two versions of a table, and reads the rows of each kind in pages', async () => {
    const root = tempFolder();
    const db = await openDir({ root });
    const table = await db.createTable(
      't',
      Array.from({ length: 3_000 }, (_, id) => ({ id, name: id % 3 === 0 ? null : `row ${id}` })),
    );
    await table.update({ where: 'id % 2 = 1', values: { name: 'other' } });
    await table.delete('id % 1000 = 4');
    await table.add([{ id: 5_000, name: 'new' }]);
    const version = await table.version();
    const own: ViewsCatalog = { implementation: 'engine', ...engine.address, root };
    const tables = { catalog: own, before: { path: ['t'], version: 1 }, after: { path: ['t'], version } };
    assert.equal(await views.request('hasRowIds', tables), false);
    const opened = await views.request('openChanges', { id: 'c', ...tables, key: ['id'] });
    assert.deepEqual(
      [opened.columns.map(({ name }) => name), opened.numShown, opened.columnChanges],
      [['change', 'id', 'name', 'changed', 'name_before'], 3, []],
    );
    const state = await changesEnd('c');
    const counts = { added: 1, removed: 3, changed: 1_500 };
    const all = { rowsRead: 5_998, rowsTotal: 5_998, compared: 3_001, end: 'complete' };
    assert.deepEqual(state, { counts, readable: counts, ...all });
    const read = async (kind: ChangeKind | null, first: number, end: number, columns?: string[]) =>
      valuesOf(
        tableFromIPC(
          Buffer.from(
            await views.request('readChanges', { id: 'c', kind, start: first, end, ...(columns && { columns }) }),
            'base64',
          ),
        ),
      );
    assert.deepEqual(await read('removed', 1, 3, ['change', 'id']), [
      { change: 'removed', id: 1_004 },
      { change: 'removed', id: 2_004 },
    ]);
    assert.deepEqual(await read('added', 0, 1), [
      { change: 'added', id: 5_000, name: 'new', changed: null, name_before: null },
    ]);
    const changed = { change: 'changed', name: 'other', changed: ['name'] };
    assert.deepEqual(
      await read('changed', 700, 702),
      [
        { ...changed, id: 1_401, name_before: null },
        { ...changed, id: 1_403, name_before: 'row 1403' },
      ].map(({ change, id, name, changed: names, name_before }) => ({ change, id, name, changed: names, name_before })),
    );
    const ids = (await read(null, 0, 1_504, ['id'])).map((row) => (row as { id: number }).id);
    assert.deepEqual(
      ids,
      ids.toSorted((a, b) => a - b),
    );
    await views.request('closeChanges', { id: 'c' });
    await assert.rejects(read(null, 0, 1), /The comparison was closed/);
  });

  test('writes differences to a file: those of a kind, selected ones, and all, also if they are not kept', async () => {
    const [root, folder] = [tempFolder(), tempFolder()];
    const db = await openDir({ root });
    const table = await db.createTable(
      't',
      Array.from({ length: 3_000 }, (_, id) => ({ id, name: id % 3 === 0 ? null : `row ${id}`, size: id })),
    );
    await table.update({ where: 'id % 2 = 1', values: { name: 'other' } });
    await table.delete('id % 1000 = 4');
    const version = await table.version();
    const own: ViewsCatalog = { implementation: 'engine', ...engine.address, root };
    const compared = { id: 'c', before: { path: ['t'], version: 1 }, after: { path: ['t'], version }, key: ['id'] };
    await views.request('openChanges', { catalog: own, ...compared });
    await changesEnd('c');
    const rest = { catalog: own, path: ['t'], version, where: '', orderBy: [] };
    const write = (
      name: string,
      kind: ChangeKind | null,
      more: Partial<ExportRequest> & { changesId?: string } = {},
    ) => {
      const { changesId: id = 'c', ...others } = more;
      const file = join(folder, name);
      return views.request('exportTable', { id: name, file, ...rest, ...others, changes: { ...compared, id, kind } });
    };
    assert.equal((await write('removed.jsonl', 'removed')).rows, 3);
    assert.equal(
      readFileSync(join(folder, 'removed.jsonl'), 'utf8').split('\n')[1],
      '{"change":"removed","id":1004,"name":"row 1004","size":1004,"changed":null,"name_before":null,"size_before":null}',
    );
    // The key, the kind and the value before are with a selected column.
    const selection = { view: null, start: 700, end: 1_301, columns: ['name'] };
    const selected = write('selected.csv', 'changed', { selection });
    await views.request('closeChanges', { id: 'c' });
    assert.equal((await selected).rows, 601);
    const lines = readFileSync(join(folder, 'selected.csv'), 'utf8').split(/\r?\n/);
    assert.deepEqual(lines.slice(0, 3), [
      'change,id,name,changed,name_before',
      'changed,1401,other,"[""name""]",',
      'changed,1403,other,"[""name""]",row 1403',
    ]);
    await assert.rejects(write('closed.csv', 'changed', { selection }), /The comparison was closed/);
    // A comparison that is closed, canceled or too large is computed again.
    const { rows } = await write('all.arrow', null);
    const all = tableFromIPC(readFileSync(join(folder, 'all.arrow')));
    assert.deepEqual([rows, all.numRows], [1_503, 1_503]);
    const names = all.schema.fields.map(({ name }) => name);
    assert.deepEqual(names, ['change', 'id', 'name', 'size', 'changed', 'name_before', 'size_before']);
    assert.equal((await write('again.parquet', 'changed', { changesId: 'unknown' })).rows, 1_500);
    const stop = new AbortController();
    stop.abort();
    const canceled = { id: 'x', file: join(folder, 'x.csv'), ...rest, changes: { ...compared, kind: null } };
    await assert.rejects(views.request('exportTable', canceled, stop.signal), isAbort);
    await assert.rejects(write('wrong.txt', null), /ending of a known format/);
    assert.deepEqual(readdirSync(folder).toSorted(), ['again.parquet', 'all.arrow', 'removed.jsonl', 'selected.csv']);
  });

  test('says why a comparison has failed, and keeps the rows of a canceled one', async () => {
    const orders = { path: ['shop', 'eu', 'orders'], version: 1 };
    const products = { path: ['shop', 'products'], version: 1 };
    await assert.rejects(
      views.request('openChanges', { id: 'two', catalog, before: orders, after: products, key: null }),
      /need a key/,
    );
    const twice = { id: 'twice', catalog, before: products, after: products, key: ['in_stock'] };
    await views.request('openChanges', twice);
    const failed = await changesEnd('twice');
    assert.equal(failed.end, 'failed');
    assert.match(failed.problem ?? '', /Several rows of "products" have the value/);
    await views.request('openChanges', { ...twice, id: 'stopped', key: ['id'] });
    await views.request('cancelChanges', { id: 'stopped' });
    const stopped = await changesEnd('stopped');
    assert.ok(stopped.end === 'canceled' || stopped.rowsRead === stopped.rowsTotal, JSON.stringify(stopped));
    await views.request('closeChanges', { id: 'stopped' });
  });
});
