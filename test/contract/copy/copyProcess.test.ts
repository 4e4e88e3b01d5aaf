import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Float64, makeData, makeVector, Table } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { checksumOf } from '#catalog/copy/copyRows.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { isCatalogError } from '#shared/errors.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { trackProcessGroup } from '../../../scripts/processes.ts';
import { tempFolder } from '../../harness/temp.ts';
import { startServe, writeKeys } from '../serve/serveProcess.ts';
import { type Serving, startServing } from '../serve/serving.ts';

const cliEntry = inRoot('dist/cli.cjs');
const rows = 250_000;

type Ended = { code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string };
type Running = { child: ChildProcess; ended: Promise<Ended> };

function start(args: readonly string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [cliEntry, 'copy', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    detached: true,
  });
  trackProcessGroup(child);
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text));
  const ended = once(child, 'close').then((how): Ended => {
    const [code, signal] = how as [number | null, NodeJS.Signals | null];
    return { code, signal, ...texts };
  });
  return { child, ended };
}

const copy = (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> => start(args, env).ended;

const column = (seed: number) =>
  makeVector(
    makeData({ type: new Float64(), data: Float64Array.from({ length: rows }, (_, row) => Math.sin(row * seed)) }),
  );

/** 16 MB of incompressible numbers: sixteen chunks of one megabyte. */
async function makeSource(): Promise<string> {
  const root = tempFolder();
  const db = await openDir({ root });
  await db.createNamespace(['shop']);
  const columns = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`c${index}`, column(index + 1)]));
  await db.createTable('numbers', new Table(columns), ['shop']);
  await db.close();
  return root;
}

/** Returns the number of copied rows so far, under the temporary or the final name. */
async function rowsSoFar(db: Catalog): Promise<number> {
  try {
    const [name] = await db.tableNames();
    return name === undefined ? 0 : await (await db.openTable(name)).countRows();
  } catch (error) {
    // Count no rows while the table is being created or renamed.
    if (isCatalogError(error)) return 0;
    throw error;
  }
}

async function waitForRows(db: Catalog, wanted: number): Promise<void> {
  const deadline = Date.now() + 30_000;
  while ((await rowsSoFar(db)) < wanted) {
    if (Date.now() > deadline) throw new Error(`The copy has not reached ${wanted} rows.`);
    await sleep(10);
  }
}

const sumOf = async (db: Catalog): Promise<string> =>
  checksumOf(await db.openTable('numbers'), { start: 0, count: rows + 1 }, {});

suite('lance-catalog copy', function () {
  this.timeout(90_000);
  let from: string;
  let source: string;

  suiteSetup(async () => {
    from = await makeSource();
    const db = await openDir({ root: from });
    source = await checksumOf(await db.openTable('numbers', ['shop']), { start: 0, count: rows }, {});
    await db.close();
  });

  for (const signal of ['SIGKILL', 'SIGINT'] as const) {
    test(`goes on after ${signal}, and until then the copy has another name`, async () => {
      const to = tempFolder();
      const args = ['shop/numbers', 'numbers', '--from', from, '--to', to, '--chunk', '1', '--json'];
      const db = await openDir({ root: to });
      const first = start(args);
      await waitForRows(db, rows / 4);
      first.child.kill(signal);
      const { code, signal: by } = await first.ended;
      assert.deepEqual([code, by], signal === 'SIGKILL' ? [null, 'SIGKILL'] : [130, null]);
      assert.deepEqual(await db.tableNames(), ['numbers.copying']);

      const second = await copy(args);
      assert.equal(second.code, 0, second.stderr);
      const { tables } = JSON.parse(second.stdout) as { tables: { how: string; rows: number }[] };
      assert.deepEqual(
        tables.map(({ how, rows: copied }) => [how, copied]),
        [['resumed', rows]],
      );
      assert.deepEqual(await db.tableNames(), ['numbers']);
      assert.equal(await sumOf(db), source);
      await db.close();
    });
  }

  test('copies to a server and back by keys that are on no command line', async () => {
    const served = tempFolder();
    let server: Serving | undefined;
    try {
      server = await startServing(served);
      const env = { COMPANY_KEY: server.key };
      const there = await copy(
        ['shop', '--from', from, '--to', server.uri, '--to-key-env', 'COMPANY_KEY', '--chunk', '4'],
        env,
      );
      assert.equal(there.code, 0, there.stderr);
      assert.match(there.stdout, /^shop\/numbers: 250,000 rows, 0 indexes, copied$/m);
      const to = tempFolder();
      const back = await copy(
        ['shop/numbers', 'numbers', '--from', server.uri, '--from-key-env', 'COMPANY_KEY', '--to', to],
        env,
      );
      assert.equal(back.code, 0, back.stderr);
      const db = await openDir({ root: to });
      assert.equal(await sumOf(db), source);
      await db.close();
      const refused = await copy(['shop', '--from', from, '--to', server.uri, '--to-key-env', 'COMPANY_KEY'], {
        COMPANY_KEY: `${server.key}-wrong`,
      });
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /key/i);
      for (const { stdout, stderr } of [there, back, refused]) assert.ok(!`${stdout}${stderr}`.includes(server.key));
    } finally {
      await server?.close();
    }
  });

  test('copies from one database of a server to another and back, each with its key, and neither sees the other', async () => {
    const keys = { SHOP_KEY: 'shop-key-0123456789', EU_KEY: 'eu-key-0123456789' };
    const eu = tempFolder();
    const keysFile = writeKeys([
      ['ana', keys.SHOP_KEY, 'read-write', 'shop'],
      ['bob', keys.EU_KEY, 'read-write', 'eu'],
    ]);
    const server = await startServe(['--database', `shop=${from}`, '--database', `eu=${eu}`, '--keys', keysFile]);
    try {
      const side = (option: 'from' | 'to', database: 'shop' | 'eu', key: keyof typeof keys): string[] => [
        `--${option}`,
        server.address,
        `--${option}-database`,
        database,
        `--${option}-key-env`,
        key,
      ];
      const there = await copy(
        ['shop/numbers', 'copied/numbers', ...side('from', 'shop', 'SHOP_KEY'), ...side('to', 'eu', 'EU_KEY')],
        keys,
      );
      assert.equal(there.code, 0, there.stderr);
      const back = await copy(
        ['copied', 'back', ...side('from', 'eu', 'EU_KEY'), ...side('to', 'shop', 'SHOP_KEY')],
        keys,
      );
      assert.equal(back.code, 0, back.stderr);
      for (const [root, path, namespaces] of [
        [eu, ['copied'], ['copied']],
        [from, ['back'], ['back', 'shop']],
      ] as const) {
        const db = await openDir({ root });
        const sum = await checksumOf(await db.openTable('numbers', path), { start: 0, count: rows + 1 }, {});
        assert.equal(sum, source);
        assert.deepEqual((await db.listNamespaces()).namespaces, namespaces);
        await db.close();
      }
      const refused = await copy(['shop', ...side('from', 'shop', 'EU_KEY'), ...side('to', 'eu', 'EU_KEY')], keys);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /database/i);
    } finally {
      await server.stop();
      const db = await openDir({ root: from });
      await db.dropNamespace(['back'], { behavior: 'cascade', mode: 'skip' });
      await db.close();
    }
  });

  test('ends with 0 where a table is declared and has no data, and says so', async () => {
    const root = tempFolder();
    const db = await openDir({ root });
    await db.createTable('t', [{ id: 1 }]);
    await db.declareTable('later');
    await db.close();
    const { code, stdout, stderr } = await copy(['/', '--from', root, '--to', tempFolder()]);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /^Left out later: The table is declared but has no data yet\.$/m);
    assert.match(stdout, /^t: 1 row, 0 indexes, /m);
  });

  test('creates no folder for a source that does not exist', async () => {
    const target = join(tempFolder(), 'new');
    const { code, stderr } = await copy(['shop/nothing', '--from', from, '--to', target]);
    assert.equal(code, 1);
    assert.match(stderr, /Can't copy "shop\/nothing": no table or namespace has this name/);
    assert.equal(existsSync(target), false);
  });

  test('leaves alone what is there, and says that it is', async () => {
    const to = tempFolder();
    const args = ['shop', '--from', from, '--to', to];
    assert.equal((await copy(args)).code, 0);
    const again = await copy(args);
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout, /^shop\/numbers: 250,000 rows, 0 indexes, already there$/m);
  });

  for (const [what, args, said] of [
    ['no path', ['--from', 'a', '--to', 'b'], /needs one PATH/],
    ['an empty path, as of a variable that is not set', ['', '--from', 'a', '--to', 'b'], /Expected a path .*, got ""/],
    ['no source', ['shop', '--to', 'b'], /needs --from CATALOG/],
    ['no target', ['shop', '--from', '.'], /needs --to CATALOG/],
    ['a broken path', ['["shop"', '--from', '.', '--to', 'b'], /Expected a path such as shop\/orders/],
    ['a kind that is none', ['shop', '--from', 'a', '--to', 'b', '--kind', 'view'], /--kind table or --kind namespace/],
    [
      'a chunk of nothing',
      ['shop', '--from', 'a', '--to', 'b', '--chunk', '0'],
      /Expected a whole number .* for --chunk, got "0"/,
    ],
    ['a key for a directory', ['shop', '--from', '.', '--from-key-env', 'HOME', '--to', 'b'], /has no API key/],
    ['a variable that is not set', ['shop', '--from', 'https://x', '--from-key-env', 'NOPE', '--to', 'b'], /NOPE/],
    [
      'a secret as an argument',
      ['shop', '--from', 's3://x', '--from-storage-option', 'aws_secret_access_key=s3cr3t', '--to', 'b'],
      /from-storage-option-env aws_secret_access_key=/,
    ],
  ] as const) {
    test(`answers ${what} with one sentence and 2`, async () => {
      const { code, stdout, stderr } = await copy(args);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, said);
      assert.equal(stderr.trim().split('\n').length, 1);
      assert.doesNotMatch(stderr, /s3cr3t/);
    });
  }
});
