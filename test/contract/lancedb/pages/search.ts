import * as lancedb from '@lancedb/lancedb';
import type { VectorQuery } from '@lancedb/lancedb';
import { Field, FixedSizeList, Float32, Int32, Schema, Struct, Uint8 } from 'apache-arrow';

const db = await lancedb.connect(pageUri);

const songs = Array.from({ length: 300 }, (_, i) => ({
  vector: Array.from({ length: 16 }, (__, k) => Math.sin(i * 0.7 + k * (1 + (i % 7)))),
  id: i,
  title: `song ${i}`,
  mood: i % 4,
}));
await db.createTable('songs', songs);
const table = await db.openTable('songs');
const wanted = Array.from({ length: 16 }, (_, k) => Math.cos(k * 1.3));

pageResults.push({ 'nearest by the default': await table.search(wanted).limit(5).toArray() });
pageResults.push({
  'nearest by angle': await (table.search(wanted) as VectorQuery)
    .distanceType('cosine')
    .select(['id', '_distance'])
    .limit(5)
    .toArray(),
});
pageResults.push({
  'nearest by product': await table
    .vectorSearch(wanted)
    .distanceType('dot')
    .select(['id', '_distance'])
    .limit(5)
    .toArray(),
});
pageResults.push({
  'in a range of distances': await (table.search(wanted) as VectorQuery)
    .distanceType('cosine')
    .distanceRange(0.3, 0.5)
    .select(['id', '_distance'])
    .limit(10)
    .toArray(),
});
pageResults.push({
  'with a filter': await table
    .search(wanted)
    .where('mood > 2')
    .select(['title', 'mood', '_distance'])
    .limit(5)
    .toArray(),
});
pageResults.push({
  'with a filter behind': await (table.search(wanted) as VectorQuery)
    .where('mood > 2')
    .postfilter()
    .select(['title', 'mood', '_distance'])
    .limit(5)
    .toArray(),
});
pageResults.push({
  'behind the first five': await table
    .query()
    .nearestTo(wanted)
    .select(['id', '_distance'])
    .limit(3)
    .offset(5)
    .toArray(),
});
pageResults.push({
  'with row ids': await table.query().nearestTo(wanted).withRowId().select(['id']).limit(2).toArray(),
});

// Several vectors in one search.
const vectors = [0, 1, 2].map((shift) => Array.from({ length: 16 }, (_, k) => Math.cos(k * 1.3 + shift)));
let batch = table.search(vectors[0]!) as VectorQuery;
for (const vector of vectors.slice(1)) batch = batch.addQueryVector(vector);
const several = await batch.select(['id', 'mood', '_distance']).limit(2).toArray();
pageResults.push({ 'rows of three vectors': several.length });
pageResults.push({
  'three vectors': several.toSorted((a, b) => a.query_index - b.query_index || a._distance - b._distance),
});

// Bits, packed into bytes.
const bits = lancedb.makeArrowTable(
  Array.from({ length: 256 }, (_, i) => ({
    id: i,
    vector: lancedb.packBits(Array.from({ length: 64 }, (__, k) => (k < i % 64 ? 1 : 0))),
  })),
  {
    schema: new Schema([
      new Field('id', new Int32(), true),
      new Field('vector', new FixedSizeList(8, new Field('item', new Uint8()))),
    ]),
  },
);
const binary = await db.createTable('bits', bits, { mode: 'overwrite' });
await binary.createIndex('vector', { config: lancedb.Index.ivfFlat({ numPartitions: 4, distanceType: 'hamming' }) });
const nearBits = await binary
  .query()
  .nearestTo(lancedb.packBits(Array.from({ length: 64 }, (_, k) => (k < 10 ? 1 : 0))))
  .nprobes(4)
  .limit(4)
  .toArrow();
pageResults.push({ 'rows of bits': nearBits.numRows });
pageResults.push({ 'distances of bits': nearBits.getChild('_distance')?.toArray() });

// A vector inside of a struct.
const nested = await db.createTable(
  'nested',
  lancedb.makeArrowTable(
    Array.from({ length: 300 }, (_, i) => ({
      id: i,
      image: { embedding: [Math.sin(i), Math.cos(i), Math.sin(2 * i), Math.cos(3 * i)] },
    })),
    {
      schema: new Schema([
        new Field('id', new Int32()),
        new Field(
          'image',
          new Struct([new Field('embedding', new FixedSizeList(4, new Field('item', new Float32(), true)))]),
        ),
      ]),
    },
  ),
);
pageResults.push({ 'nearest nested': await nested.query().nearestTo([0, 1, 0, 1]).limit(2).toArray() });
pageResults.push({
  'nearest nested by name': await nested.query().nearestTo([0, 1, 0, 1]).column('image.embedding').limit(2).toArray(),
});
await nested.createIndex('image.embedding');
pageResults.push({ 'columns of the nested index': (await nested.listIndices()).map(({ columns }) => columns) });

// An index, and the true distances beside it.
await table.createIndex('vector', { config: lancedb.Index.ivfPq({ numPartitions: 2, numSubVectors: 8 }) });
const near = () => table.search(wanted) as VectorQuery;
pageResults.push({ 'rows by the index': (await near().limit(5).toArray()).length });
pageResults.push({
  'refined by all rows': await near().nprobes(2).refineFactor(60).select(['id', '_distance']).limit(5).toArray(),
});
pageResults.push({ 'rows of the fast search': (await near().fastSearch().limit(5).toArray()).length });
pageResults.push({
  'without the index': await near().bypassVectorIndex().select(['id', '_distance']).limit(5).toArray(),
});
