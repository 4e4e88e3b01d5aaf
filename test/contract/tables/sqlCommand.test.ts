import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { tableFromIPC } from '#arrow';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fullKey, type ServeProcess, startServe, writeKeys } from '../serve/serveProcess.ts';

type SqlOptions = { stdin?: string; env?: Record<string, string> };

function start(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [inRoot('dist/cli.cjs'), 'sql', ...args], { env: { ...process.env, ...env } });
  return { child, exited: once(child, 'exit') };
}

async function runSql(args: readonly string[], { stdin = '', env }: SqlOptions = {}) {
  const { child, exited } = start(args, env);
  child.stdin.end(stdin);
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const [stderr, [code]] = await Promise.all([text(child.stderr), exited]);
  const bytes = Buffer.concat(chunks);
  return { code: code as unknown, stdout: bytes.toString(), bytes, stderr };
}

const rows = Array.from({ length: 3000 }, (_, id) => ({
  id: BigInt(id),
  name: id % 7 === 0 ? null : `Zeile "${id}"`,
  vector: [id, 0.5, 2],
}));

suite('lance-catalog sql', function () {
  this.timeout(120_000);
  let root: string;
  let server: ServeProcess;

  suiteSetup(async () => {
    root = tempFolder();
    const db = await openDir({ root });
    await db.createNamespace(['shop']);
    await db.createTable('products', rows, ['shop']);
    await db.close();
    server = await startServe(['--root', root, '--keys', writeKeys([['all', fullKey, 'read-write', '*']])]);
  });
  suiteTeardown(() => server.stop());

  const sql = (...args: string[]) => runSql([...args, '--catalog', root]);

  test('prints a table of the first rows and the number of all rows', async () => {
    const { code, stdout, stderr } = await sql('select id, name from shop.products order by id', '--limit-rows', '2');
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(stdout, 'id  name\n0   null\n1   Zeile "1"\n\n3,000 rows × 2 columns, 2 shown\n');
    const none = await sql('select id from shop.products where id < 0');
    assert.equal(none.stdout, 'id\n\n0 rows × 1 column\n');
  });

  test('shows the first rows of a result that does not end, and says that it has not counted all', async () => {
    for (const query of [
      'select p.id from shop.products p, shop.products q, shop.products r, shop.products s',
      // The sorted rows are there at once, so they are counted.
      'select q.id from shop.products q, shop.products r where r.id < 50 order by q.id, r.id limit 20000',
    ]) {
      const { code, stdout, stderr } = await sql(query, '--limit-rows', '3');
      assert.deepEqual([code, stderr], [0, ''], query);
      const lines = stdout.split('\n');
      assert.equal(lines[0], 'id');
      assert.match(
        lines[5] ?? '',
        query.endsWith('20000')
          ? /^20,000 rows × 1 column, 3 shown$/
          : /^At least [\d,]+ rows × 1 column, 3 shown\. For the number of all rows, select count\(\*\)\.$/,
      );
    }
  });

  test('aligns rows below those that were printed before', async () => {
    const query = 'select 10000 + p.id as number, 1 as n from shop.products p order by p.id';
    const { stdout } = await sql(query, '--limit-rows', '2500');
    const [head, ...lines] = stdout.split('\n').slice(0, 2501);
    assert.equal(head, 'number  n');
    assert.deepEqual(
      lines.filter((line) => !/^\d{5} {3}1$/.test(line)),
      [],
    );
  });

  test('queries several catalogs by their names', async () => {
    const other = tempFolder();
    const db = await openDir({ root: other });
    await db.createNamespace(['shop']);
    await db.createTable('notes', [{ id: 2, note: 'from the directory' }], ['shop']);
    await db.close();
    const query = 'select p.id, n.note from own.shop.notes n join shop.products p on p.id = n.id';
    const joined = await runSql([query, '--format', 'csv', '--catalog', server.address, '--catalog', `own=${other}`], {
      env: { LANCE_CATALOG_API_KEY: fullKey },
    });
    assert.deepEqual([joined.stderr, joined.stdout], ['', 'id,note\r\n2,from the directory\r\n']);
    // The key of the default catalog is not sent to another server, and the first catalog with a name is the default.
    const args = ['select n.note from shop.notes n, far.shop.products p where p.id = n.id', '--format', 'csv'];
    const named = [...args, '--catalog', `own=${other}`, '--catalog', `far=${server.address}`];
    const refused = await runSql(named, { env: { LANCE_CATALOG_API_KEY: fullKey } });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /To use another key, set LANCE_CATALOG_FAR_API_KEY/);
    const allowed = await runSql(named, { env: { LANCE_CATALOG_FAR_API_KEY: fullKey } });
    assert.deepEqual([allowed.stderr, allowed.stdout], ['', 'note\r\nfrom the directory\r\n']);
    const unknown = await runSql(['select * from nope.shop.x', '--catalog', root, '--catalog', `own=${other}`]);
    assert.match(unknown.stderr, /There is no table nope\.shop\.x in .*Other catalogs are own\./);
    for (const [wrong, message] of [
      [['--catalog', root, '--catalog', other], /Only one --catalog can have no name/],
      [['--catalog', `a=${root}`, '--catalog', `a=${other}`], /--catalog a=… is given twice/],
      [['--catalog', 'a='], /needs a directory or an address/],
    ] as const) {
      const { code, stderr } = await runSql(['select 1', ...wrong]);
      assert.equal(code, 2);
      assert.match(stderr, message);
    }
  });

  test('escapes characters that a terminal would execute', async () => {
    const { stdout } = await sql("select chr(27) || '[31m' || chr(8238) as x");
    assert.match(stdout, /^x\n\\u\{1b\}\[31m\\u\{202e\}\n/);
  });

  test('prints text formats, of a directory and of a server', async () => {
    const query = 'select id, name, vector from shop.products where id < 2 order by id';
    const env = { LANCE_CATALOG_API_KEY: fullKey };
    for (const [catalog, options] of [
      [root, {}],
      [server.address, { env }],
    ] as const) {
      const print = async (format: string) =>
        (await runSql([query, '--catalog', catalog, '--format', format], options)).stdout;
      assert.equal(await print('csv'), 'id,name,vector\r\n0,,"[0,0.5,2]"\r\n1,"Zeile ""1""","[1,0.5,2]"\r\n');
      const lines = (await print('jsonl')).trim().split('\n');
      assert.deepEqual(lines, [
        '{"id":0,"name":null,"vector":[0,0.5,2]}',
        String.raw`{"id":1,"name":"Zeile \"1\"","vector":[1,0.5,2]}`,
      ]);
      assert.deepEqual(
        JSON.parse(await print('json')),
        lines.map((line) => JSON.parse(line) as unknown),
      );
    }
  });

  test('writes binary formats into a pipe and into a file whose ending names the format', async () => {
    const piped = await sql('select id, vector from shop.products', '--format', 'arrow');
    const table = tableFromIPC(piped.bytes);
    assert.equal(table.numRows, rows.length);
    assert.equal(String(table.schema.fields[1]!.type), 'FixedSizeList[3]<Float32>');
    const file = join(tempFolder(), 'products.parquet');
    const { code, stdout, stderr } = await sql('select id, vector from shop.products', '-o', file);
    assert.deepEqual([code, stdout, stderr], [0, '', '']);
    const parquet = await import('parquet-wasm/node');
    const read = tableFromIPC(parquet.readParquet(readFileSync(file)).intoIPCStream());
    assert.deepEqual(
      ([...read.getChild('id')!] as unknown as bigint[]).toSorted((one, other) => Number(one - other)),
      rows.map(({ id }) => id),
    );
    assert.equal(String(read.schema.fields[1]!.type), 'FixedSizeList[3]<Float32>');
  });

  test('replaces a file only if the query succeeds', async () => {
    const folder = tempFolder();
    const file = join(folder, 'ids.csv');
    writeFileSync(file, 'before');
    const failing = "select case when id = 2999 then error('no') else id end as id from shop.products order by 1";
    const failed = await sql(failing, '-o', file);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /no/);
    assert.equal(readFileSync(file, 'utf8'), 'before');
    assert.equal((await sql('select 1 as one', '-o', file)).code, 0);
    assert.equal(readFileSync(file, 'utf8'), 'one\r\n1\r\n');
    assert.deepEqual(readdirSync(folder), ['ids.csv']);
    mkdirSync(join(folder, 'taken.csv'));
    assert.match((await sql('select 1', '-o', join(folder, 'taken.csv'))).stderr, /it is a folder/);
    assert.match((await sql('select 1', '-o', join(folder, 'none', 'x.csv'))).stderr, /does not exist/);
  });

  test('ends if rows are never read, because a type or a table is refused', async () => {
    const folder = tempFolder();
    const interval = await sql('select interval 1 month as x', '-o', join(folder, 'x.parquet'));
    assert.equal(interval.code, 1);
    assert.match(interval.stderr, /The column "x" has a type that Parquet does not have/);
    assert.deepEqual(readdirSync(folder), []);
    const twice = await sql('create table shop.products as select 1 as id', '--write');
    assert.equal(twice.code, 1);
    assert.match(twice.stderr, /exists already/);
  });

  test('reads the statement from stdin', async () => {
    for (const args of [[], ['-']]) {
      const read = await runSql([...args, '--catalog', root, '--format', 'csv'], { stdin: 'select 1 as one;\n' });
      assert.deepEqual([read.code, read.stdout, read.stderr], [0, 'one\r\n1\r\n', '']);
    }
    const empty = await runSql(['--catalog', root]);
    assert.deepEqual([empty.code, empty.stdout], [2, '']);
    assert.match(empty.stderr, /needs a QUERY/);
  });

  test('takes a query that starts with a comment', async () => {
    const read = await sql('-- the number one\nselect 1 as one', '--format', 'csv');
    assert.deepEqual([read.code, read.stdout, read.stderr], [0, 'one\r\n1\r\n', '']);
  });

  test('prints the plan of a query as it is drawn', async () => {
    const { code, stdout, stderr } = await sql('explain select count(*) from shop.products');
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /^┌─+┐\n│ +UNGROUPED_AGGREGATE +│\n/);
    assert.match(stdout, /┘\n$/);
  });

  test('points to the name of a table that does not exist', async () => {
    const { code, stderr } = await sql('select id\nfrom shop.produkts');
    assert.equal(code, 1);
    assert.match(stderr, /There is no table shop\.produkts.*Did you mean shop\.products\?\n/);
    assert.match(stderr, /^> 2 \| from shop\.produkts\n {4}\| {6}\^\n/m);
  });

  test('writes tables only with --write', async () => {
    const statement = 'create table shop.few as select id from shop.products limit 3';
    const refused = await sql(statement);
    assert.deepEqual([refused.code, refused.stdout], [2, '']);
    assert.match(refused.stderr, /writes the table "shop\.few"\. Add --write/);
    assert.equal((await sql('select count(*) from shop.few')).code, 1);
    assert.equal((await sql(statement, '--write')).stdout, 'Wrote 3 rows to shop.few.\n');
    const inserted = await sql('insert into shop.few select 10', '--write', '--format', 'jsonl');
    assert.equal(inserted.stdout, '{"rows":1}\n', inserted.stderr);
    assert.equal((await sql('select count(*) as n from shop.few', '--format', 'csv')).stdout, 'n\r\n4\r\n');
  });

  test('shows where a query is wrong, and names the tables of the namespace', async () => {
    const wrong = await sql('select id,\n  nam\nfrom shop.products');
    assert.deepEqual([wrong.code, wrong.stdout], [1, '']);
    assert.match(wrong.stderr, /"nam".*line 2, column 3/);
    assert.match(wrong.stderr, /^> 2 \| {3}nam\n {4}\| {3}\^\n/m);
    const unknown = await sql('select * from shop.product');
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /products/);
  });

  test('refuses wrong arguments', async () => {
    for (const [args, message] of [
      [['select 1', 'select 2'], /put it in quotes/],
      [['select 1', '--format', 'xml'], /Expected one of table, csv, json, jsonl, arrow, parquet for --format/],
      [['select 1', '-o', 'out.txt'], /"out\.txt" has no ending of a known format/],
      [['select 1', '--limit-rows', '0'], /for --limit-rows, got "0"/],
      [['select 1', '--limit-rows', '5', '--format', 'csv'], /--limit-rows applies only/],
    ] as const) {
      const { code, stdout, stderr } = await sql(...args);
      assert.deepEqual([code, stdout], [2, '']);
      assert.match(stderr, message);
    }
    assert.equal(existsSync('out.txt'), false);
  });

  test('ends quietly if the reader of its output stops', async () => {
    const query = 'select p.id, q.name from shop.products p, shop.products q';
    const { child, exited } = start([query, '--catalog', root, '--format', 'csv']);
    child.stdin.end();
    const stderr = text(child.stderr);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    assert.deepEqual([(await exited)[0], await stderr], [141, '']);
  });

  test('says which Node.js it needs if it runs on an older one', async () => {
    // Stands in for an older Node.js, which is not installed here: only the version that the command sees differs.
    const oldNodeStandIn = join(tempFolder(), 'oldNodeStandIn.cjs');
    writeFileSync(
      oldNodeStandIn,
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });",
    );
    const env = { NODE_OPTIONS: `--require ${oldNodeStandIn}` };
    const { code, stdout, stderr } = await runSql(['select 1', '--catalog', root], { env });
    assert.deepEqual([code, stdout], [1, '']);
    assert.equal(stderr, 'Node 20.20.2 is not supported. Use Node 22.19 or newer.\n');
  });

  test('ends quietly if the reader of its table stops', async () => {
    const query = 'select p.id, q.name from shop.products p, shop.products q';
    const { child, exited } = start([query, '--catalog', root, '--limit-rows', '9999999']);
    child.stdin.end();
    const stderr = text(child.stderr);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    assert.deepEqual([(await exited)[0], await stderr], [141, '']);
  });

  test('stops a query on SIGINT, without a file', async () => {
    const folder = tempFolder();
    const query = 'select p.id from shop.products p, shop.products q, shop.products r';
    const { child, exited } = start([query, '--catalog', root, '-o', join(folder, 'all.jsonl')]);
    child.stdin.end();
    const stderr = text(child.stderr);
    // The draft of the file shows that the query runs.
    while (readdirSync(folder).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill('SIGINT');
    assert.deepEqual([(await exited)[0], await stderr], [130, 'Stopped.\n']);
    assert.deepEqual(readdirSync(folder), []);
  });
});
