import * as lancedb from '@lancedb/lancedb';
import type { VectorQuery } from '@lancedb/lancedb';

const db = await lancedb.connect(pageUri);
const plants = Array.from({ length: 60 }, (_, i) => ({
  vector: [i, 2 * i, 60 - i],
  id: i,
  item: `plant ${i}`,
  price: i * 1.5,
  family: ['fern', 'moss', 'rose'][i % 3]!,
  note: i % 5 === 0 ? null : `note ${i}`,
  isEdible: i % 2 === 0,
  care: { water: i % 4, light: i % 6 },
}));
const table = await db.createTable('plants', plants, { mode: 'overwrite' });
const names = ['id', 'item', 'price'];

pageResults.push({ 'nearest with a filter': await table.search([1, 2, 59]).limit(1).where('id = 10').toArray() });
pageResults.push({
  'nearest with a filter behind': await (table.search([0, 0, 60]) as VectorQuery)
    .where("(item IN ('plant 0', 'plant 2')) AND (id > 10)")
    .postfilter()
    .toArray(),
});
pageResults.push({
  'nearest with two filters': await table
    .search([10, 20, 50])
    .where("item IN ('plant 3', 'plant 9', 'plant 12')")
    .where('price > 5.0')
    .select(names)
    .limit(3)
    .toArray(),
});
pageResults.push({ 'by SQL': await table.query().where('id = 10').limit(10).toArray() });
pageResults.push({
  'by a list and a number': await table
    .query()
    .where("(family IN ('fern', 'rose')) AND (price > 80.0)")
    .select(names)
    .toArray(),
});
pageResults.push({ 'by filter': await table.query().filter('id < 3').select(names).toArray() });
pageResults.push({ 'by a pattern': await table.query().where("item LIKE 'plant 5%'").select(['id']).toArray() });
pageResults.push({ 'by no pattern': await table.countRows("item NOT LIKE 'plant 5%'") });
pageResults.push({
  'by an expression': await table.query().where("regexp_match(item, '^plant [12]$')").select(['id']).toArray(),
});
pageResults.push({ 'by null': await table.query().where('note IS NULL').select(['id', 'note']).limit(20).toArray() });
pageResults.push({ 'by no null': await table.countRows('note IS NOT NULL AND id > 50') });
pageResults.push({ 'by a boolean': await table.countRows('isEdible') });
pageResults.push({ 'by no boolean': await table.countRows('NOT `isEdible`') });
pageResults.push({ 'by a struct': await table.query().where('care.water = 3 AND care.light > 4').toArray() });
pageResults.push({ 'by a range': await table.countRows('price BETWEEN 10 AND 20') });
pageResults.push({ 'by a cast': await table.countRows('cast(price AS int) = 15') });
pageResults.push({
  'a page': await table.query().where('id >= 10').select(['id']).limit(4).offset(3).toArray(),
});
pageResults.push({
  'computed columns': await table
    .query()
    .where('id < 4')
    .select(
      new Map([
        ['double', 'price * 2'],
        ['upper', 'upper(item)'],
      ]),
    )
    .toArray(),
});
pageResults.push({
  'computed columns of an object': await table
    .query()
    .where('id = 7')
    .select({ half: 'price / 2', id: 'id' })
    .toArray(),
});
pageResults.push({
  'in descending order': await table
    .query()
    .where("family = 'moss'")
    .orderBy({ columnName: 'price', ascending: false })
    .select(names)
    .limit(3)
    .toArray(),
});
pageResults.push({
  'in the order of two columns': await table
    .query()
    .orderBy([
      { columnName: 'family', ascending: true },
      { columnName: 'id', ascending: false },
    ])
    .select(['family', 'id'])
    .limit(4)
    .toArray(),
});
pageResults.push({ 'without a limit': (await table.query().toArray()).length });
pageResults.push({ 'nearest without a limit': (await table.search([1, 2, 3]).toArray()).length });
pageResults.push({ 'rows by position': await table.takeOffsets([5, 2, 40]).select(['id']).toArray() });
pageResults.push({
  'columns of a query': (await table.query().select(['id', 'item']).outputSchema()).fields.map(({ name, type }) => [
    name,
    String(type),
  ]),
});
let counted = 0;
for await (const batch of table.query().where('id < 25').select(['id'])) counted += batch.numRows;
pageResults.push({ 'rows of batches': counted });
await table.delete("family = 'fern' OR price > 60");
pageResults.push({ 'rows after a deletion': await table.countRows() });
