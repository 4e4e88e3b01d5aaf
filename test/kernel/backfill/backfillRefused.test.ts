import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { cliEntry, command } from '../support.ts';
import { backfillPlace } from './backfillPlace.ts';

suite('lance-catalog backfill and jobs, where they are refused,', function () {
  this.timeout(180_000);
  const { folder, env, root, cli, backfill } = backfillPlace();

  suiteSetup(async () => {
    const db = await openDir({ root });
    for (const name of ['products', 'older']) await db.createTable(name, [{ id: 1, caption: 'a mug' }]);
    await db.close();
  });

  test('do not go on at a column or a table that was dropped, and say what there is', async () => {
    const begun = await backfill('older', 'dropped', '--sql', 'id', '--yes');
    assert.equal(begun.code, 0, begun.stderr);
    const id = /bf-[0-9a-z]+/.exec(begun.stderr)?.[0] ?? '';
    const db = await openDir({ root });
    try {
      await (await db.openTable('older')).dropColumns(['dropped']);
      const column = await cli('jobs', 'resume', id);
      assert.equal(column.code, 2, column.stderr);
      assert.match(
        column.stderr,
        /^The column "dropped" of "older" was dropped after the job started\. Start a new backfill/,
      );
      await db.dropTable('older');
      const table = await cli('jobs', 'resume', id);
      assert.equal(table.code, 2, table.stderr);
      assert.equal(table.stderr, 'Table "older" does not exist. Its namespace has products.\n');
    } finally {
      await db.close();
    }
  });

  test('name the folders that they need and that are not there or full', async () => {
    const nowhere = join(folder, 'nowhere');
    writeFileSync(join(folder, 'file'), '');
    const args = [cliEntry, 'backfill', 'products', 'size', '--sql', 'length(caption)', '--catalog', './data'];
    for (const [given, said] of [
      [{ TMPDIR: nowhere }, `The folder for temporary files "${nowhere}" (variable TMPDIR) does not exist.`],
      [
        { XDG_DATA_HOME: join(folder, 'file') },
        `Can't write the hash of an accepted function to "${join(folder, 'file')}/lance-catalog/accepted-functions"`,
      ],
    ] as const) {
      const { code, stderr } = await command(process.execPath, args, { cwd: folder, env: { ...env, ...given } });
      assert.equal(code, 2, stderr);
      assert.ok(stderr.includes(said), stderr);
      assert.doesNotMatch(stderr, /panicked/);
    }
  });

  test('say in a sentence what keeps them from beginning, and end with 2', async () => {
    for (const [args, said] of [
      [['nothing', 'size', '--sql', '1'], /^Table "nothing" does not exist\. Its namespace has products\.\n$/],
      [['products', 'nothing'], /no column "nothing"\. It has id, .* set its function: --sql EXPR, or --file FILE/],
      [['products', 'same', '--sql', 'id', '--where', 'id <'], /^Table "products": The filter "id <" can't be parsed/],
      [['products', 'size', '--plan', '--try'], /one of --plan and --try/],
    ] as const) {
      const { code, stderr, stdout } = await backfill(...args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, said);
      assert.equal(stdout, '');
    }
    const { code, stderr } = await cli('jobs', 'show', 'bf-none');
    assert.equal(code, 2);
    assert.match(stderr, /Job bf-none does not exist on this machine/);
  });
});
