import assert from 'node:assert/strict';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { runCli } from '../../harness/runCli.ts';
import { tempFolder } from '../../harness/temp.ts';

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
      [['--from', '1'], /needs --key/],
    ] as const) {
      const { code, stdout, stderr } = await diff('shop/orders', ...args);
      assert.deepEqual([code, stdout], [2, ''], stderr);
      assert.match(stderr, message);
    }
  });
});
