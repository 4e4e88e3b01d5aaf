import assert from 'node:assert/strict';
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import {
  Bool,
  Float32,
  Float64,
  Int64,
  Int8,
  Table as ArrowTable,
  TimestampMillisecond,
  Uint16,
  Utf8,
  vectorFromArray,
} from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { connectNamespace } from '#catalog/connect.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import type { Progress } from '#session/display/displayTypes.ts';
import { createSql } from '#session/sql/sql.ts';
import type { Sql, SqlValue } from '#session/sql/sqlTypes.ts';
import { type PlainServer, startPlainServer } from '../../contract/rest/plainServer.ts';
import { tempFolder } from '../../harness/temp.ts';
import { sampleCatalog, until } from '../support.ts';

const sqlOver = (db: Catalog): Sql =>
  createSql({
    catalog: () => db,
    signal: () => new AbortController().signal,
    progress: ((source: unknown) => source) as Progress,
  });

/** Runs a query with `?` for values, as `sql` does. */
const ask = (sql: Sql, text: string, values: readonly SqlValue[] = []): PromiseLike<ArrowTable> =>
  sql(Object.assign(text.split('?'), { raw: [] }), ...values);

/** Every column has a null, and values that are easily confused with others. */
const rows = {
  id: [0n, 1n, 2n, 3n, -5n, 9007199254740993n, null, 7n],
  small: [0, 1, 127, -128, null, 5, 6, 7],
  count: [0, 1, 65535, 3, 4, null, 6, 7],
  single: [0.5, 0.1, -1, null, Infinity, 16777216, NaN, 1e-3],
  double: [0.5, 0.1, NaN, -0, -Infinity, null, 1e300, 1e-3],
  Text: ['red', 'Red', '', null, 'größer', "it's", 'a%b_c', 'z\\'],
  yes: [true, false, null, true, false, true, false, null],
  order: [1n, 2n, 3n, 4n, 5n, 6n, 7n, null],
  when: [1, 86_400_001, null, 1_700_000_000_005, 9, 2, 3, 4],
} as const;

const types = {
  id: new Int64(),
  small: new Int8(),
  count: new Uint16(),
  single: new Float32(),
  double: new Float64(),
  Text: new Utf8(),
  yes: new Bool(),
  order: new Int64(),
  when: new TimestampMillisecond(),
};

function table(): ArrowTable {
  const made = new ArrowTable(
    Object.fromEntries(
      Object.entries(types).map(([name, type]) => [
        name,
        vectorFromArray(rows[name as keyof typeof rows] as never, type as never),
      ]),
    ),
  );
  // A NaN with a negative sign, which tables order below all numbers and DuckDB above.
  const { values } = made.getChild('single')!.data[0] as unknown as { values: Float32Array };
  new Uint32Array(values.buffer, values.byteOffset)[rows.single.findIndex(Number.isNaN)]! |= 0x80000000;
  return made;
}

/** Writes a number for SQL. */
const number = (value: number | null): string =>
  value === null ? 'null' : `'${Object.is(value, -0) ? '-0.0' : value}'`;

/** Creates a DuckDB database with the same rows, without the kernel's code. */
async function plainDatabase(): Promise<DuckDBConnection> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  await connection.run("SET TimeZone = 'UTC'");
  await connection.run(
    'CREATE TABLE t (id BIGINT, small TINYINT, count USMALLINT, single FLOAT, double DOUBLE, "Text" VARCHAR, yes BOOLEAN, "order" BIGINT, "when" TIMESTAMP_MS)',
  );
  for (let row = 0; row < rows.id.length; row++) {
    const text = rows.Text[row] ?? null;
    const moment = rows.when[row] ?? null;
    const values = [
      String(rows.id[row]),
      String(rows.small[row]),
      String(rows.count[row]),
      `${number(rows.single[row] ?? null)}::FLOAT`,
      `${number(rows.double[row] ?? null)}::DOUBLE`,
      text === null ? 'null' : `'${text.replaceAll("'", "''")}'`,
      String(rows.yes[row]),
      String(rows.order[row]),
      moment === null ? 'null' : `epoch_ms(${moment})::TIMESTAMP_MS`,
    ];
    await connection.run(`INSERT INTO t VALUES (${values.join(', ')})`);
  }
  return connection;
}

const literals: Readonly<Record<string, readonly string[]>> = {
  id: ['0', '2', '-5', '9007199254740993', '2.5', "'2'", '99999999999999999999', 'null'],
  small: ['5', '-128', '128', '300', '-0', '1e0', '0x5'],
  count: ['0', '-1', '65535', '65536'],
  single: ['0.1', '0.5', '16777217', '0.100000001490116', '0', '5e-1'],
  double: ['0.1', '0.5', '0', '-0.0', '1e300', "'0.5'", '.5'],
  text: ["'red'", "'RED'", "''", "'größer'", "'it''s'", "'z\\'", '5', "'Z'"],
  yes: ['1', '0', 'true', 'false', '2', "'1'"],
  '"order"': ['3', '4'],
  '"when"': ["'1970-01-01 00:00:00.001'", "'2000'", '0'],
};
const operators = ['=', '==', '<', '<=', '>', '>=', '<>', '!=', 'is', 'is not'];

const conditions: readonly string[] = [
  ...Object.entries(literals).flatMap(([column, values]) => [
    `${column} is null`,
    `${column} is not null`,
    `not ${column} = ${values[0]}`,
    `${column} in (${values.slice(0, 3).join(', ')})`,
    `${column} between ${values[0]} and ${values[1]}`,
    ...values.flatMap((value) => operators.map((operator) => `${column} ${operator} ${value}`)),
    ...values.map((value) => `${value} <= ${column}`),
  ]),
  'yes',
  'not yes',
  'id = 1 or small = 7 and count = 7',
  '(id = 1 or small = 7) and double < 1',
  "(text = 'red' or length(text) = 3) and id < 5",
  'id between 0 and 3 and small < 5',
  'length(text) between 1 and small < 200',
  'id between 0 and small and count = 3',
  'case when id = 1 and small = 1 then 1 else 0 end',
  'id = 1 = 0',
  '(id = 1) = 0',
  '(id, small) = (1, 1)',
  '-id > 0 and small < 5',
  'id + 1 = 2 or id = 2',
  "text like 'r%' and id >= 0",
  "text = 'RED' collate nocase and id >= 0",
  "text ilike 'r%' and id >= 0",
  "text || 'x' = 'redx' and id < 100",
  'id not in (1, 2) and id is not 3',
  'T.id = 1 or main.t.id = 2 or t."ID" = 3',
  'not (id = 1 and small = 1)',
  'single in (0, 0.5) or double in (0.0, 1e300)',
  'id = 1 and not double > 0.5',
  'double = double and single <> 0',
  'single = double and single > 0',
  'id < 5 -- and id < 0\n and small > 0',
  '"order" = 3 or "order" = 4',
  'exists (values (1)) and id = 1',
  'id isnull or id notnull and id > 2',
];

/** Returns a value as text, so that values of two libraries can be compared. */
const shown = (value: unknown): string =>
  Object.is(value, -0) ? '-0' : value instanceof Date ? String(value.getTime()) : String(value);

suite('What SQL reads of a table', function () {
  this.timeout(120_000);
  let db: Catalog;
  let plain: DuckDBConnection;

  suiteSetup(async () => {
    db = await openDir({ root: tempFolder() });
    await db.createTable('t', table());
    plain = await plainDatabase();
  });
  suiteTeardown(async () => {
    plain?.closeSync();
    await db?.close();
  });

  const answers = async (text: string, values: readonly SqlValue[] = []): Promise<unknown> => {
    const found = await ask(sqlOver(db), text, values).then(
      (answer) => answer,
      () => undefined,
    );
    if (!found) return 'an error';
    return found.toArray().map((row) => Object.values(row.toJSON() as object).map(shown));
  };
  const expected = async (text: string, values: readonly SqlValue[] = []): Promise<unknown> => {
    try {
      const reader = await plain.runAndReadAll(text, [...values] as never);
      return reader.getRows().map((row) => row.map(shown));
    } catch {
      return 'an error';
    }
  };

  test(`gives the rows that DuckDB itself finds, whatever the condition (${conditions.length} of them)`, async () => {
    let errors = 0;
    for (const condition of conditions) {
      const text = `select "order", small from t where ${condition}`;
      const rowsOfEngine = await expected(text);
      if (rowsOfEngine === 'an error') errors++;
      assert.deepEqual(await answers(text), rowsOfEngine, condition);
    }
    // Conditions of other dialects are errors, but not most of them.
    assert.ok(errors < conditions.length / 4, `${errors} errors`);
  });

  test('gives the same with limits, groups, aliases, windows and row numbers', async () => {
    const queries = [
      'select id from t where id >= 0 limit 2',
      'select id from t limit 3 offset 2',
      "select id from t as x where x.text > 'a' limit 2 offset 1",
      'select id from t limit 0',
      'select id from t limit 20%',
      'select distinct small > 5 from t limit 2',
      'select count(*) from t where id > 1',
      'select count(*) from t limit 1',
      'select count % 2, count(*), max(small) from t where id >= 0 group by 1 having count(*) > 1 order by 1 limit 3',
      'select id, row_number() over (order by id) from t where id > 0 limit 2',
      'select id from t order by id desc nulls last limit 2',
      'select a.id, b.small from t a left join t b on a.id = b.id and b.small > 1 where a.id > 0 order by 1',
      'select a.id from t a left join t b on a.id = b.small where b.small is null order by 1',
      'select a.id from t a full join t b on a.id = b.small where b.id = 1 or a.small = 7 order by 1',
      'select id from t where id > 0 qualify row_number() over (order by id desc) = 1',
      'select sum(id), sum(small), avg(double), max(text) from t where id < 100',
      'select id from t where id in (select small from t where small < 3)',
      'select id from t where id = 1 union all select id from t where id = 2',
      'with x as (select id from t where id < 3) select * from x where id > 0',
      'select a.id from t a join t b on a.id = b.id where a.id > 1',
      'select (select max(id) from t) as most, id from t where id = 1',
      'select small as id from t where id = 3',
      'values (1)',
    ];
    for (const text of queries) assert.deepEqual(await answers(text), await expected(text), text);
  });

  test('goes by the names of columns where a server gives others as well, and in another order', async () => {
    const generous = {
      openTable: async (...given: Parameters<Catalog['openTable']>) => {
        const found = await db.openTable(...given);
        const columns = Object.keys(types).toReversed();
        return {
          schema: found.schema.bind(found),
          countRows: found.countRows.bind(found),
          query: () => ({ select: () => found.query().select(columns) }),
        };
      },
      tableExists: db.tableExists.bind(db),
      namespaceExists: db.namespaceExists.bind(db),
    };
    const text = 'select id, small, text from t order by count';
    const found = await ask(sqlOver(generous as unknown as Catalog), text);
    assert.deepEqual(
      found.toArray().map((row) => Object.values(row.toJSON() as object).map(String)),
      await expected(text),
    );
  });

  test('takes values for question marks where they stand', async () => {
    const queries: readonly (readonly [text: string, values: readonly SqlValue[]])[] = [
      ['select ? as a, id from t where id > ? and text <> ? limit ?', ['x', 0n, "it's", 2n]],
      ['select id from t where yes = ? and double < ? order by id', [true, 0.75]],
      ['select id from t where id in (?, ?) or ? < small', [1n, 2n, 100n]],
      ['select id from t where id = ?', [null]],
      ['select id from t where id = ? and count = ?', [9007199254740993n, 3n]],
    ];
    for (const [text, values] of queries)
      assert.deepEqual(await answers(text, values), await expected(text, values), text);
  });
});

suite('SQL over a large table', function () {
  this.timeout(120_000);
  let server: PlainServer;
  let db: Catalog;

  suiteSetup(async () => {
    registerRest();
    server = await startPlainServer(await sampleCatalog());
    db = await connectNamespace('rest', { uri: server.uri });
    // The first query also detects how the server sends rows.
    await ask(sqlOver(db), 'select max(id) from "shop/eu".orders where id < 2');
  });
  suiteTeardown(async () => {
    await db?.close();
    await server?.close();
  });

  /** Returns the rows of a query, and the bytes that the server sent for them. */
  async function reading(text: string): Promise<{ rows: number; bytes: number }> {
    const before = server.log.length;
    const { numRows } = await ask(sqlOver(db), text);
    const read = () => server.log.slice(before).filter(({ operation }) => operation === 'QueryTable');
    // Wait for the server's log, because a reader that stops early has its rows before the server notices the stop.
    await until('the server to be done', () => read().length === 1);
    return { rows: numRows, bytes: read().reduce((sum, { bytesSent }) => sum + bytesSent, 0) };
  }

  test('reads the rows that its conditions leave, and no others', async () => {
    const all = await reading('select max(id) from "shop/eu".orders');
    const few = await reading('select max(id) from "shop/eu".orders where id < 1000');
    assert.equal(few.rows, 1);
    assert.ok(few.bytes < all.bytes / 100, `${few.bytes} of ${all.bytes} bytes`);
  });

  test('stops reading once it has as many rows as are wanted, whatever the conditions', async () => {
    // The server counts all bytes that it has sent. When reading ends, some megabytes of them may still be in buffers
    // of the system.
    const all = await reading('select max(id), max(product_id), max(amount), max(ordered) from "shop/eu".orders');
    const first = await reading(
      'select id, product_id, amount, ordered from "shop/eu".orders where id % 10 = 3 limit 20',
    );
    assert.equal(first.rows, 20);
    assert.ok(first.bytes < all.bytes / 2, `${first.bytes} of ${all.bytes} bytes`);
    const plain = await reading('select id from "shop/eu".orders limit 20 offset 5');
    assert.equal(plain.rows, 20);
    assert.ok(plain.bytes < 10_000, `${plain.bytes} bytes`);
  });
});
