import assert from 'node:assert/strict';
import { cp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Catalog } from '#catalog/catalog.ts';
import { datasetName, withDataset } from '#engine/dir/dataset.ts';
import { openDir } from '#engine/dir/dirCatalog.ts';
import { planRepair } from '#engine/repair/inspect.ts';
import { manifestFolder } from '#engine/dir/files/manifestTable.ts';
import { repairCatalog } from '#engine/repair/repair.ts';
import type { RepairResult } from '#shared/damage.ts';
import { runCli } from '../../harness/runCli.ts';
import { tempFolder } from '../../harness/temp.ts';
import { fails } from '../expect.ts';
import { startMoto } from '../moto.ts';
import { startEngine } from '../subjects.ts';

type Place = { location: string; isLocal: boolean; storageOptions?: Record<string, string> };

const nothing = { planned: [], recent: 0 };
/** Repairs folders of any age. */
const settled = { minAgeMs: 0 };
const rows = [{ id: 1 }, { id: 2 }];

/** Changes the manifest as an earlier version or another client might have. */
const spoil = (place: Place, where: string, values: Record<string, string>): Promise<unknown> =>
  withDataset(place, manifestFolder, async (connection) => {
    const manifest = await connection.openTable(datasetName);
    if (Object.keys(values).length > 0) await manifest.update({ where, valuesSql: values });
    else await manifest.delete(where);
    manifest.close();
  });

const withoutRow = (place: Place, id: string) => spoil(place, `object_id = '${id}'`, {});

async function contents(db: Catalog, path: readonly string[] = []): Promise<string[]> {
  const found: string[] = [];
  for (const name of await db.tableNames(path)) {
    found.push(`table ${[...path, name].join('/')} ${await (await db.openTable(name, path)).countRows()}`);
  }
  for (const name of (await db.listNamespaces(path)).namespaces) {
    found.push(`namespace ${[...path, name].join('/')}`, ...(await contents(db, [...path, name])));
  }
  return found.toSorted();
}

/** Returns the folder of a table in a namespace. */
const folderOf = async (root: string, id: string): Promise<string> =>
  (await readdir(root)).find((name) => name.endsWith(`_${id}`))!;

suite('repairing a catalog', function () {
  this.timeout(60_000);
  let root: string;
  let place: Place;
  let db: Catalog;
  let sound: string[];

  setup(async () => {
    root = tempFolder();
    place = { location: root, isLocal: true };
    db = await openDir({ root });
    for (const path of [['shop'], ['shop', 'eu']]) await db.createNamespace(path);
    await db.createTable('orders', rows, ['shop', 'eu']);
    await db.createTable('products', rows, ['shop']);
    await db.createTable('t', rows);
    sound = await contents(db);
  });
  teardown(() => db.close());

  /**
   * Asserts that the damage is found, that a plan changes nothing, that a repair leaves no damage, and that the catalog
   * is as expected.
   */
  async function repairs(kinds: readonly string[], expected: readonly string[]): Promise<void> {
    const before = await contents(db).catch(() => undefined);
    const { planned } = await planRepair(place, settled);
    assert.deepEqual(planned.map(({ damage }) => `${damage.kind} ${damage.identifier}`).toSorted(), [...kinds]);
    assert.ok(planned.every(({ damage }) => damage.isRepairable));
    assert.deepEqual(await contents(db).catch(() => undefined), before, 'the plan changed something');
    const { found, left } = await repairCatalog(place, settled);
    assert.equal(found.length, kinds.length);
    assert.deepEqual(left, []);
    const after = await openDir({ root });
    assert.deepEqual(await contents(after), [...expected].toSorted());
    await after.close();
  }

  test('finds nothing in a sound one, also without namespaces, with declared, deregistered and renamed tables', async () => {
    await db.declareTable('later', ['shop']);
    await db.declareTable('later');
    await db.renameTable('orders', 'sold', ['shop', 'eu']);
    await db.deregisterTable('products', ['shop']);
    await db.deregisterTable('t');
    await db.createTable('again', rows, ['shop']);
    const { location } = await db.deregisterTable('again', ['shop']);
    await db.registerTable('again', location!, ['shop']);
    assert.deepEqual(await planRepair(place, settled), nothing);
    assert.deepEqual(await planRepair({ location: tempFolder(), isLocal: true }, settled), nothing);
  });

  test('lists a namespace again whose row is lost', async () => {
    await withoutRow(place, 'shop');
    assert.deepEqual((await db.listNamespaces()).namespaces, []);
    await repairs(['namespace-lost shop'], sound);
  });

  test('lists all namespaces and tables again where the whole list was deleted', async () => {
    await rm(join(root, manifestFolder), { recursive: true });
    await repairs(
      [
        'namespace-lost shop',
        'namespace-lost shop/eu',
        'table-not-listed shop/eu/orders',
        'table-not-listed shop/products',
      ],
      sound,
    );
  });

  test('gives a namespace its row back that a refused table took', async () => {
    const values = { object_type: "'table'", location: "'0a1b2c3d_shop$eu'" };
    await spoil(place, "object_id = 'shop$eu'", values);
    assert.deepEqual((await db.listNamespaces(['shop'])).namespaces, []);
    await repairs(['namespace-lost shop/eu'], sound);
  });

  test('renames a table in the root that took the row of a namespace', async () => {
    await rename(join(root, 't.lance'), join(root, 'shop.lance'));
    await withoutRow(place, 't');
    await spoil(place, "object_id = 'shop'", { object_type: "'table'", location: "'shop.lance'" });
    assert.deepEqual((await db.listNamespaces()).namespaces, []);
    const expected = sound.map((line) => line.replace('table t 2', 'table shop_table 2'));
    await repairs(['name-shared shop'], expected);
  });

  test('renames a table in the root beside a namespace of its name', async () => {
    await rename(join(root, 't.lance'), join(root, 'shop.lance'));
    await withoutRow(place, 't');
    await repairs(
      ['name-shared shop'],
      sound.map((line) => line.replace('table t 2', 'table shop_table 2')),
    );
  });

  test('renames a table that holds a namespace or a table', async () => {
    await spoil(place, "object_id = 'shop$products'", { object_id: "'shop$eu$orders$x'" });
    const expected = sound
      .filter((line) => !/orders|products/.test(line))
      .concat('namespace shop/eu/orders', 'table shop/eu/orders/x 2', 'table shop/eu/orders_table 2');
    await repairs(['name-shared shop/eu/orders'], expected);
  });

  test('lists a table again whose files alone are left, under another name if its own is taken', async () => {
    await withoutRow(place, 'shop$products');
    await db.createTable('products', [{ id: 3 }], ['shop']);
    const expected = sound
      .map((line) => line.replace('products 2', 'products 1'))
      .concat('table shop/products_table 2');
    await repairs(['table-not-listed shop/products_table'], expected);
  });

  test('takes a table off the list whose files are gone', async () => {
    await rm(join(root, await folderOf(root, 'shop$products')), { recursive: true });
    await repairs(
      ['files-missing shop/products'],
      sound.filter((line) => !line.includes('products')),
    );
  });

  test('leaves a folder alone that was made a moment ago: its table may not be listed yet', async () => {
    await withoutRow(place, 'shop$products');
    const folder = join(root, await folderOf(root, 'shop$products'));
    await rename(folder, `${folder}x`);
    await rename(`${folder}x`, folder);
    assert.deepEqual(await planRepair(place), { planned: [], recent: 1 });
  });

  test('leaves to a user what it can not tell: a stray folder below a table, and a table without versions', async () => {
    const stray = await folderOf(root, 'shop$products');
    await cp(join(root, stray), join(root, '0badf00d_t$x'), { recursive: true });
    await rm(join(root, stray, '_versions'), { recursive: true });
    const { found, left } = await repairCatalog(place, settled);
    assert.deepEqual(left, found);
    assert.deepEqual(
      found.map(({ kind, identifier, isRepairable }) => [kind, identifier, isRepairable]),
      [
        ['table-not-listed', 't/x', false],
        ['files-missing', 'shop/products', false],
      ],
    );
    assert.deepEqual(await db.tableNames(), ['t']);
  });

  test('says that the folder of a table is no catalog', async () => {
    await fails(() => planRepair({ location: join(root, 't.lance'), isLocal: true }), 'InvalidInput', 'is a table');
  });

  test('changes nothing where something can not be read, which is not missing', async () => {
    await withoutRow(place, 'shop');
    // No user can read a path below a file.
    await writeFile(join(root, 'file'), '');
    await spoil(place, "object_id = 'shop$products'", { location: "'file/deeper'" });
    await fails(() => repairCatalog(place, settled), 'PermissionDenied', 'file/deeper', 'Nothing was changed');
    await spoil(place, "object_id = 'shop$products'", { location: "'nowhere'" });
    const versions = join(root, manifestFolder, '_versions');
    for (const name of await readdir(versions)) await writeFile(join(versions, name), 'spoilt');
    await fails(() => repairCatalog(place, settled), 'InvalidTableState', '__manifest');
  });
});

suite('repairing a catalog in an object store', function () {
  this.timeout(60_000);
  test('lists namespaces again, renames tables in namespaces, and says what a person has to do in the root', async () => {
    const moto = await startMoto('lenient');
    try {
      const place: Place = { location: moto.root('hurt'), isLocal: false, storageOptions: { ...moto.storageOptions } };
      const db = await openDir({ root: place.location, storageOptions: place.storageOptions! });
      for (const path of [['shop'], ['shop', 'eu']]) await db.createNamespace(path);
      await db.createTable('orders', rows, ['shop', 'eu']);
      await db.createTable('products', rows, ['shop']);
      assert.deepEqual(await planRepair(place), nothing);
      await withoutRow(place, 'shop');
      await spoil(place, "object_id = 'shop$products'", { object_id: "'shop$eu$orders$x'" });
      const { left } = await repairCatalog(place);
      assert.deepEqual(left, []);
      assert.deepEqual(await contents(db), [
        'namespace shop',
        'namespace shop/eu',
        'namespace shop/eu/orders',
        'table shop/eu/orders/x 2',
        'table shop/eu/orders_table 2',
      ]);
      await db.close();
    } finally {
      await moto.stop();
    }
  });
});

suite('repairing a catalog through the engine process', function () {
  this.timeout(60_000);
  test('inspects, repairs and says why it can not', async () => {
    const root = tempFolder();
    const db = await openDir({ root });
    await db.createNamespace(['shop']);
    await db.createTable('products', rows, ['shop']);
    await db.close();
    await withoutRow({ location: root, isLocal: true }, 'shop');
    const engine = await startEngine();
    try {
      const { found } = await engine.inspect({ root });
      assert.deepEqual(
        found.map(({ kind, identifier }) => `${kind} ${identifier}`),
        ['namespace-lost shop'],
      );
      assert.deepEqual(await engine.inspect({ root }), { found, left: found, recent: 0 });
      assert.deepEqual(await engine.repair({ root }), { found, left: [], recent: 0 });
      assert.deepEqual(await engine.inspect({ root }), { found: [], left: [], recent: 0 });
      await fails(() => engine.inspect({ root: join(root, 'nope') }), 'InvalidInput', 'nope', 'mkdir');
      process.kill(engine.handshake.pid, 'SIGKILL');
      await fails(() => engine.inspect({ root }), 'ServiceUnavailable', 'engine process');
    } finally {
      await engine.dispose();
    }
  });
});

const repair = (...args: string[]) => runCli('repair', ...args);

suite('lance-catalog repair', function () {
  this.timeout(60_000);
  let root: string;

  setup(async () => {
    root = tempFolder();
    const db = await openDir({ root });
    await db.createNamespace(['shop']);
    await db.createTable('products', rows, ['shop']);
    await db.close();
    await withoutRow({ location: root, isLocal: true }, 'shop');
  });

  test('shows what it would do, does it with --apply, and then finds nothing', async () => {
    const shown = await repair(root);
    assert.equal(shown.code, 1);
    assert.match(
      shown.stdout,
      /has 1 problem:\n\n {2}1\. Namespace "shop" is not listed, but holds "shop\/products"\./,
    );
    assert.match(shown.stdout, /Fix: List the namespace again.*\n\nNothing was changed\. Run it again with --apply/);
    const db = await openDir({ root });
    assert.deepEqual((await db.listNamespaces()).namespaces, []);
    assert.match((await repair(root, '--apply')).stdout, /Repaired 1 problem\./);
    assert.deepEqual((await db.listNamespaces()).namespaces, ['shop']);
    await db.close();
    assert.deepEqual(await repair(root), { code: 0, stdout: `Catalog "${root}" has no damage.\n`, stderr: '' });
  });

  test('prints JSON', async () => {
    const { found, left } = JSON.parse((await repair(root, '--apply', '--json')).stdout) as RepairResult;
    assert.deepEqual(
      [found.map(({ kind, identifier }) => `${kind} ${identifier}`), left],
      [['namespace-lost shop'], []],
    );
  });

  test('says that folders are too young to tell, and does not call the catalog sound', async () => {
    await rm(join(root, manifestFolder), { recursive: true });
    const { code, stdout } = await repair(root);
    assert.equal(code, 1);
    assert.match(stdout, /^1 folder of a table is not listed and less than a minute old: run it again in a minute\.$/m);
  });

  test('refuses a server, a missing directory and no catalog', async () => {
    const server = await repair('https://catalog.example.com');
    assert.deepEqual([server.code, server.stdout], [2, '']);
    assert.match(server.stderr, /works on the storage itself/);
    assert.equal((await repair(join(root, 'nope'))).code, 1);
    assert.match((await repair()).stderr, /needs one CATALOG/);
  });
});
