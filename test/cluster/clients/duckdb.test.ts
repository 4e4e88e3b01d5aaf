import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Catalog } from '#catalog/catalog.ts';
import { registerRest } from '#catalog/rest/register.ts';
import { openRest } from '#catalog/rest/restCatalog.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { trackProcessGroup } from '../../../scripts/processes.ts';
import { type ServeProcess, startServe, writeKeys } from '../../contract/serve/serveProcess.ts';
import { duckdbPython } from '../../harness/needs/duckdb.ts';
import { tempFolder } from '../../harness/temp.ts';

type Result = { readonly rows?: readonly (readonly unknown[])[]; readonly error?: string };

/** DuckDB with its Lance extension, in a separate process. */
class DuckDb {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #lines: AsyncIterator<string>;

  constructor() {
    const program = inRoot('test/cluster/clients/duckdbClient.py');
    this.#child = spawn(duckdbPython, [program], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
    trackProcessGroup(this.#child);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  async run(...statements: readonly string[]): Promise<Result[]> {
    this.#child.stdin.write(`${JSON.stringify(statements)}\n`);
    const { value, done } = await this.#lines.next();
    assert.ok(!done, 'DuckDB has ended');
    return JSON.parse(value) as Result[];
  }

  /** Returns the rows of one statement, which must not fail. */
  async rows(statement: string): Promise<Result['rows']> {
    const [result] = await this.run(statement);
    assert.equal(result?.error, undefined, statement);
    return result?.rows;
  }

  async stop(): Promise<void> {
    this.#child.stdin.end();
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
  }
}

const key = 'a-key-that-opens-all-of-it';
const [childKey, grandchildKey] = ['a-key-that-opens-the-child', 'a-key-that-opens-the-grandchild'];
const places: Readonly<Record<string, readonly string[]>> = {
  root: [],
  child: ['depot'],
  grandchild: ['depot', 'north'],
};

/** A row that shows in which namespace it was written. */
const rowOf = (path: readonly string[]) => ({ id: 7n, s: `of ${path.join('/')}`, v: Float32Array.of(7, 0) });

/** Returns a statement that creates the table "again". */
const create = (start: string, rows: number): string =>
  `${start} c.main.again AS SELECT range::BIGINT AS id, 'r' || range AS s FROM range(${rows})`;

suite("DuckDB's Lance extension as a client of the server", function () {
  this.timeout(240_000);
  let server: ServeProcess;
  let catalog: Catalog;
  let duckdb: DuckDb;

  suiteSetup(async () => {
    registerRest();
    const keys = writeKeys([
      ['all', key, 'read-write', '*'],
      ['child', childKey, 'read-write', '* namespace=depot'],
      ['grandchild', grandchildKey, 'read-write', '* namespace=depot/north'],
    ]);
    server = await startServe(['--root', tempFolder(), '--keys', keys]);
    catalog = await openRest({ uri: server.address, apiKey: key });
    for (const path of Object.values(places)) if (path.length > 0) await catalog.createNamespace(path);
    duckdb = new DuckDb();
  });
  teardown(async () => {
    await duckdb.run('DETACH c');
    for (const path of Object.values(places))
      for (const name of await catalog.tableNames(path)) await catalog.dropTable(name, path);
  });
  suiteTeardown(async () => {
    await duckdb.stop();
    await catalog.close();
    await server.stop();
  });

  const rowsOf = async (name: string, path: readonly string[]): Promise<string> => {
    const table = await catalog.openTable(name, path);
    const rows = (await table.query().select(['id', 's']).toArray()).map((row) => [row['id'], row['s']].join(' '));
    return rows.toSorted().join(', ');
  };

  for (const [label, path] of Object.entries(places)) {
    test(`reads, changes and makes tables in the ${label}, and nowhere else`, async () => {
      const [seen, made] = [`seen_${label}`, `made_${label}`];
      const rows = [1, 2, 3].map((id) => ({ id: BigInt(id), s: `n${id}`, v: Float32Array.of(id, 0) }));
      await catalog.createTable(seen, rows, path);
      const attach = `ATTACH '${path.join('$') || '$'}' AS c (TYPE LANCE, ENDPOINT '${server.address}', HEADER 'x-api-key=${key}')`;
      const list = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'c' ORDER BY 1";
      await duckdb.rows(attach);
      assert.deepEqual(await duckdb.rows(list), [[seen]]);
      assert.deepEqual(await duckdb.rows(`SELECT id, s FROM c.main.${seen} WHERE id > 1 ORDER BY id`), [
        [2, 'n2'],
        [3, 'n3'],
      ]);
      await duckdb.rows(`INSERT INTO c.main.${seen} VALUES (4, 'new', [4, 0]::FLOAT[2])`);
      await duckdb.rows(`UPDATE c.main.${seen} SET s = 'changed' WHERE id = 2`);
      await duckdb.rows(`DELETE FROM c.main.${seen} WHERE id = 1`);
      assert.equal(await rowsOf(seen, path), '2 changed, 3 n3, 4 new');
      const search = `SELECT id FROM lance_vector_search('c.main.${seen}', 'v', [4, 0]::FLOAT[], k = 2) ORDER BY _distance`;
      assert.deepEqual(await duckdb.rows(search), [[4], [3]]);
      await duckdb.rows(`CREATE TABLE c.main.${made} AS SELECT range::BIGINT AS id, 'm' || range AS s FROM range(3)`);
      assert.equal(await rowsOf(made, path), '0 m0, 1 m1, 2 m2');
      await duckdb.rows('DETACH c');
      const there = Object.values(places).map(async (where) => (await catalog.tableNames(where)).toSorted());
      const expected = Object.values(places).map((where) => (where === path ? [made, seen] : []));
      assert.deepEqual(await Promise.all(there), expected);
    });
  }

  test('makes tables with their rows if DuckDB has read the list of tables since a table was dropped', async () => {
    const attach = `ATTACH '$' AS c (TYPE LANCE, ENDPOINT '${server.address}', HEADER 'x-api-key=${key}')`;
    const list = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'c' ORDER BY 1";
    await catalog.createTable('again', [rowOf([])]);
    await duckdb.rows(attach);
    await duckdb.rows(list);
    await duckdb.rows('DROP TABLE c.main.again');
    assert.deepEqual(await duckdb.rows(list), []);
    assert.deepEqual(await duckdb.rows(create('CREATE TABLE', 3)), [[3]]);
    assert.equal(await rowsOf('again', []), '0 r0, 1 r1, 2 r2');

    // After the next ATTACH, DuckDB knows the table and can replace it without reading the list of tables.
    await duckdb.rows('DETACH c');
    await duckdb.rows(attach);
    assert.deepEqual(await duckdb.rows(create('CREATE OR REPLACE TABLE', 2)), [[2]]);
    assert.equal(await rowsOf('again', []), '0 r0, 1 r1');

    // Without the list DuckDB sends no rows and reports success. If this fails, remove the limitation from the docs.
    await duckdb.rows('DROP TABLE c.main.again');
    assert.deepEqual(await duckdb.rows(create('CREATE TABLE', 3)), []);
    assert.equal(await rowsOf('again', []), '');
  });

  // DuckDB sees each of these roots as one flat list of tables, so tables of the same name elsewhere do not matter.
  const roots = [
    ['the child by a base path', ['depot'], '/at/depot', key],
    ['the grandchild by a base path', ['depot', 'north'], '/at/depot%24north', key],
    ['the child by its key', ['depot'], '', childKey],
    ['the grandchild by its key', ['depot', 'north'], '', grandchildKey],
    ['the grandchild by the key of the child and a base path', ['depot', 'north'], '/at/north', childKey],
  ] as const;
  for (const [label, path, base, ownKey] of roots) {
    test(`with ${label} as the root, reads, changes, makes and drops tables whose names are elsewhere too`, async () => {
      const others = Object.values(places).filter((one) => one.join('/') !== path.join('/'));
      for (const where of others)
        for (const name of ['orders', 'made']) await catalog.createTable(name, [rowOf(where)], where);
      const rows = [1, 2, 3].map((id) => ({ id: BigInt(id), s: `n${id}`, v: Float32Array.of(id, 0) }));
      await catalog.createTable('orders', rows, path);

      const attach = `ATTACH '$' AS c (TYPE LANCE, ENDPOINT '${server.address}${base}', HEADER 'x-api-key=${ownKey}')`;
      await duckdb.rows(attach);
      const list = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'c' ORDER BY 1";
      assert.deepEqual(await duckdb.rows(list), [['orders']]);
      assert.deepEqual(await duckdb.rows('SELECT id, s FROM c.main.orders WHERE id > 1 ORDER BY id'), [
        [2, 'n2'],
        [3, 'n3'],
      ]);
      await duckdb.rows("INSERT INTO c.main.orders VALUES (4, 'new', [4, 0]::FLOAT[2])");
      await duckdb.rows("UPDATE c.main.orders SET s = 'changed' WHERE id = 2");
      await duckdb.rows('DELETE FROM c.main.orders WHERE id = 1');
      assert.equal(await rowsOf('orders', path), '2 changed, 3 n3, 4 new');
      const search =
        "SELECT id FROM lance_vector_search('c.main.orders', 'v', [4, 0]::FLOAT[], k = 2) ORDER BY _distance";
      assert.deepEqual(await duckdb.rows(search), [[4], [3]]);
      await duckdb.rows("CREATE TABLE c.main.made AS SELECT range::BIGINT AS id, 'm' || range AS s FROM range(3)");
      assert.equal(await rowsOf('made', path), '0 m0, 1 m1, 2 m2');
      // DuckDB reads the list of tables once for each ATTACH.
      await duckdb.rows('DETACH c');
      await duckdb.rows(attach);
      assert.deepEqual(await duckdb.rows(list), [['made'], ['orders']]);
      assert.deepEqual(await duckdb.rows('SELECT count(*) FROM c.main.made'), [[3]]);
      await duckdb.rows('DROP TABLE c.main.orders');
      assert.deepEqual(await catalog.tableNames(path), ['made']);

      for (const where of others) {
        assert.deepEqual((await catalog.tableNames(where)).toSorted(), ['made', 'orders']);
        for (const name of ['orders', 'made']) assert.equal(await rowsOf(name, where), `7 of ${where.join('/')}`);
      }
    });
  }
});
