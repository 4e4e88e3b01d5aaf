import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import * as upstream from '@lancedb/lancedb';
import { connect, connectNamespace } from '#catalog/connect.ts';
import { registerDir } from '#engine/register.ts';
import { python } from '../../harness/needs/python.ts';
import { tempFolder } from '../../harness/temp.ts';

const run = promisify(execFile);

/** Runs a Python program with the upstream client, and parses its output as JSON. */
async function inPython(root: string, program: string): Promise<unknown> {
  const { stdout } = await run(python(), ['-c', `import json, sys, lancedb\nroot = sys.argv[1]\n${program}`, root], {
    timeout: 60_000,
  });
  return JSON.parse(stdout);
}

const rows = [
  { id: 1, name: 'mug', price: 9.5 },
  { id: 2, name: 'lamp', price: 59 },
];

suite('upstream clients', function () {
  this.timeout(90_000);
  suiteSetup(() => registerDir());

  test('JavaScript sees our tables in the root, and their exact rows', async () => {
    const root = join(tempFolder(), 'catalog');
    await (await connect(root)).createTable('products', rows);
    assert.ok(existsSync(join(root, 'data')));
    const db = await upstream.connect(root);
    assert.deepEqual(await db.tableNames(), ['products']);
    const found = (await (await db.openTable('products')).query().toArray()) as { toJSON(): unknown }[];
    assert.deepEqual(
      found.map((row) => row.toJSON()),
      [
        { id: 1, name: 'mug', price: 9.5 },
        { id: 2, name: 'lamp', price: 59 },
      ],
    );
  });

  test('we see the tables that JavaScript made in the root, and they see what we add', async () => {
    const root = tempFolder();
    const theirs = await upstream.connect(root);
    const table = await theirs.createTable('products', rows);
    const db = await connect(root);
    assert.deepEqual(await db.tableNames(), ['products']);
    const ours = await db.openTable('products');
    assert.deepEqual(await ours.query().select(['id', 'name']).toArray(), [
      { id: 1, name: 'mug' },
      { id: 2, name: 'lamp' },
    ]);
    await ours.add([{ id: 3, name: 'chair', price: 120 }]);
    await table.checkoutLatest();
    assert.equal(await table.countRows(), 3);
  });

  test('Python sees our tables in the root, and their exact rows', async () => {
    const root = join(tempFolder(), 'catalog');
    await (await connect(root)).createTable('products', rows);
    const found = await inPython(
      root,
      `db = lancedb.connect(root)
print(json.dumps({"names": list(db.table_names()), "rows": db.open_table("products").to_arrow().to_pylist()}))`,
    );
    assert.deepEqual(found, { names: ['products'], rows });
  });

  test('we see the tables that Python made in the root', async () => {
    const root = tempFolder();
    await inPython(
      root,
      `import pyarrow as pa
db = lancedb.connect(root)
db.create_table("products", pa.table({"id": pa.array([1, 2], pa.int32()), "name": ["mug", "lamp"]}))
print("null")`,
    );
    const db = await connect(root);
    assert.deepEqual(await db.tableNames(), ['products']);
    assert.deepEqual(await (await db.openTable('products')).query().toArray(), [
      { id: 1, name: 'mug' },
      { id: 2, name: 'lamp' },
    ]);
    assert.deepEqual(await inPython(root, 'print(json.dumps(list(lancedb.connect(root).table_names())))'), [
      'products',
    ]);
  });

  test('namespaces are the same to both, one called data too', async () => {
    const root = join(tempFolder(), 'catalog');
    const ours = await connect(root);
    await ours.createNamespace(['data']);
    await ours.createTable('t', rows, ['data']);
    const theirs = await upstream.connectNamespace('dir', { root });
    assert.deepEqual((await theirs.listNamespaces([])).namespaces, ['data']);
    assert.equal(await (await theirs.openTable('t', ['data'])).countRows(), 2);
    await theirs.createNamespace(['theirs']);
    const table = await theirs.createTable('u', rows, ['theirs']);
    assert.equal(await table.countRows(), 2);
    const again = await connectNamespace('dir', { root });
    assert.deepEqual((await again.listNamespaces()).namespaces.toSorted(), ['data', 'theirs']);
    assert.equal(await (await again.openTable('u', ['theirs'])).countRows(), 2);
  });

  test('a catalog that was moved to another folder opens there', async () => {
    const { rename } = await import('node:fs/promises');
    const folder = tempFolder();
    const db = await connect(join(folder, 'before'));
    await db.createNamespace(['shop']);
    await db.createTable('products', rows, ['shop']);
    await db.close();
    await rename(join(folder, 'before'), join(folder, 'after'));
    const moved = await connectNamespace('dir', { root: join(folder, 'after') });
    assert.equal(await (await moved.openTable('products', ['shop'])).countRows(), 2);
  });
});
