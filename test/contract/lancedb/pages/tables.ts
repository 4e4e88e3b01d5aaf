import * as lancedb from '@lancedb/lancedb';
import * as arrow from 'apache-arrow';

const db = await lancedb.connect(pageUri);

// Rows decide about the columns.
type Station = { vector: number[]; lat: number; long: number; depth: number };
const stations: Station[] = [
  { vector: [3.5, 1.25], lat: 54.25, long: 7.9, depth: 12 },
  { vector: [0.5, 2.75], lat: 43.1, long: -9.2, depth: 88.5 },
];
const table = await db.createTable('stations', stations, { mode: 'overwrite' });
pageResults.push({ 'rows of stations': await table.countRows() });
pageResults.push({
  'columns told from rows': (await table.schema()).fields.map(({ name, type, nullable }) => [
    name,
    String(type),
    nullable,
  ]),
});
let kept = await db.createTable('stations', stations, { existOk: true });
pageResults.push({ 'rows of the kept table': await kept.countRows() });
kept = await db.createTable('stations', [{ vector: [1, 2], lat: 1.5, long: 2.5, depth: 3 }], { mode: 'overwrite' });
pageResults.push({ 'rows of the replaced table': await kept.countRows() });
const named = await db.createTable({ name: 'buoys', data: stations, mode: 'create' });
pageResults.push({ 'rows of the named table': await named.countRows() });
const mixed = await db.createTable('mixed', [
  { count: 7, ratio: 0.5, tags: ['a', 'b'], scores: [1, 2, 3], isOpen: true, note: null, place: { x: 1.5, y: 'z' } },
  { count: 8, ratio: 2, tags: ['c'], scores: [4], isOpen: false, note: 'text', place: { x: 2, y: 'w' } },
]);
pageResults.push({
  'columns of mixed rows': (await mixed.schema()).fields.map(({ name, type }) => [name, String(type)]),
});
pageResults.push({ 'mixed rows': await mixed.query().toArray() });

// A schema decides.
const schema = new arrow.Schema([
  new arrow.Field('vector', new arrow.FixedSizeList(4, new arrow.Field('item', new arrow.Float32(), true))),
  new arrow.Field('lat', new arrow.Float32()),
  new arrow.Field('long', new arrow.Float32()),
]);
const typed = await db.createTable(
  'typed',
  lancedb.makeArrowTable(
    [
      { vector: [1.1, 1.2, 1.3, 1.4], lat: 54.25, long: 7.9 },
      { vector: [0.2, 1.8, 0.4, 3.6], lat: 43.1, long: -9.2 },
    ],
    { schema },
  ),
  { mode: 'overwrite' },
);
pageResults.push({ 'rows of the schema': await typed.query().toArray() });

// Batches, one after another.
const batchSchema = new arrow.Schema([
  new arrow.Field('vector', new arrow.FixedSizeList(2, new arrow.Field('item', new arrow.Float32(), true))),
  new arrow.Field('item', new arrow.Utf8()),
  new arrow.Field('price', new arrow.Float32()),
]);
const batched = await db.createEmptyTable('batched', batchSchema, { mode: 'overwrite' });
pageResults.push({ 'rows of the empty table': await batched.countRows() });
const rows = Array.from({ length: 10 }, (_, i) => ({ vector: [i, i + 0.5], item: `part-${i}`, price: i * 10 }));
for (let i = 0; i < rows.length; i += 4) {
  await batched.add(lancedb.makeArrowTable(rows.slice(i, i + 4), { schema: batchSchema }));
}
pageResults.push({ 'rows of batches': await batched.countRows() });
pageResults.push({ 'prices of batches': (await batched.toArrow()).getChild('price')?.toArray() });

pageResults.push({ 'names of tables': await db.tableNames() });
pageResults.push({ 'names after one': await db.tableNames({ startAfter: 'buoys', limit: 2 }) });
const opened = await db.openTable('typed');
pageResults.push({ 'name of the opened table': opened.name });
pageResults.push({ 'rows of the opened table': await opened.countRows() });
await db.dropTable('buoys');
pageResults.push({ 'names after the drop': await db.tableNames() });

// Columns change.
const goods = await db.createTable('goods', [
  { id: 1, name: 'Kettle', price: 40.0, old: 'X' },
  { id: 2, name: 'Toaster', price: 25.5, old: 'Y' },
  { id: 3, name: 'Blender', price: 60.0, old: 'Z' },
]);
await goods.addColumns([{ name: 'reduced', valueSql: 'cast((price * 0.5) as float)' }]);
await goods.addColumns([{ name: 'in_stock', valueSql: 'cast(true as boolean)' }]);
await goods.addColumns([{ name: 'last_ordered', valueSql: 'cast(NULL as timestamp)' }]);
await goods.addColumns([{ name: 'stocked', valueSql: "cast('2026-03-01 10:30:00' as timestamp)" }]);
await goods.addColumns([
  { name: 'price_log', valueSql: 'ln(price)' },
  { name: 'share', valueSql: 'cast(price / (price + 60.0) as float)' },
]);
pageResults.push({ 'rows with new columns': await goods.query().toArray() });
await goods.alterColumns([{ path: 'reduced', rename: 'sale' }]);
await goods.alterColumns([{ path: 'sale', dataType: new arrow.Float64() }]);
await goods.alterColumns([{ path: 'name', nullable: true }]);
await goods.alterColumns([{ path: 'sale', rename: 'final', dataType: 'float', nullable: true }]);
await goods.dropColumns(['old']);
await goods.dropColumns(['share', 'price_log']);
pageResults.push({
  'columns after the changes': (await goods.schema()).fields.map(({ name, type, nullable }) => [
    name,
    String(type),
    nullable,
  ]),
});

// The length of a vector can't change, so a new column takes the place of the old one.
const half = await db.createTable(
  'half',
  lancedb.makeArrowTable([{ id: 1, embedding: [0.5, 0.25, 1, 2] }], {
    schema: new arrow.Schema([
      new arrow.Field('id', new arrow.Int64()),
      new arrow.Field(
        'embedding',
        new arrow.FixedSizeList(4, new arrow.Field('item', new arrow.Float16(), true)),
        true,
      ),
    ]),
  }),
);
pageResults.push({ 'rows of half floats': await half.query().toArray() });
await half.addColumns([{ name: 'embedding_v2', valueSql: "arrow_cast(NULL, 'FixedSizeList(8, Float16)')" }]);
await half.dropColumns(['embedding']);
await half.alterColumns([{ path: 'embedding_v2', rename: 'embedding' }]);
pageResults.push({ 'type of the longer vector': String((await half.schema()).fields[1]?.type) });

const labels = await db.createTable('labels', [{ id: 0, category: 'a' }]);
const set = await labels.updateFieldMetadata([{ path: 'category', metadata: { unit: 'label', pii: 'false' } }]);
pageResults.push({ 'version of the metadata': set.version });
await labels.updateFieldMetadata([{ path: 'category', metadata: { source: 'import', pii: null } }]);
const metadata = async () => Object.fromEntries((await labels.schema()).fields[1]?.metadata ?? []);
pageResults.push({ 'merged metadata': await metadata() });
await labels.updateFieldMetadata([{ path: 'category', metadata: { owner: 'team' }, replace: true }]);
pageResults.push({ 'replaced metadata': await metadata() });

// Rows change.
const users = await db.createTable('users', [
  { id: 1, name: 'Ines', logins: 10 },
  { id: 2, name: 'Otto', logins: 20 },
  { id: 3, name: 'Uma', logins: 5 },
]);
const updated = await users.update({ where: 'id = 2', values: { name: 'Otis' } });
pageResults.push({ 'rows that were updated': updated.rowsUpdated });
pageResults.push({ 'result of an update': updated });
await users.update({ where: 'id = 2', valuesSql: { logins: 'logins + 1' } });
await users.update({ logins: 'logins * 2' }, { where: 'id = 3' });
await users.update(new Map([['name', "'Nobody'"]]), { where: 'logins > 100' });
pageResults.push({ 'updated rows': await users.query().toArray() });
pageResults.push({ 'result of a deletion': await users.delete('id = 3') });
pageResults.push({ 'rows after the deletion': await users.countRows() });
const yesterday = new Date();
yesterday.setDate(yesterday.getDate() - 1);
const optimized = await users.optimize({ cleanupOlderThan: yesterday });
pageResults.push({ 'files of the compaction': [optimized.compaction.filesRemoved, optimized.compaction.filesAdded] });
pageResults.push({ 'versions removed': optimized.prune.oldVersionsRemoved });
pageResults.push({ 'rows after optimize': await users.query().toArray() });
