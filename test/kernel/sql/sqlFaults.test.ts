import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Int64, Table, Utf8, vectorFromArray, type RecordBatch } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { isCatalogError } from '#shared/errors.ts';
import { runStatement } from '#sql/runStatement.ts';
import { openSqlEngine, type SqlEngine, type WatchedScan } from '#sql/sqlEngine.ts';
import { fullKey, type ServeProcess, startServe, writeKeys } from '../../contract/serve/serveProcess.ts';
import { tempFolder } from '../../harness/temp.ts';
import { errorOf, run, startKernel, until, valueOf } from '../support.ts';

const rows = 400_000;
const manyRows = (): Table =>
  new Table({
    id: vectorFromArray(
      Array.from({ length: rows }, (_, row) => BigInt(row)),
      new Int64(),
    ),
    name: vectorFromArray(
      Array.from({ length: rows }, (_, row) => `the name of row ${row} is long`),
      new Utf8(),
    ),
  });

/** Returns the processes of the SQL engine of this process, the newest last. */
const processes = (): number[] =>
  readdirSync(tmpdir()).some((name) => name.startsWith(`lance-catalog-spill-${process.pid}-`))
    ? spawnSync('pgrep', ['-P', String(process.pid), '-f', 'sql.cjs'], { encoding: 'utf8' })
        .stdout.split('\n')
        .filter(Boolean)
        .map(Number)
    : [];

/** Whether an error is one sentence about what happened and a next step, without a word of the engine. */
function isPlain(error: unknown, message: RegExp): true {
  assert.match(String(error), message);
  assert.doesNotMatch(String(error), /\n|Exception|errno|lance-catalog-sql|duckdb/i);
  return true;
}

suite('Faults below a query', function () {
  this.timeout(120_000);
  const engine = openSqlEngine();
  let db: Catalog;
  let root: string;

  suiteSetup(async () => {
    if (process.platform !== 'linux') return;
    registerRest();
    root = tempFolder();
    db = await openDir({ root });
    await db.createTable('many', manyRows());
  });
  setup(function () {
    if (process.platform !== 'linux') this.skip();
  });
  suiteTeardown(() => db?.close());

  type Asked = { catalog?: Catalog; using?: SqlEngine; during?: (rows: number) => unknown; signal?: AbortSignal };

  async function count(text: string, { catalog = db, using = engine, during, signal }: Asked = {}): Promise<number> {
    async function* watch({ batches }: WatchedScan): AsyncGenerator<RecordBatch> {
      let read = 0;
      await during?.(read);
      for await (const batch of batches) {
        read += batch.numRows;
        await during?.(read);
        yield batch;
      }
    }
    const given = { text, catalog, watch };
    const { batches } = await runStatement(using, given, signal ?? new AbortController().signal);
    let found = 0;
    for await (const batch of batches) found += batch.numRows;
    return found;
  }

  test('a disk that is full of temporary data is an error with a next step, and the next query works', async () => {
    const using = openSqlEngine({ memoryBytes: 64 * 1024 * 1024 });
    assert.equal(await count('select 1 as one', { using }), 1);
    const [pid] = processes().slice(-1);
    // No test fills the disk of a machine; for the engine, a limit of the size of its files is the same as a full disk.
    const limited = spawnSync('prlimit', ['--pid', String(pid), '--fsize=1000000:1000000']);
    assert.equal(limited.status, 0, String(limited.stderr));
    const sorted = 'select a.name, b.name from many a, (select * from many limit 10) b order by a.name desc, b.name';
    await assert.rejects(count(sorted, { using }), (error) =>
      isPlain(
        error,
        /^CatalogError: The query (?:could not write temporary data|needs more memory and temporary disk).*\. (?:Free space|Select fewer) /,
      ),
    );
    assert.equal(await count('select id from many limit 3', { using }), 3);
  });

  test('a folder for temporary data that can not be created is an error with a next step', async () => {
    const before = process.env['TMPDIR'];
    for (const pid of processes()) process.kill(pid, 'SIGKILL');
    await until('their end', () => processes().length === 0);
    process.env['TMPDIR'] = join(root, 'missing');
    try {
      await assert.rejects(count('select 1 as one'), (error) => {
        assert.match(String(error), /Can't create a folder for temporary data.*set the environment variable TMPDIR/);
        return isCatalogError(error, 'ServiceUnavailable');
      });
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
    assert.equal(await count('select 1 as one'), 1);
  });

  test('a server that is killed while a query reads is an error with a next step', async () => {
    const server = await startServe(['--root', root, '--keys', writeKeys([['all', fullKey, 'read-write', '*']])]);
    const catalog = await connectNamespace('rest', { uri: server.address, apiKey: fullKey, retries: 0 });
    const during = async (read: number): Promise<void> => {
      if (read === 0 || read > 100_000) return;
      server.kill('SIGKILL');
      await server.exited;
    };
    await assert.rejects(count('select max(name) from many', { catalog, during }), (error) => {
      assert.ok(isCatalogError(error, 'ServiceUnavailable'), String(error));
      return isPlain(error, /^CatalogError: .*\. [A-Z]/);
    });
    await catalog.close();
    assert.equal(await count('select id from many limit 3'), 3);
  });

  test('an engine that is killed while a table gives no batch is an error with a next step', async () => {
    let isKilled = false;
    const during = async (read: number): Promise<void> => {
      if (read === 0 || isKilled) return;
      isKilled = true;
      for (const pid of processes()) process.kill(pid, 'SIGKILL');
      await until('their end', () => processes().length === 0);
    };
    await assert.rejects(count('select max(name) from many', { during }), (error) =>
      isPlain(error, /The SQL process has ended: killed by SIGKILL\. Run the query again/),
    );
    assert.equal(await count('select id from many limit 3'), 3);
  });

  test('columns that change below a query are an error with a next step', async () => {
    for (const [change, text] of [
      [async (name: string) => (await db.openTable(name)).dropColumns(['b']), 'select max(b) from '],
      [
        async (name: string) => void (await db.createTable(name, [{ a: 1, b: 'text' }], { mode: 'overwrite' })),
        'select sum(b) from ',
      ],
      [async (name: string) => db.dropTable(name), 'select sum(b) from '],
    ] as const) {
      const name = `changed${Math.random().toString(36).slice(2)}`;
      await db.createTable(name, [{ a: 1, b: 2 }]);
      let isDone = false;
      const during = async (): Promise<void> => {
        if (isDone) return;
        isDone = true;
        await change(name);
      };
      await assert.rejects(count(text + name, { during }), (error) => isPlain(error, /^CatalogError: .*\. [A-Z]/));
      assert.equal(await count('select id from many limit 3'), 3);
    }
  });

  test('a server that hangs is left by an interrupt, and the variables stay', async () => {
    const server: ServeProcess = await startServe([
      '--root',
      root,
      '--keys',
      writeKeys([['all', fullKey, 'read-write', '*']]),
    ]);
    const kernel = await startKernel({ catalog: { implementation: 'rest', uri: server.address, apiKey: fullKey } });
    try {
      assert.equal(await valueOf(kernel, 'let kept = 5; (await sql`select id from many limit 1`).numRows'), '1');
      server.kill('SIGSTOP');
      const running = run(kernel, '%%sql\nselect max(name) from many');
      // The cell waits for the server, which answers nothing.
      await new Promise((resolve) => setTimeout(resolve, 300));
      const interrupted = await kernel.interrupt();
      assert.equal(interrupted.status, 'ok');
      assert.equal(errorOf((await running).outputs)?.ename, 'Interrupted');
      server.kill('SIGCONT');
      assert.equal(await valueOf(kernel, '(await sql`select max(name) as m from many`).numRows + kept'), '6');
    } finally {
      server.kill('SIGCONT');
      await kernel.shutdown();
      await server.stop();
    }
  });
});
