import assert from 'node:assert/strict';
import { connect } from '@lancedb/lancedb';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { catalogVariables } from '#session/catalogArgument.ts';
import { runCli } from '../../harness/runCli.ts';
import { tempFolder } from '../../harness/temp.ts';
import { startServing } from '../serve/serving.ts';

suite('lance-catalog diff', function () {
  this.timeout(60_000);
  let root: string;
  let last: number;

  suiteSetup(async () => {
    root = tempFolder();
    const db = await openDir({ root });
    await db.createNamespace(['shop']);
    const rows = Array.from({ length: 30 }, (_, id) => ({ id, name: `row ${id}`, price: 3.5, same: 1 }));
    const table = await db.createTable('orders', rows, ['shop']);
    await table.delete('id = 3');
    await table.update({ where: 'id = 7', values: { price: 4 } });
    await table.add([{ id: 30, name: '\u001b[2J\n- id 1', price: 1, same: 1 }]);
    last = await table.version();
    await table.tags().create('first', 1);
    await table.tags().create('third', 3);
    const others = rows.map(({ id, name, price }) => ({ id, name, price: String(price), more: 1 }));
    await db.createTable('other', others, ['shop']);
    await db.close();
  });

  const diff = (...args: string[]) => runCli('diff', ...args, '--catalog', root);

  test('prints counts, added, removed and changed rows of two versions, and escapes control characters', async () => {
    const { code, stdout, stderr } = await diff('shop/orders', '--from', '1', '--key', 'id');
    assert.deepEqual([code, stderr], [1, '']);
    assert.deepEqual(stdout.split('\n'), [
      `shop/orders version 1 → shop/orders version ${last}`,
      '1 added, 1 removed, 1 changed, 31 rows compared',
      '- id 3, name "row 3", price 3.5, same 1',
      'id 7: price 3.5 → 4',
      '+ id 30, name "\\x1b[2J\\x0a- id 1", price 1, same 1',
      '',
    ]);
  });

  test('prints some rows, and has exit code 0 for equal columns', async () => {
    const some = await diff('shop/orders', '--from', '1', '--key', 'id', '--limit', '1');
    assert.match(some.stdout, /1 changed, 31 rows compared\n- id 3, .*\n… 2 more; use --limit to print them\n$/);
    const equal = await diff('shop/orders', '--from', '2', '--to', '3', '--key', 'id', '--columns', 'name');
    assert.deepEqual([equal.code, equal.stderr], [0, '']);
    assert.match(equal.stdout, /\n0 added, 0 removed, 0 changed, 29 rows compared\n$/);
  });

  test('prints JSON lines with exact values', async () => {
    const { stdout } = await diff('shop/orders', '--from', '1', '--key', 'id', '--json');
    assert.deepEqual(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
      [
        { kind: 'removed', row: { id: 3, name: 'row 3', price: 3.5, same: 1 } },
        { kind: 'changed', key: { id: 7 }, before: { price: 3.5 }, after: { price: 4 } },
        { kind: 'added', row: { id: 30, name: '\u001b[2J\n- id 1', price: 1, same: 1 } },
        { kind: 'counts', added: 1, removed: 1, changed: 1, compared: 31 },
      ],
    );
  });

  test('compares two tables and lists the columns that differ', async () => {
    const { code, stdout } = await diff('shop/orders', 'shop/other', '--from', '1', '--key', 'id');
    assert.equal(code, 1);
    assert.match(stdout, /\n0 added, 0 removed, 0 changed, 30 rows compared\n/);
    assert.match(stdout, /\ncolumn price: \S+ → \S+\n- column same: \S+\n\+ column more: \S+\n$/);
  });

  test('has exit code 2 for a key of several rows, a missing version or column, and wrong arguments', async () => {
    for (const [args, message] of [
      [['--from', '1', '--key', 'same'], /Several rows of "orders" have the value 1 in same/],
      [['--from', '99', '--key', 'id'], /99/],
      [['--from', '1', '--key', 'nope'], /There is no column "nope"/],
      [['--from', '1', '--key', 'id', '--columns', 'nope'], /There is no column "nope"/],
      [['--key', 'id'], /needs --from/],
      [['--from', '1'], /"shop\/orders" has no stable row ids/],
      [['shop/other'], /of two tables needs --key/],
      [['--from-tag', 'nope', '--key', 'id'], /nope/],
      [['--from', '1', '--from-tag', 'first', '--key', 'id'], /not both/],
    ] as const) {
      const { code, stdout, stderr } = await diff('shop/orders', ...args);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, message);
    }
  });

  test('compares the versions of tags, in a directory and on a server', async () => {
    const tags = ['--from-tag', 'first', '--to-tag', 'third', '--key', 'id'];
    const here = await diff('shop/orders', ...tags);
    assert.deepEqual([here.code, here.stderr], [1, '']);
    assert.deepEqual(here.stdout.split('\n'), [
      'shop/orders version 1 → shop/orders version 3',
      '0 added, 1 removed, 1 changed, 30 rows compared',
      '- id 3, name "row 3", price 3.5, same 1',
      'id 7: price 3.5 → 4',
      '',
    ]);
    const server = await startServing(root);
    try {
      process.env[catalogVariables.apiKey] = server.key;
      const there = await runCli('diff', 'shop/orders', ...tags, '--catalog', server.uri);
      assert.deepEqual([there.code, there.stdout, there.stderr], [1, here.stdout, '']);
    } finally {
      delete process.env[catalogVariables.apiKey];
      await server.close();
    }
  });

  test('names rows by their stable row ids without a key', async () => {
    const folder = tempFolder();
    const native = await connect(folder, { storageOptions: { new_table_enable_stable_row_ids: 'true' } });
    const table = await native.createTable('t', [
      { id: 1, price: 2 },
      { id: 2, price: 3 },
      { id: 3, price: 4 },
    ]);
    await table.update({ where: 'id = 2', values: { price: 9 } });
    await table.delete('id = 1');
    native.close();
    const run = (...args: string[]) => runCli('diff', 't', '--from', '1', ...args, '--catalog', folder);
    assert.deepEqual((await run()).stdout.split('\n').slice(1), [
      '0 added, 1 removed, 1 changed, 3 rows compared',
      '- row 0: id 1, price 2',
      'row 1: price 3 → 9',
      '',
    ]);
    assert.match(
      (await run('--json')).stdout,
      /^\{"kind":"removed","rowId":0,"row":\{"id":1,"price":2\}\}\n\{"kind":"changed","rowId":1,"before"/,
    );
  });
});
