import { Field, FixedSizeList, Float32, Float64, Int64, Schema, Utf8 } from '#arrow';
import { openDir } from '#engine/dir/dirCatalog.ts';

/** The columns of every table in this root. */
export const columns = new Schema([
  new Field('id', new Int64(), true),
  new Field('name', new Utf8(), true),
  new Field('price', new Float64(), true),
  new Field('embedding', new FixedSizeList(2, new Field('item', new Float32(), true)), true),
]);

const rows = [
  { id: 1n, name: 'mug', price: 4.5, embedding: [1, 0] },
  { id: 2n, name: 'red mug', price: null, embedding: [0, 1] },
  { id: 3n, name: null, price: 3, embedding: [1, 1] },
];

/** Creates a root in which requests find namespaces, tables, versions, tags, branches and indexes. */
export async function makeConformanceRoot(root: string): Promise<void> {
  const db = await openDir({ root });
  const make = async (name: string, path: string[]) => {
    const table = await db.createTable(name, rows, path, { schema: columns });
    await table.add([rows[0]!]);
    await table.tags().create('v1', 1);
    await table.branches().create('side');
    await table.createIndex('id', { type: 'BTREE' });
    await table.createIndex('name', { type: 'FTS' });
  };
  for (const path of [['shop'], ['shop', 'eu'], ['lab'], ['made'], ['doomed'], ['doomed', 'deep']]) {
    await db.createNamespace(path, { properties: { team: 'data' } });
  }
  await make('products', ['shop']);
  await make('orders', ['shop', 'eu']);
  await make('notes', []);
  await make('products', ['lab']);
  await make('other', ['lab']);
  for (const name of ['a', 'b', 'c']) await make(name, ['doomed']);
  await db.close();
}
