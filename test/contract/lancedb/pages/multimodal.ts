import * as lancedb from '@lancedb/lancedb';
import * as arrow from 'apache-arrow';
import { Buffer } from 'node:buffer';

const db = await lancedb.connect(pageUri);

/** Returns bytes that begin like a PNG file and differ by color. */
const drawImage = (color: string): Uint8Array =>
  Buffer.concat([Buffer.from(Uint8Array.from([137, 80, 78, 71, 13, 10, 26, 10])), Buffer.from(color, 'utf8')]);

const tiles = [
  { id: 1, file: 'green.png', vector: Array.from({ length: 32 }, (_, i) => (i % 8) / 8), image: drawImage('green') },
  {
    id: 2,
    file: 'amber.png',
    vector: Array.from({ length: 32 }, (_, i) => ((i + 3) % 8) / 8),
    image: drawImage('amber'),
  },
  { id: 3, file: 'grey.png', vector: Array.from({ length: 32 }, () => 0.25), image: drawImage('grey') },
];
const schema = new arrow.Schema([
  new arrow.Field('id', new arrow.Int32()),
  new arrow.Field('file', new arrow.Utf8()),
  new arrow.Field('vector', new arrow.FixedSizeList(32, new arrow.Field('item', new arrow.Float32(), true))),
  new arrow.Field('image', new arrow.Binary()),
]);
const table = await db.createTable('tiles', lancedb.makeArrowTable(tiles, { schema }), { mode: 'overwrite' });
pageResults.push({ 'rows of tiles': await table.countRows() });
pageResults.push({ columns: (await table.schema()).fields.map(({ name, type }) => [name, String(type)]) });

const found = await table
  .search(Array.from({ length: 32 }, (_, i) => (i % 8) / 8))
  .limit(1)
  .toArray();
pageResults.push({ 'nearest tile': found });
for (const row of found) {
  const bytes = row.image as Uint8Array;
  pageResults.push({ 'bytes of the image': [row.file, bytes.length, bytes instanceof Uint8Array] });
  pageResults.push({ 'end of the image': Buffer.from(bytes.subarray(8)).toString('utf8') });
}
pageResults.push({
  'a tile by its name': await table.query().where("file = 'grey.png'").select(['id', 'image']).toArray(),
});
pageResults.push({ 'rows with an image': await table.countRows('image IS NOT NULL') });
await table.add(
  lancedb.makeArrowTable(
    [{ id: 4, file: 'blue.png', vector: Array.from({ length: 32 }, () => 0.5), image: drawImage('blue') }],
    { schema },
  ),
);
pageResults.push({ 'rows after the addition': await table.countRows() });
const read = await table.query().select(['file', 'image']).toArrow();
pageResults.push({ 'files in an Arrow table': read.getChild('file')?.toJSON() });
pageResults.push({ 'an image in an Arrow table': read.getChild('image')?.get(3) });
await table.update({ where: 'id = 4', values: { file: 'navy.png' } });
await table.delete('id = 3');
pageResults.push({ 'files after the changes': await table.query().select(['id', 'file']).toArray() });

// Large binary values.
const clips = [
  { id: 1, clip: Buffer.from('frames of the first clip') },
  { id: 2, clip: Buffer.from('frames of the second clip') },
];
const clipSchema = (metadata: Map<string, string>) =>
  new arrow.Schema([
    new arrow.Field('id', new arrow.Int64()),
    new arrow.Field('clip', new arrow.LargeBinary(), true, metadata),
  ]);
const blobs = lancedb.makeArrowTable(clips, { schema: clipSchema(new Map([['lance-encoding:blob', 'true']])) });
pageResults.push({
  'a blob column of the older format': await db.createTable('blobs', blobs, { mode: 'overwrite' }).then(
    () => 'created',
    () => 'refused',
  ),
});
const clipTable = await db.createTable(
  'clips',
  lancedb.makeArrowTable(clips, { schema: clipSchema(new Map([['codec', 'raw']])) }),
  { mode: 'overwrite' },
);
pageResults.push({ 'rows of clips': await clipTable.query().toArray() });
pageResults.push({
  'metadata of the clip': Object.fromEntries((await clipTable.schema()).fields[1]?.metadata ?? []),
});

// Text, image and a list of labels in one row.
const scenes = await db.createTable('scenes', [
  { id: 1, caption: 'A fox in snow', labels: ['fox', 'snow'], box: { x: 1.5, y: 2.5 }, vector: [0.5, 0.25, 0.125] },
  { id: 2, caption: 'A boat at dusk', labels: ['boat'], box: { x: 3.5, y: 4.5 }, vector: [0.1, 0.2, 0.3] },
]);
await scenes.createIndex('caption', { config: lancedb.Index.fts() });
pageResults.push({ 'scenes by a word': await scenes.search('fox', 'fts').toArray() });
pageResults.push({ 'scenes by a vector': await scenes.search([0.1, 0.2, 0.3]).limit(2).toArray() });
