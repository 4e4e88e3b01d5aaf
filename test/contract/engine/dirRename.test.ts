import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import * as upstream from '@lancedb/lancedb';
import { type DirCatalog, openDir } from '#engine/dir/dirCatalog.ts';
import { isCatalogError } from '#shared/errors.ts';
import { inRoot } from '../../../scripts/paths.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';

const run = promisify(execFile);
const rows = [{ id: 1 }, { id: 2 }, { id: 3 }];

/** Opens one directory twice without shared memory, as two processes do. */
async function twoCatalogs(): Promise<{ root: string; a: DirCatalog; b: DirCatalog }> {
  const root = tempFolder();
  const [a, b] = [await openDir({ root }), await openDir({ root })];
  await a.createNamespace(['shop']);
  await a.createNamespace(['attic']);
  return { root, a, b };
}

const kindOf = (result: PromiseSettledResult<unknown>): string =>
  result.status === 'fulfilled' ? 'done' : isCatalogError(result.reason) ? result.reason.kind : String(result.reason);

suite('renaming in a directory', function () {
  this.timeout(90_000);

  test("is seen by upstream's clients as their own renames would be", async () => {
    const { root, a } = await twoCatalogs();
    await a.createTable('orders', rows, ['shop']);
    await a.createTable('mugs', rows);
    const theirs = await upstream.connectNamespace('dir', { root });
    await (await theirs.openTable('orders', ['shop'])).add([{ id: 4 }]);
    await a.renameTable('orders', 'old', ['shop'], { newNamespacePath: ['attic'] });
    await a.renameTable('mugs', 'cups');
    const program = `
import json, sys, lance.namespace as n
from lance_namespace import ListTablesRequest, DescribeTableRequest, CountTableRowsRequest, DropTableRequest, TableExistsRequest
ns = n.DirectoryNamespace(root=sys.argv[1])
tables = lambda *path: ns.list_tables(ListTablesRequest(id=list(path))).tables
rows = lambda *id: ns.count_table_rows(CountTableRowsRequest(id=list(id))).count
out = {'shop': tables('shop'), 'attic': tables('attic'), 'root': tables(), 'old': rows('attic', 'old'), 'cups': rows('cups')}
try:
  ns.table_exists(TableExistsRequest(id=['shop', 'orders'])); out['gone'] = False
except Exception as error:
  out['gone'] = 'not found' in str(error)
ns.drop_table(DropTableRequest(id=['attic', 'old']))
ns.drop_table(DropTableRequest(id=['cups']))
print(json.dumps(out))`;
    const { stdout } = await run(python(), ['-c', program, root], { timeout: 60_000 });
    const told = JSON.parse(stdout) as Record<string, unknown>;
    assert.deepEqual([told['shop'], told['attic'], told['root'], told['gone']], [[], ['old'], ['cups'], true]);
    assert.deepEqual([told['old'], told['cups']], [4, 3]);
    // `b` has dropped the table that `a` renamed, and `a` sees this.
    assert.deepEqual([await a.tableNames(['attic']), await a.tableNames()], [[], []]);
  });

  test('of one table to two names at once is done once', async () => {
    const { a, b } = await twoCatalogs();
    for (const path of [[], ['shop']]) {
      await a.createTable('t', rows, path);
      const results = await Promise.allSettled([a.renameTable('t', 'x', path), b.renameTable('t', 'y', path)]);
      assert.deepEqual(results.map(kindOf).toSorted(), ['TableNotFound', 'done']);
      const names = await a.tableNames(path);
      assert.equal(names.length, 1);
      assert.equal(await (await b.openTable(names[0]!, path)).countRows(), 3);
    }
  });

  test('of two tables to one name at once leaves both tables, one under its old name', async () => {
    const { a, b } = await twoCatalogs();
    for (const path of [[], ['shop']]) {
      await a.createTable('one', [{ id: 1 }], path);
      await a.createTable('two', [{ id: 1 }, { id: 2 }], path);
      const results = await Promise.allSettled([a.renameTable('one', 'x', path), b.renameTable('two', 'x', path)]);
      assert.deepEqual(results.map(kindOf).toSorted(), ['TableAlreadyExists', 'done']);
      const counts: number[] = [];
      for (const name of await a.tableNames(path)) counts.push(await (await a.openTable(name, path)).countRows());
      assert.deepEqual(
        counts.toSorted((one, other) => one - other),
        [1, 2],
      );
    }
  });

  test('to a name that is being created, by us or by upstream, leaves one table of it and loses none', async () => {
    for (let round = 0; round < 12; round++) {
      const { root, a, b } = await twoCatalogs();
      const theirs = await upstream.connectNamespace('dir', { root });
      await a.createTable('t', rows, ['shop']);
      // One call starts a little before the other, with a different delay each time.
      const create = async () => {
        await pause(round * 2);
        if (round % 2 === 0) await b.createTable('x', [{ id: 9 }], ['shop']);
        else await theirs.createTable('x', [{ id: 9 }], ['shop']);
      };
      const [renamed, created] = await Promise.allSettled([a.renameTable('t', 'x', ['shop']), create()]);
      const isRenamed = renamed.status === 'fulfilled';
      if (!isRenamed) assert.equal(kindOf(renamed), 'TableAlreadyExists');
      assert.equal(created.status, isRenamed ? 'rejected' : 'fulfilled');
      assert.deepEqual(await a.tableNames(['shop']), isRenamed ? ['x'] : ['t', 'x']);
      assert.equal(await (await b.openTable(isRenamed ? 'x' : 't', ['shop'])).countRows(), 3);
    }
  });

  test('into the root and out of it is refused with the reason', async () => {
    const { a } = await twoCatalogs();
    await a.createTable('t', rows);
    await a.createTable('u', rows, ['shop']);
    await fails(
      () => a.renameTable('t', 't', { newNamespacePath: ['shop'] }),
      'Unsupported',
      'out of the root',
      'copy',
    );
    await fails(() => a.renameTable('u', 'u', ['shop'], { newNamespacePath: [] }), 'Unsupported', 'into the root');
  });

  test('is whole or not done, whenever the process is killed', async () => {
    const { root, a } = await twoCatalogs();
    for (const path of [[], ['shop']]) {
      await a.createTable('left', rows, path);
      for (const after of [5, 30, 80]) {
        // This process renames a table back and forth until the test kills it.
        const child = spawn(process.execPath, [inRoot('test/contract/engine/renameForever.ts'), root, path.join('/')], {
          stdio: ['ignore', 'pipe', 'inherit'],
          // The temporary files of a killed process are deleted with the folder of the test.
          env: { ...process.env, TMPDIR: tempFolder() },
        });
        const exited = once(child, 'exit');
        await once(child.stdout, 'data');
        await pause(after);
        child.kill('SIGKILL');
        await exited;
        const names = await a.tableNames(path);
        assert.ok(names.length === 1 && ['left', 'right'].includes(names[0]!), names.join());
        assert.equal(await (await a.openTable(names[0]!, path)).countRows(), 3);
        assert.equal(await a.tableExists(names[0] === 'left' ? 'right' : 'left', path), false);
        if (names[0] === 'right') await a.renameTable('right', 'left', path);
      }
    }
  });
});
