import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, zstdDecompressSync } from 'node:zlib';
import { tableFromIPC } from '#arrow';
import type { Catalog, ExportOptions } from '#catalog/catalog.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { isCatalogError } from '#shared/errors.ts';
import { python } from '../../harness/needs/python.ts';
import { runCli } from '../../harness/runCli.ts';
import { tempFolder } from '../../harness/temp.ts';
import { forEachSubject } from '../subjects.ts';

const count = 9_000;
const rows = Array.from({ length: count }, (_, id) => ({
  id,
  name: id % 11 === 0 ? null : `name "${id % 50}", ü`,
  score: id % 13 === 0 ? NaN : (id * 7919) % 1000,
  vector: [id, 0.5],
}));

async function makeTable(db: Catalog): Promise<void> {
  await db.createNamespace(['shop']);
  await db.createTable('orders', rows, ['shop']);
}

const path = ['shop', 'orders'];
const idsOfArrow = (file: string): number[] =>
  tableFromIPC(readFileSync(file))
    .toArray()
    .map((row) => Number(row['id']));

const sorted = (): number[] =>
  rows
    .filter(({ id }) => id % 2 === 0)
    .toSorted(
      (a, b) => Number(Number.isNaN(a.score)) - Number(Number.isNaN(b.score)) || a.score - b.score || a.id - b.id,
    )
    .map(({ id }) => id);

forEachSubject('exports of tables', (makeCatalog) => {
  test('write all rows, or those of a filter, an order and columns', async () => {
    const { db } = await makeCatalog();
    await makeTable(db);
    const folder = tempFolder();
    const all = join(folder, 'all.arrow');
    const progress: number[] = [];
    const result = await db.export(path, all, { onProgress: ({ rows: done }) => progress.push(done) });
    assert.deepEqual(
      [result.file, result.format, result.rows, result.bytes],
      [all, 'arrow', count, readFileSync(all).length],
    );
    assert.equal(progress.at(-1), count);
    assert.deepEqual(
      idsOfArrow(all),
      rows.map(({ id }) => id),
    );
    const some = join(folder, 'some.arrow');
    const options: ExportOptions = { where: 'id % 2 = 0', orderBy: 'score', columns: ['score', 'id'] };
    await db.export(path, some, options);
    assert.deepEqual(idsOfArrow(some), sorted());
    assert.deepEqual(
      tableFromIPC(readFileSync(some)).schema.fields.map(({ name }) => name),
      ['score', 'id'],
    );
    await db.export(path, some, { ...options, limit: 3, overwrite: true });
    assert.deepEqual(idsOfArrow(some), sorted().slice(0, 3));
  });

  test('leave no file when they fail, and keep an existing one', async () => {
    const { db } = await makeCatalog();
    await makeTable(db);
    const folder = tempFolder();
    const file = join(folder, 'rows.csv');
    const refused = async (options: ExportOptions, expected: RegExp, name = file): Promise<void> => {
      await assert.rejects(
        db.export(path, name, options),
        (error) => isCatalogError(error) && expected.test(error.message),
      );
    };
    await refused({ where: 'nope > 1' }, /nope/);
    await refused({ orderBy: 'nope' }, /nope/);
    await refused({ columns: ['nope'] }, /nope/);
    await refused({ limit: -1 }, /limit/);
    await refused({}, /ending of a known format/, join(folder, 'rows.txt'));
    await refused({ compression: 'gzip' }, /can't be compressed/, join(folder, 'rows.parquet'));
    await refused({}, /does not exist or is not writable/, join(folder, 'none', 'rows.csv'));
    const stop = new AbortController();
    await assert.rejects(
      db.export(path, file, { signal: stop.signal, onProgress: () => stop.abort(new Error('on purpose')) }),
      /on purpose/,
    );
    assert.deepEqual(readdirSync(folder), []);
    writeFileSync(file, 'mine');
    await refused({}, /exists already/);
    await refused({ overwrite: true, where: 'nope > 1' }, /nope/);
    assert.equal(readFileSync(file, 'utf8'), 'mine');
    await db.export(path, file, { overwrite: true, limit: 1 });
    assert.match(readFileSync(file, 'utf8'), /^id,name,score,vector\r\n0,,NaN,/);
  });
});

suite('lance-catalog export', function () {
  this.timeout(60_000);
  let root: string;

  suiteSetup(async () => {
    root = tempFolder();
    const db = await openDir({ root });
    await makeTable(db);
    await db.createTable('formulas', [
      { text: '=1+1', n: -5 },
      { text: 'plain', n: 1 },
      { text: '@x', n: 2 },
    ]);
    await db.close();
  });

  const run = (...args: string[]) => runCli('export', ...args, '--catalog', root);

  test('writes a Parquet file that pyarrow reads, with vectors and the order', async () => {
    const file = join(tempFolder(), 'rows.parquet');
    const { code, stdout, stderr } = await run(
      'shop/orders',
      '-o',
      file,
      '--where',
      'id % 2 = 0',
      '--order-by',
      'score, id desc',
    );
    assert.deepEqual([code, stdout], [0, '']);
    assert.match(stderr, /^Wrote 4,500 rows of shop\/orders, version 1 to .*rows\.parquet \(.+ KB\)\.\n$/);
    const program = `
import sys, json, pyarrow.parquet as pq
t = pq.read_table(sys.argv[1])
print(json.dumps([str(t.schema.field("vector").type), t.column("id").to_pylist()]))`;
    const read = spawnSync(python(), ['-c', program, file], { encoding: 'utf8' });
    assert.equal(read.stderr, '');
    const [type, ids] = JSON.parse(read.stdout) as [string, number[]];
    assert.match(type, /fixed_size_list<.*float.*>\[2\]/);
    const wanted = rows
      .filter(({ id }) => id % 2 === 0)
      .toSorted(
        (a, b) => Number(Number.isNaN(a.score)) - Number(Number.isNaN(b.score)) || a.score - b.score || b.id - a.id,
      );
    assert.deepEqual(
      ids,
      wanted.map(({ id }) => id),
    );
  });

  test('compresses text, by the ending or by the option', async () => {
    const folder = tempFolder();
    const plain = (await run('shop/orders', '-o', '-', '--format', 'csv', '--limit', '100')).stdout;
    assert.equal(plain.split('\r\n').length, 102);
    await run('shop/orders', '-o', join(folder, 'rows.csv.gz'), '--limit', '100');
    assert.equal(gunzipSync(readFileSync(join(folder, 'rows.csv.gz'))).toString(), plain);
    await run('shop/orders', '-o', join(folder, 'rows.csv'), '--limit', '100', '--compress', 'zstd');
    assert.equal(zstdDecompressSync(readFileSync(join(folder, 'rows.csv'))).toString(), plain);
  });

  test('escapes formulas only when told to, and never numbers', async () => {
    const exact = await run('formulas', '-o', '-', '--format', 'csv', '--columns', 'text,n');
    assert.equal(exact.stdout, 'text,n\r\n=1+1,-5\r\nplain,1\r\n@x,2\r\n');
    const escaped = await run(
      'formulas',
      '-o',
      '-',
      '--format',
      'csv',
      '--columns',
      '["text","n"]',
      '--escape-formulas',
    );
    assert.equal(escaped.stdout, "text,n\r\n'=1+1,-5\r\nplain,1\r\n'@x,2\r\n");
  });

  test('refuses wrong arguments in one sentence, before it reads', async () => {
    const folder = tempFolder();
    const file = join(folder, 'rows.csv');
    writeFileSync(file, 'mine');
    for (const [args, expected] of [
      [['shop/orders'], /needs -o FILE/],
      [['-o', file], /needs one TABLE/],
      [['shop/orders', '-o', file], /exists already\. Use another name, or add --overwrite/],
      [['shop/orders', '-o', join(folder, 'rows.txt')], /ending of a known format/],
      [['shop/orders', '-o', '-'], /Add --format/],
      [['shop/orders', '-o', join(folder, 'a.csv'), '--order-by', 'a b c'], /for --order-by, got "a b c"/],
      [['shop/orders', '-o', join(folder, 'a.csv'), '--limit', 'x'], /whole number of at least 0 for --limit/],
      [['shop/orders', '-o', join(folder, 'a.parquet'), '--compress', 'gzip'], /compressed inside/],
    ] as const) {
      const { code, stderr } = await run(...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, expected);
    }
    const missing = await run('shop/nope', '-o', join(folder, 'a.csv'));
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /nope.*Its namespace has orders/s);
    assert.deepEqual(readdirSync(folder), ['rows.csv']);
    assert.equal(existsSync(join(folder, 'a.csv')), false);
  });
});
