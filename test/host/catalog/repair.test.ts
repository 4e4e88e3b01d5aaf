import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ExtensionApi } from '../../../extension/extension.ts';
import { PersonStandIn } from '../person.ts';
import { eventually, extensionApi, makeCatalog, nameOf, rowsAt, run, temporaryFolder } from '../support.ts';

suite('a damaged catalog in the tree', () => {
  const folder = temporaryFolder();
  let api: ExtensionApi;

  suiteSetup(async () => {
    api = await extensionApi();
    await makeCatalog(api, folder.path);
    await run('lanceCatalog.connection.add', { name: 'damaged', root: folder.path });
  });
  suiteTeardown(async () => {
    await api.connections.remove('damaged');
    folder.remove();
  });

  test('has no warning while it is sound', async () => {
    assert.deepEqual((await rowsAt(api, 'damaged')).map(nameOf), ['lab', 'shop']);
    const user = new PersonStandIn({});
    await user.during(() => run('lanceCatalog.catalog.repair', connectionRow()));
    assert.deepEqual(user.questions, []);
  });

  test('warns, shows what a repair does, and repairs when the user agrees', async () => {
    const tableFolder = readdirSync(folder.path).find((name) => name.endsWith('_shop$eu$orders'));
    assert.ok(tableFolder);
    rmSync(join(folder.path, tableFolder), { recursive: true });
    await run('lanceCatalog.catalog.refreshAll');
    await rowsAt(api, 'damaged');
    await eventually('the warning', () => api.health.of('damaged').length === 1);
    const [warning] = await rowsAt(api, 'damaged');
    assert.ok(warning?.kind === 'damage');
    assert.equal(api.tree.getTreeItem(warning).label, 'Repair 1 problem…');

    const hesitant = new PersonStandIn({ chooses: [undefined] });
    await hesitant.during(() => run('lanceCatalog.catalog.repair', warning));
    assert.match(hesitant.questions[0]!.message, /^Repair 1 problem in "damaged"\?$/);
    assert.match(
      hesitant.questions[0]!.detail,
      /"shop\/eu\/orders" is listed, but its folder .*\nFix: Remove the table from/,
    );
    assert.deepEqual((await rowsAt(api, 'damaged', 'shop', 'eu')).map(nameOf), ['orders']);

    const user = new PersonStandIn({ chooses: ['Repair'] });
    await user.during(() => run('lanceCatalog.catalog.repair', warning));
    assert.deepEqual(api.health.of('damaged'), []);
    assert.deepEqual((await rowsAt(api, 'damaged')).map(nameOf), ['lab', 'shop']);
    assert.deepEqual(await (await api.engine.catalog(folder.path)).tableNames(['shop', 'eu']), []);
  });

  const connectionRow = () => {
    const connection = api.connections.get('damaged');
    assert.ok(connection);
    return { kind: 'connection', connection } as const;
  };
});
