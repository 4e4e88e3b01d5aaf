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
const places: Readonly<Record<string, readonly string[]>> = {
  root: [],
  child: ['depot'],
  grandchild: ['depot', 'north'],
};

suite("DuckDB's Lance extension as a client of the server", function () {
  this.timeout(240_000);
  let server: ServeProcess;
  let catalog: Catalog;
  let duckdb: DuckDb;

  suiteSetup(async () => {
    registerRest();
    server = await startServe(['--root', tempFolder(), '--keys', writeKeys([['all', key, 'read-write', '*']])]);
    catalog = await openRest({ uri: server.address, apiKey: key });
    for (const path of Object.values(places)) if (path.length > 0) await catalog.createNamespace(path);
    duckdb = new DuckDb();
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
      for (const name of [seen, made]) await catalog.dropTable(name, path);
    });
  }
});
