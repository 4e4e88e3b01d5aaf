import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { rootFolder } from '#engine/dir/files/folders.ts';
import { updateManifest } from '#engine/dir/files/manifestTable.ts';
import { tempFolder } from '../../harness/temp.ts';

const manifest = '__manifest';

/** Runs a call, and moves the manifest away after it has renamed a table, as a disk fault or another program might. */
async function withoutManifest(root: string, call: () => Promise<void>): Promise<void> {
  const { rename } = fs;
  Object.assign(fs, {
    rename: async (from: string, to: string) => {
      await rename(from, to);
      if (dirname(to) === root && basename(to) === rootFolder('cups'))
        await rename(join(root, manifest), join(root, 'away'));
    },
  });
  syncBuiltinESMExports();
  try {
    await call();
  } finally {
    Object.assign(fs, { rename });
    syncBuiltinESMExports();
  }
}

suite('renaming in the root of a directory', function () {
  this.timeout(60_000);

  test('says so when the entry of the table could not be written again', async () => {
    const root = tempFolder();
    const catalog = await openDir({ root });
    await catalog.createNamespace(['shop']);
    await catalog.createTable('mugs', [{ id: 1 }]);
    const entry = { location: rootFolder('mugs'), metadata: '{"owner":"data"}' };
    await updateManifest({ location: root, isLocal: true }, (list) => list.insert('mugs', entry, undefined));
    await withoutManifest(root, () =>
      assert.rejects(catalog.renameTable('mugs', 'cups'), {
        kind: 'InvalidTableState',
        message: /^Can't write the entry of table "cups" back to the list of tables: .*\. The table is complete/,
      }),
    );
    const table = await catalog.openTable('cups');
    assert.equal(await table.countRows(), 1);
    await catalog.close();
  });
});
