import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DataType, Float64, Int32, Int64, type RecordBatch, Table, Utf8, vectorFromArray } from '#arrow';
import { typeText } from '#shared/arrow/arrowTypes.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { openSqlEngine, type SqlEngine } from '#sql/sqlEngine.ts';
import { RemoteError } from '#shared/protocol/rpc.ts';
import { positionOf, toUserError } from '#sql/sqlErrors.ts';
import type { Parameter } from '#sql/messages.ts';
import { arrowTable, type ScanRequest, type SqlTable } from '#sql/sqlTable.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import { until } from '../support.ts';

const usual = openSqlEngine();

type Asked = { engine?: SqlEngine; table?: SqlTable; signal?: AbortSignal; parameters?: Parameter[] };

async function rowsOf(
  text: string,
  { engine = usual, table = numbers(10), signal, parameters }: Asked = {},
): Promise<unknown[]> {
  const find = async () => table;
  const query = { text, parameters, tables: { find } };
  const { schema, batches } = await engine.query(query, signal ?? new AbortController().signal);
  const all: RecordBatch[] = [];
  for await (const batch of batches) all.push(batch);
  return new Table(schema, all).toArray().map((row) => Object.values(row.toJSON() as object));
}

const columns = (start: number, rows: number): Table =>
  new Table({
    id: vectorFromArray(
      Array.from({ length: rows }, (_, row) => BigInt(start + row)),
      new Int64(),
    ),
    name: vectorFromArray(
      Array.from({ length: rows }, (_, row) => `the name of row ${start + row}`),
      new Utf8(),
    ),
    price: vectorFromArray(
      Array.from({ length: rows }, (_, row) => row / 4),
      new Float64(),
    ),
  });

const numbers = (rows: number): SqlTable => arrowTable('numbers', columns(0, rows));

/** A table of many batches that records what is read of it. */
class ManyBatches implements SqlTable {
  readonly name = 'many';
  readonly schema = columns(0, 1).schema;
  readonly rows: number;
  readonly requests: ScanRequest[] = [];
  read = 0;
  closed = 0;
  /** What to do before a batch. */
  readonly before: (batch: number, signal: AbortSignal) => unknown;

  constructor(before: (batch: number, signal: AbortSignal) => unknown = () => {}, rows = 1_000_000) {
    this.before = before;
    this.rows = rows;
  }

  async *scan(request: ScanRequest, signal: AbortSignal): AsyncGenerator<RecordBatch> {
    this.requests.push(request);
    try {
      for (let start = 0; start < this.rows; start += 10_000) {
        await this.before(this.read, signal);
        this.read++;
        yield* columns(start, 10_000).batches;
      }
    } finally {
      this.closed++;
    }
  }
}

/** Returns the ids of this process's SQL processes. */
const processes = (): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        const isChild = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(process.pid);
        return isChild && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('sql.cjs');
      } catch {
        // The process has ended meanwhile.
        return false;
      }
    });

const spillFolders = (pid = process.pid): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`lance-catalog-spill-${pid}-`));

suite('The SQL engine', function () {
  this.timeout(60_000);

  test('reads only the columns of a query, and stops when a limit is reached', async () => {
    const table = new ManyBatches();
    assert.equal((await rowsOf('select id from many where id % 2 = 1 limit 20', { table })).length, 20);
    assert.deepEqual(table.requests, [{ columns: ['id'], filter: undefined, limit: undefined }]);
    assert.ok(table.read <= 3, `${table.read} batches`);
    await until('the end of the scan', () => table.closed === 1);
  });

  test('stops reading when the reader of the result stops', async () => {
    const table = new ManyBatches();
    const find = async () => table;
    const { batches } = await usual.query({ text: 'from many', tables: { find } }, new AbortController().signal);
    for await (const batch of batches) {
      assert.ok(batch.numRows > 0);
      break;
    }
    assert.ok(table.read < 50, `${table.read} batches`);
    await until('the end of the scan', () => table.closed === 1);
    assert.deepEqual(await rowsOf('select 1 as one'), [[1]]);
  });

  test('gives few rows first, so that a reader need not wait for a large batch', async () => {
    const query = { text: 'select name from many', tables: { find: async () => new ManyBatches() } };
    const { batches } = await usual.query(query, new AbortController().signal);
    const sizes: number[] = [];
    for await (const { numRows } of batches) if (sizes.push(numRows) === 5) break;
    assert.ok(sizes[0]! < 5000 && sizes[4]! > 60_000, sizes.join());
  });

  test('gives all rows of a large result, in their order', async () => {
    const rows = await rowsOf('select id, name from many', { table: new ManyBatches() });
    assert.equal(rows.length, 1_000_000);
    assert.deepEqual(rows[999_999], [999_999n, 'the name of row 999999']);
    assert.ok(rows.every((row, index) => (row as [bigint])[0] === BigInt(index)));
  });

  test('fails if a table fails after many rows, and the next query works', async () => {
    const table = new ManyBatches((batch) => {
      if (batch === 40) throw new CatalogError('ServiceUnavailable', 'The disk is gone.', 'Find it.');
    });
    await assert.rejects(rowsOf('select id, name from many', { table }), /The disk is gone/);
    await assert.rejects(rowsOf('select sum(id) from many', { table }), /The disk is gone/);
    assert.deepEqual(await rowsOf('select 1 as one'), [[1]]);
  });

  test('fails if a row far in the result fails, and does not end the result before it', async () => {
    const table = new ManyBatches();
    const text = "select id, case when id = 900000 then error('boom') else name end as name from many";
    await assert.rejects(rowsOf(text, { table }), /^CatalogError: SQL: boom/);
    await assert.rejects(rowsOf('select (id * 10000)::int as x from many', { table }), /can't be cast|out of range/);
    assert.equal((await rowsOf('select id, name from many', { table })).length, 1_000_000);
  });

  test('counts rows without reading a column', async () => {
    const table = new ManyBatches();
    assert.deepEqual(await rowsOf('select count(*) from many', { table }), [[1_000_000n]]);
    assert.equal(table.read, 0);
  });

  test('scans a table once for each time that a query names it', async () => {
    const table = new ManyBatches();
    const text = 'select count(*) from many a join many b on a.id = b.id where a.price < 1 and b.price < 1';
    assert.deepEqual(await rowsOf(text, { table }), [[400n]]);
    assert.equal(table.requests.length, 2);
  });

  test('gives a sum of integers as an integer if it fits, else as a decimal', async () => {
    assert.deepEqual(await rowsOf('select sum(id) from t'), [[45n]]);
    const text = 'select sum(id + 9223372036854775806) as total from t';
    const tables = { find: async () => numbers(2) };
    const { schema, batches } = await usual.query({ text, tables }, new AbortController().signal);
    for await (const batch of batches) assert.equal(batch.numRows, 1);
    assert.equal(typeText(schema.fields[0]!.type as DataType), 'decimal128(38, 0)');
  });

  test('takes parameters of every kind', async () => {
    const parameters: Parameter[] = [
      { type: 'integer', value: 2n ** 64n - 1n },
      { type: 'double', value: -0 },
      { type: 'text', value: "it's" },
      { type: 'boolean', value: true },
      { type: 'null' },
      { type: 'bytes', value: new Uint8Array([1, 2]) },
      { type: 'doubles', value: [0.5, 2] },
    ];
    const [row] = await rowsOf('select ?::varchar, ?::varchar, ?, ?, ?, ?, array_distance([0.5, 2]::FLOAT[2], ?)', {
      parameters,
    });
    assert.deepEqual(row, ['18446744073709551615', '-0.0', "it's", true, null, new Uint8Array([1, 2]), 0]);
  });

  const refused: readonly (readonly [text: string, message: RegExp])[] = [
    ["select * from read_csv('/etc/passwd')", /SQL can read only tables of catalogs/],
    ["select * from read_text('/etc/hostname')", /SQL can read only tables of catalogs/],
    ["select * from glob('/etc/*')", /SQL can read only tables of catalogs/],
    ["select * from read_parquet('https://127.0.0.1/x.parquet')", /SQL can read only tables|extension/],
    ["copy (select 1) to '/tmp/stolen.csv'", /Expected a query, got a statement/],
    ['install httpfs', /Expected a query, got a statement/],
    ['set threads = 1', /Expected a query, got a statement/],
    ["select getenv('HOME')", /there is no scalar function "getenv"/],
  ];
  for (const [text, message] of refused)
    test(`reads and writes nothing outside: ${text}`, async () => {
      await assert.rejects(rowsOf(text), (error) => {
        assert.match(String(error), message);
        // Neither a path of this machine nor a part of the engine is in the message.
        assert.doesNotMatch(String(error), /\/etc|\/root|\.duckdb|configuration/);
        return isCatalogError(error, 'InvalidInput');
      });
      assert.equal(existsSync('/tmp/stolen.csv'), false);
    });

  const mistakes: readonly (readonly [text: string, message: RegExp, place?: [line: number, column: number]])[] = [
    [
      'select id,\n  nope from t',
      /column "nope" not found.* \(line 2, column 3\)\. Columns of numbers: id, name, price\./,
      [2, 3],
    ],
    ["select 'größer',\n nope from t", /line 2, column 2/, [2, 2]],
    ['select * frm t', /syntax error at or near "t" \(line 1, column 14\)/, [1, 14]],
    ['select iif(id > 1, 1, 0) from t', /no scalar function "iif" .*Write if\(condition/, [1, 8]],
    ['select total(id) from t', /Write coalesce\(sum/, [1, 8]],
    ["select datetime('now')", /Write now\(\)/, [1, 8]],
    ['select julianday(name) from t', /Write julian\(/, [1, 8]],
    ['select char(65)', /Write chr\(65\)/],
    ['select at from t', /The word at is a keyword: write a column of this name as "at"/],
    ['select ? + 1 from t', /SQL: values were not provided/],
    ['select * from (pivot t on id using count(*))', /name the values.*pivot orders on country in/],
    ['select name = "red" from t', /Text is written in single quotes: 'red'/, [1, 15]],
    ['select id, count(*) from t', /Add the column to group by, or write any_value\(column\)/, [1, 8]],
    ["select '3' + name from t", /with ::/],
    ["select '3x'::integer", /try_cast/],
    ['select * from order-items', /Write a name with a hyphen in double quotes: "order-items"/, [1, 15]],
    ['select * from shop.my-table', /Write a name with a hyphen in double quotes: "my-table"/],
    ['select id from where', /keyword: write a name as "where"/, [1, 16]],
    ['select * from a.b.c.d', /a name has more than three parts.*"shop\/eu\/north"\.orders/],
    ['select * from t for version 1', /Write version\('shop\.orders', 7\)/],
    ['select * from t as of version 1', /Write version\('shop\.orders', 7\)/],
  ];
  for (const [text, message, place] of mistakes)
    test(`says where a mistake is and how to write it: ${JSON.stringify(text)}`, async () => {
      await assert.rejects(rowsOf(text), (error) => {
        assert.match(String(error), message);
        assert.doesNotMatch(String(error), /\n|Binder|Candidate|LITERAL/);
        const position = positionOf(error);
        if (place) assert.deepEqual([position?.line, position?.column], place);
        return isCatalogError(error, 'InvalidInput');
      });
      assert.deepEqual(await rowsOf('select 1 as one'), [[1]]);
    });

  test('reports the error of a table, and the next query works', async () => {
    const table = new ManyBatches((batch) => {
      if (batch === 3) throw new CatalogError('ServiceUnavailable', 'The server is gone.', 'Start it.');
    });
    await assert.rejects(
      rowsOf('select sum(id) from many', { table }),
      /^CatalogError: The server is gone\. Start it\.$/,
    );
    assert.deepEqual(await rowsOf('select 1 as one'), [[1]]);
  });

  test('reports a column that changed while the query read it', async () => {
    const table: SqlTable = {
      ...numbers(10),
      async *scan() {
        yield* new Table({ id: vectorFromArray([1], new Int32()) }).batches;
      },
    };
    await assert.rejects(rowsOf('select id from t', { table }), (error) => {
      assert.match(String(error), /The column "id" of numbers changed while the query read it\. Run the query again\./);
      return isCatalogError(error, 'InvalidTableState');
    });
  });

  test('ends a query with a sentence if memory is exhausted, and the next query works', async () => {
    const small = openSqlEngine({ memoryBytes: 64 * 1024 * 1024 });
    // An aggregate of one value can't be written to a file.
    const text = "select length(string_agg(repeat('x', 1000), '')) from range(200000)";
    await assert.rejects(
      rowsOf(text, { engine: small }),
      /^CatalogError: The query needs more memory than the SQL engine may use\. Select fewer/,
    );
    assert.deepEqual(await rowsOf('select 1 as one', { engine: small }), [[1]]);
  });

  test('sorts more rows than its memory holds', async () => {
    const small = openSqlEngine({ memoryBytes: 64 * 1024 * 1024 });
    const rows = await rowsOf('select id, name from many order by name desc limit 3 offset 250000', {
      engine: small,
      table: new ManyBatches(() => {}, 300_000),
    });
    assert.equal(rows.length, 3);
  });

  test('refuses two names of tables that differ only in case', async () => {
    await assert.rejects(
      rowsOf('select * from Orders a join orders b on a.id = b.id'),
      /SQL does not distinguish the names "Orders" and "orders"/,
    );
  });

  test('says in one sentence that there is no engine for the platform', async () => {
    const folder = tempFolder();
    copyFileSync(inRoot('dist/sql.cjs'), join(folder, 'sql.cjs'));
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(inRoot('node_modules/apache-arrow'), join(folder, 'node_modules/apache-arrow'), 'dir');
    const child = fork(join(folder, 'sql.cjs'), [folder, '512MiB'], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe', 'ipc'],
    });
    const reply = new Promise<unknown>((resolve) => child.once('message', resolve));
    child.send({ v: 1, id: 1, method: 'parse', params: { text: 'select 1' } });
    assert.match(
      JSON.stringify(await reply),
      /"code":"Unsupported","message":"SQL is not available here: there is no SQL engine for \S+ in this installation\./,
    );
    child.kill('SIGKILL');
    const error = new RemoteError({ code: 'Unsupported', message: 'SQL is not available here.' });
    const context = { text: '', tables: [], end: undefined };
    assert.match(String(toUserError(error, context)), /here\. Install the package of the extension/);
    const inTerminal = toUserError(error, { ...context, caller: 'terminal' });
    assert.match(String(inTerminal), /here\. Install the package for your platform\.$/);
  });
});

suite('The process of the SQL engine', function () {
  this.timeout(60_000);
  setup(function () {
    if (process.platform !== 'linux') this.skip();
  });

  test('is killed at once if a query is aborted while a table gives no batch', async () => {
    const stop = new AbortController();
    let isWaiting = false;
    const table = new ManyBatches(async (batch, signal) => {
      if (batch < 2) return;
      isWaiting = true;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      throw signal.reason;
    });
    const running = rowsOf('select sum(id) from many', { table, signal: stop.signal });
    running.catch(() => {});
    await until('the engine to wait', () => isWaiting);
    const started = performance.now();
    stop.abort();
    await assert.rejects(running, { name: 'AbortError' });
    // The request itself takes no time that depends on the table or the engine.
    assert.ok(performance.now() - started < 2000);
    await until('the end of the scan', () => table.closed === 1);
    assert.deepEqual(await rowsOf('select 1 as one'), [[1]]);
  });

  test('writes temporary files to a folder that is gone after it', async () => {
    assert.deepEqual(await rowsOf('select 1 as one'), [[1]]);
    const [pid] = processes();
    assert.equal(spillFolders().length, processes().length);
    process.kill(pid!, 'SIGKILL');
    await until('the end of the folder', () => spillFolders().length === 0);
    assert.deepEqual(await rowsOf('select 2 as two'), [[2]]);
  });

  test('removes the folder of a process that was killed with its parent', async () => {
    // No process has this id, because Linux gives ids up to 2^22.
    const stale = join(tmpdir(), 'lance-catalog-spill-99999999-stale');
    mkdirSync(join(stale, 'files'), { recursive: true });
    for (const pid of processes()) process.kill(pid, 'SIGKILL');
    await until('their end', () => processes().length === 0);
    assert.deepEqual(await rowsOf('select 1 as one'), [[1]]);
    assert.equal(existsSync(stale), false);
  });
});
