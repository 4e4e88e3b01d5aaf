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
    await db.createTable('two', [{ left_vector: [1, 2], right_vector: [3, 4] }]);
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

  test('writes the rows nearest to a vector, with a filter, columns and their distances', async () => {
    const folder = tempFolder();
    const file = join(folder, 'near.jsonl');
    const found = (): { id: number; _distance?: number }[] =>
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { id: number; _distance?: number });
    const near = (...args: string[]) => run('shop/orders', '-o', file, '--overwrite', ...args);
    const { code, stderr } = await near('--nearest', '[100.2, 0.5]', '--where', 'id % 2 = 0', '--nearest-limit', '3');
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^Wrote 3 rows of shop\/orders, version 1/);
    assert.deepEqual(
      found().map(({ id }) => id),
      [100, 102, 98],
    );
    assert.equal(Object.keys(found()[0]!).at(-1), '_distance');
    assert.ok(Math.abs(found()[0]!._distance! - 0.04) < 1e-3);
    // A vector in a file, another distance, and an order of the found rows.
    const vector = join(folder, 'vector.json');
    writeFileSync(vector, '[7000, 0.5]\n');
    const search = ['--nearest', `@${vector}`, '--nearest-column', 'vector', '--distance-type', 'dot'];
    await near(...search, '--limit', '4', '--order-by', '_distance desc', '--columns', '_distance,id');
    assert.deepEqual(
      found().map(({ id }) => id),
      [count - 4, count - 3, count - 2, count - 1],
    );
    assert.deepEqual(Object.keys(found()[0]!), ['_distance', 'id']);
    // Ten rows by default, and to stdout as to a file.
    const printed = await run(
      'shop/orders',
      '-o',
      '-',
      '--format',
      'jsonl',
      '--nearest',
      '[4.6, 0.5]',
      '--columns',
      'id',
    );
    assert.deepEqual(
      printed.stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: number }).id)
        .toSorted((a, b) => a - b),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    );
  });

  test('says what is wrong with a search by vector, and writes no file', async () => {
    const folder = tempFolder();
    const file = join(folder, 'a.csv');
    writeFileSync(join(folder, 'words.json'), '{"vector": [1, 2]}');
    for (const [table, args, expected, code] of [
      ['shop/orders', ['--nearest', '0.1, 0.2'], /Expected a vector such as "\[0\.1, 0\.2\]".*got "0\.1, 0\.2"/, 2],
      ['shop/orders', ['--nearest', '[]'], /got "\[\]"/, 2],
      ['shop/orders', ['--nearest', `@${join(folder, 'words.json')}`], /got other content in ".*words\.json"/, 2],
      ['shop/orders', ['--nearest', '@/nope.json'], /Can't read the vector of --nearest from "\/nope\.json"/, 2],
      ['shop/orders', ['--nearest-limit', '3'], /--nearest-limit needs --nearest VECTOR/, 2],
      ['shop/orders', ['--nearest', '[1, 2]', '--nearest-limit', '10001'], /from 1 to 10000 for --nearest-limit/, 2],
      ['shop/orders', ['--nearest', '[1, 2]', '--distance-type', 'far'], /Expected one of l2, cosine, dot, hamming/, 2],
      ['formulas', ['--nearest', '[1, 2]'], /"formulas" has no column of vectors/, 2],
      ['two', ['--nearest', '[1, 2]'], /Add --nearest-column with one of left_vector, right_vector/, 2],
      ['shop/orders', ['--nearest', '[1, 2, 3]'], /Expected 2 numbers, got 3/, 1],
      ['shop/orders', ['--nearest', '[1, 2]', '--nearest-column', 'nam'], /has no column "nam"/, 1],
    ] as const) {
      const result = await run(table, '-o', file, ...args);
      assert.match(result.stderr, expected);
      assert.equal(result.code, code, result.stderr);
    }
    assert.equal(existsSync(file), false);
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
