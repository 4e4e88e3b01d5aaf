import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@lancedb/lancedb';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { runCli } from '../../harness/runCli.ts';
import { tempFolder } from '../../harness/temp.ts';

suite('lance-catalog list', function () {
  this.timeout(60_000);
  let root = '';

  suiteSetup(async () => {
    root = tempFolder();
    const db = await openDir({ root });
    await db.createNamespace(['shop']);
    await db.createNamespace(['shop', 'eu']);
    await db.createTable('animals', [{ id: 1 }]);
    await db.createTable('orders', [{ id: 1 }], ['shop', 'eu']);
    const table = await db.createTable('products', [{ id: 1n, name: 'mug' }], ['shop']);
    for (let id = 2n; id < 24n; id++) await table.add([{ id, name: 'lamp' }]);
    await table.tags().create('first', 1);
    await db.close();
  });

  const list = (...args: string[]) => runCli('list', ...args, '--catalog', root);

  test('prints the names of the root, of a namespace, and of all', async () => {
    assert.deepEqual(await list(), { code: 0, stdout: 'shop/\nanimals\n', stderr: '' });
    assert.deepEqual(await list('shop'), { code: 0, stdout: 'shop/eu/\nshop/products\n', stderr: '' });
    const all = await list('--all');
    assert.equal(all.stdout, 'shop/\nshop/eu/\nshop/eu/orders\nshop/products\nanimals\n');
  });

  test('prints names as JSON lines', async () => {
    const { stdout } = await list('shop', '--json');
    assert.deepEqual(stdout.split('\n'), [
      '{"kind":"namespace","path":["shop","eu"]}',
      '{"kind":"table","path":["shop","products"]}',
      '',
    ]);
  });

  test('prints the columns, tags and newest versions of a table', async () => {
    const { code, stdout } = await list('shop/products');
    assert.equal(code, 0);
    const lines = stdout.split('\n');
    assert.deepEqual(lines.slice(0, 8), [
      'shop/products, 23 rows, version 23',
      '',
      'column  type',
      'id      int64',
      'name    utf8',
      '',
      'tag    version',
      'first  1',
    ]);
    assert.match(lines[10] ?? '', /^23 {7}\d{4}-\d\d-\d\dT/);
    assert.equal(lines.at(-2), '… 3 earlier; --json prints all');
  });

  test('prints a table as one JSON object', async () => {
    const { stdout } = await list('shop/products', '--json');
    const { rows, version, versions, tags, columns } = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual([rows, version, (versions as unknown[]).length, tags], [23, 23, 23, { first: 1 }]);
    assert.deepEqual((columns as unknown[])[0], { name: 'id', type: 'int64', nullable: true });
  });

  /** Names are listed within a time limit, which a busy machine may exceed once. */
  async function failure(path: string): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const { code, stdout, stderr } = await list(path);
      assert.deepEqual([code, stdout], [1, '']);
      if (stderr.includes('Did you mean') || attempt === 5) return stderr;
    }
  }

  test('names the nearest table or namespace for a wrong path', async () => {
    const isNot = 'is neither a table nor a namespace.';
    assert.equal(await failure('shop/product'), `"shop/product" ${isNot} Did you mean "shop/products"?\n`);
    assert.equal(await failure('shp'), `"shp" ${isNot} Did you mean "shop"?\n`);
    assert.match((await list('invoices')).stderr, /List the tables: lance-catalog list\.\n$/);
  });
});

const failure = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runCli(...args);
  assert.deepEqual([code, stdout], [2, '']);
  return stderr;
};

suite('A command with wrong arguments', function () {
  this.timeout(60_000);

  test('leads to the help of the command, which help COMMAND prints too', async () => {
    assert.equal(await failure('export'), '"export" needs one TABLE. See lance-catalog export --help.\n');
    assert.match((await runCli('help', 'export')).stdout, /^Writes rows of a table to a file\n/);
  });

  test('names the nearest command and option', async () => {
    assert.equal(
      await failure('exprot'),
      'There is no command "exprot". Did you mean "export"? See lance-catalog --help.\n',
    );
    assert.equal(
      await failure('export', '--wher', 'x'),
      "Unknown option '--wher'. Did you mean --where? See lance-catalog export --help.\n",
    );
  });

  test('that names a file which does not exist says so in words', async () => {
    assert.equal(
      await failure('export', 'x', '-o', '-', '--format', 'csv', '--nearest', '@no.json'),
      `Can't read the vector of --nearest from "no.json": it does not exist. See lance-catalog export --help.\n`,
    );
    assert.match(
      await failure('backfill', 'no.lance-job.json'),
      /no\.lance-job\.json: it does not exist\. Check the path/,
    );
  });

  test('that names a version or a tag says which command lists them', async () => {
    const root = tempFolder();
    const db = await openDir({ root });
    await db.createTable('orders', [{ id: 1 }]);
    await db.close();
    const list = 'lance-catalog list TABLE.\n';
    const missing = await runCli('export', 'orders', '-o', '-', '--format', 'csv', '--version', '9', '--catalog', root);
    assert.equal(missing.stderr, `Table "orders" has no version 9. List the versions: ${list}`);
    const diff = await runCli('diff', 'orders', '--from-tag', 'x', '--key', 'id', '--catalog', root);
    assert.equal(diff.stderr, `Table "orders" has no tag "x". List the tags: ${list}`);
    // LanceDB's package makes no stable row ids.
    await (await (await connect(root)).createTable('plain', [{ id: 1 }])).add([{ id: 2 }]);
    const keyless = await runCli('diff', 'plain', '--from', '1', '--catalog', root);
    assert.match(keyless.stderr, / Name the columns that identify a row: --key COLUMNS\.\n$/);
    mkdirSync(join(root, 'hollow.lance'));
    const hollow = await runCli('sql', 'select * from hollow', '--catalog', root);
    assert.match(hollow.stderr, /^There is no table hollow in .* Remove this folder\.\n/);
    assert.match((await runCli('sql', 'show tables', '--catalog', root)).stderr, /use lance-catalog list\.\n$/);
  });
});
