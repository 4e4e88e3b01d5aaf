import * as lancedb from '@lancedb/lancedb';
import { Binary, Field, FixedSizeList, Float32, Schema, Utf8 } from 'apache-arrow';

const db = await lancedb.connect(pageUri);
const instruments = [
  {
    id: '1',
    name: 'Cello',
    family: 'strings',
    sound: 'Warm and low, played with a bow.',
    range: { low: 2, high: 6, loud: 3 },
    vector: [0.8, 0.1, 0.3, 0.2],
  },
  {
    id: '2',
    name: 'Trumpet',
    family: 'brass',
    sound: 'Bright, and heard over a full orchestra.',
    range: { low: 3, high: 6, loud: 5 },
    vector: [0.1, 0.9, 0.6, 0.4],
  },
  {
    id: '3',
    name: 'Celesta',
    family: 'keyboard',
    sound: 'Soft bells, struck by keys.',
    range: { low: 4, high: 8, loud: 1 },
    vector: [0.3, 0.2, 0.1, 0.9],
  },
];

let table = await db.createTable('instruments', instruments, { mode: 'overwrite' });
pageResults.push({ 'rows after the first create': await table.countRows() });
await db.dropTable('instruments');
table = await db.createTable('instruments', instruments);
pageResults.push({ 'rows after the second create': await table.countRows() });
pageResults.push({ 'all rows': await table.query().toArray() });

let wanted = [0.2, 0.8, 0.5, 0.5];
let found = await table.search(wanted).select(['name', 'family', 'sound', '_distance']).limit(2).toArray();
pageResults.push({ 'nearest two': found });
pageResults.push({ 'name of the nearest': found[0]?.name });
const loud = await table
  .search(wanted)
  .where('range.loud >= 3')
  .select(['name', 'sound', '_distance'])
  .limit(2)
  .toArray();
pageResults.push({ 'nearest loud ones': loud });
found = await table.search(wanted).limit(2).toArray();
pageResults.push({ 'nearest with all columns': found });

await table.addColumns([
  { name: 'width', valueSql: 'cast(((range.high - range.low) / 2.0) as float)' },
  { name: 'label', valueSql: "concat(name, ' (', family, ')')" },
]);
const schema = await table.schema();
pageResults.push({ 'columns after the addition': schema.fields.map((field) => [field.name, String(field.type)]) });
pageResults.push({ 'new columns': await table.query().select(['name', 'width', 'label']).toArray() });

const pictureSchema = new Schema([
  new Field('id', new Utf8()),
  new Field('caption', new Utf8()),
  new Field('picture', new Binary()),
  new Field('vector', new FixedSizeList(4, new Field('item', new Float32(), true))),
]);
const pictures = lancedb.makeArrowTable(
  [
    {
      id: 'cello',
      caption: 'A cello in its case',
      picture: Buffer.from([0xff, 0xd8, 0xff, 0xe0]),
      vector: [0.8, 0.1, 0.3, 0.2],
    },
  ],
  { schema: pictureSchema },
);
const pictureTable = await db.createTable('pictures', pictures, { mode: 'overwrite' });
pageResults.push({ 'rows of pictures': await pictureTable.countRows() });
pageResults.push({ pictures: await pictureTable.query().toArray() });

table = await db.openTable('instruments');
await table.add([
  {
    id: '4',
    name: 'Tuba',
    family: 'brass',
    sound: 'The floor of the brass section.',
    range: { low: 1, high: 4, loud: 5 },
    vector: [0.6, 0.7, 0.4, 0.1],
    width: 1.5,
    label: 'Tuba (brass)',
  },
]);
pageResults.push({ 'rows after the addition': await table.countRows() });
wanted = [0.6, 0.7, 0.4, 0.1];
pageResults.push({ 'nearest of four': await table.search(wanted).limit(2).toArray() });
pageResults.push({ 'names of tables': await db.tableNames() });
