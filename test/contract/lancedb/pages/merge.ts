import * as lancedb from '@lancedb/lancedb';

const db = await lancedb.connect(pageUri);
const read = async (table: lancedb.Table) =>
  (await table.query().toArray()).toSorted((a, b) => (JSON.stringify({ ...a }) < JSON.stringify({ ...b }) ? -1 : 1));

// Update or insert.
const members = await db.createTable('members', [
  { id: 0, name: 'Ruth' },
  { id: 1, name: 'Bo' },
]);
const upserted = await members
  .mergeInsert('id')
  .whenMatchedUpdateAll()
  .whenNotMatchedInsertAll()
  .execute([
    { id: 1, name: 'Bodil' },
    { id: 2, name: 'Chen' },
  ]);
pageResults.push({
  'numbers of the upsert': [upserted.numInsertedRows, upserted.numUpdatedRows, upserted.numDeletedRows],
});
pageResults.push({ 'rows written by the upsert': upserted.numRows });
pageResults.push({ 'version of the upsert': upserted.version });
pageResults.push({ 'rows of the upsert': await read(members) });

// Insert what is new.
const sites = await db.createTable('sites', [
  { site: 'lake.example', title: 'Lake' },
  { site: 'hill.example', title: 'Hill' },
]);
await sites
  .mergeInsert('site')
  .whenNotMatchedInsertAll()
  .execute([
    { site: 'lake.example', title: 'Lake again' },
    { site: 'moor.example', title: 'Moor' },
  ]);
pageResults.push({ 'rows of the insert': await read(sites) });
pageResults.push({ 'number of sites': await sites.countRows() });

// Replace a range, by two keys.
const pages = await db.createTable('pages', [
  { book: 0, page: 0, text: 'Once' },
  { book: 0, page: 1, text: 'upon' },
  { book: 1, page: 0, text: 'It' },
  { book: 1, page: 1, text: 'rained' },
]);
await pages
  .mergeInsert(['book', 'page'])
  .whenMatchedUpdateAll()
  .whenNotMatchedInsertAll()
  .whenNotMatchedBySourceDelete({ where: 'book = 1' })
  .execute([{ book: 1, page: 0, text: 'It snowed' }]);
pageResults.push({ 'rows of the range': await pages.countRows('book = 1') });
pageResults.push({ 'rows of the replacement': await read(pages) });

// Update only.
const incoming = [
  { id: 1, name: 'Bodil', visits: 21 },
  { id: 3, name: 'Dara', visits: 5 },
];
const create = () =>
  db.createTable(
    'visitors',
    [
      { id: 0, name: 'Ruth', visits: 10 },
      { id: 1, name: 'Bo', visits: 20 },
      { id: 2, name: 'Chen', visits: 30 },
    ],
    { mode: 'overwrite' },
  );
let visitors = await create();
await visitors.mergeInsert('id').whenMatchedUpdateAll().execute(incoming);
pageResults.push({ 'rows of the update': await read(visitors) });
visitors = await create();
await visitors.mergeInsert('id').whenMatchedUpdateAll({ where: 'target.visits < source.visits' }).execute(incoming);
pageResults.push({ 'rows of the update with a condition': await read(visitors) });

// Delete what is not in the source.
visitors = await create();
const deleted = await visitors
  .mergeInsert('id')
  .whenMatchedUpdateAll()
  .whenNotMatchedInsertAll()
  .whenNotMatchedBySourceDelete()
  .execute(incoming);
pageResults.push({ 'rows deleted': deleted.numDeletedRows });
pageResults.push({ 'rows of the source': await read(visitors) });

// Some of the columns.
visitors = await create();
await visitors
  .mergeInsert('id')
  .whenMatchedUpdateAll()
  .whenNotMatchedInsertAll()
  .execute([
    { id: 1, name: 'Bodil' },
    { id: 3, name: 'Dara' },
  ]);
pageResults.push({ 'rows of some columns': await read(visitors) });

// With an index on the key, used and not used, and with a time limit.
visitors = await create();
await visitors.createIndex('id', { config: lancedb.Index.btree() });
await visitors
  .mergeInsert('id')
  .useIndex(true)
  .whenMatchedUpdateAll()
  .whenNotMatchedInsertAll()
  .execute(incoming, { timeoutMs: 60_000 });
await visitors
  .mergeInsert('id')
  .useIndex(false)
  .whenNotMatchedInsertAll()
  .execute([{ id: 7, name: 'Eve', visits: 1 }]);
pageResults.push({ 'rows with an index': await read(visitors) });
