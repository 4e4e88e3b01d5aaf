import * as lancedb from '@lancedb/lancedb';
import type { VectorQuery } from '@lancedb/lancedb';
import { Float32 } from 'apache-arrow';

const db = await lancedb.connect(pageUri);
const stars = Array.from({ length: 600 }, (_, i) => ({
  vector: Array.from({ length: 16 }, (__, k) => Math.sin(i * 0.37 + k * (1 + (i % 5)))),
  other: Array.from({ length: 16 }, (__, k) => Math.cos(i * 0.91 + k)),
  id: i,
  code: `star-${i}`,
  kind: ['dwarf', 'giant', 'pulsar'][i % 3]!,
  tags: [`t${i % 7}`, `u${i % 11}`],
  text: `star number ${i} seen in ${['spring', 'winter'][i % 2]!}`,
}));
const float = { type: new Float32() };
const data = lancedb.makeArrowTable(stars, { vectorColumns: { vector: float, other: float } });
const table = await db.createTable('stars', data, { mode: 'overwrite' });
const list = async () =>
  (await table.listIndices())
    .map(({ name, indexType, columns }) => ({ name, indexType, columns }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
const wanted = Array.from({ length: 16 }, (_, k) => Math.cos(k * 1.1));
const search = () => (table.search(wanted) as VectorQuery).column('vector').select(['id', '_distance']);

pageResults.push({ 'no index': await list() });
await table.createIndex('vector', { config: lancedb.Index.ivfPq({ numPartitions: 4, numSubVectors: 4 }) });
pageResults.push({ 'an index of vectors': await list() });
pageResults.push({ 'refined by all rows': await search().nprobes(4).refineFactor(200).limit(3).toArray() });
pageResults.push({
  'refined with a filter': await search().nprobes(4).refineFactor(200).where("kind != 'giant'").limit(3).toArray(),
});
pageResults.push({
  'with two limits of partitions': (
    await search().minimumNprobes(1).maximumNprobes(4).refineFactor(200).limit(3).toArray()
  ).length,
});
const plan = await search().limit(3).explainPlan(true);
pageResults.push({ 'a plan with the index': plan.includes('ANNSubIndex') });

await table.createIndex('vector', {
  config: lancedb.Index.ivfFlat({ numPartitions: 2, distanceType: 'cosine' }),
  replace: true,
});
pageResults.push({ 'a replaced index': await list() });
pageResults.push({ 'by the flat index': await search().distanceType('cosine').nprobes(2).limit(3).toArray() });
await table.createIndex('vector', { config: lancedb.Index.hnswSq({ numPartitions: 1, m: 20, efConstruction: 150 }) });
pageResults.push({ 'rows by the graph': (await search().ef(200).refineFactor(20).limit(3).toArray()).length });
pageResults.push({ 'a graph': await list() });
await table.createIndex('other', {
  config: lancedb.Index.hnswPq({ numPartitions: 1, numSubVectors: 4 }),
  name: 'other_graph',
});
await table.createIndex('other', { config: lancedb.Index.ivfRq({ numPartitions: 2 }), name: 'other_graph' });
pageResults.push({ 'a named index': (await list()).map(({ name, indexType }) => [name, indexType]) });

await table.createIndex('id', { config: lancedb.Index.btree() });
await table.createIndex('kind', { config: lancedb.Index.bitmap() });
await table.createIndex('tags', { config: lancedb.Index.labelList() });
await table.createIndex('text', { config: lancedb.Index.fts({ stem: true, removeStopWords: true }) });
await table.createIndex('code');
pageResults.push({ 'indexes of values': await list() });
await table.waitForIndex(['id_idx', 'kind_idx'], 30);
pageResults.push({
  'an index loaded before its use': await table.prewarmIndex('id_idx').then(
    () => 'loaded',
    () => 'refused',
  ),
});
pageResults.push({ 'rows by a range': await table.query().where('id > 595').select(['id']).toArray() });
pageResults.push({ 'rows by a value': await table.countRows("kind = 'pulsar'") });
pageResults.push({ 'rows by a label': await table.countRows("array_has_any(tags, ['t3', 'u4'])") });
pageResults.push({ 'rows by a code': await table.query().where("code = 'star-77'").select(['id']).toArray() });
pageResults.push({ 'rows by words': await table.search('77', 'fts', 'text').limit(5).select(['id']).toArray() });

const stats = await table.indexStats('id_idx');
pageResults.push({ 'numbers of an index': [stats?.numIndexedRows, stats?.numUnindexedRows, stats?.indexType] });
const graph = await table.indexStats('vector_idx');
pageResults.push({ 'numbers of a graph': [graph?.numIndexedRows, graph?.indexType, graph?.distanceType] });
await table.add(lancedb.makeArrowTable(stars.slice(0, 5), { schema: await table.schema() }));
pageResults.push({ 'rows outside of an index': (await table.indexStats('id_idx'))?.numUnindexedRows });
await table.optimize();
pageResults.push({ 'rows outside after optimize': (await table.indexStats('id_idx'))?.numUnindexedRows });
await table.dropIndex('other_graph');
await table.dropIndex('tags_idx');
pageResults.push({ 'indexes after the drops': (await list()).map(({ name }) => name) });
const numbers = await table.stats();
pageResults.push({ 'numbers of the table': [numbers.numRows, numbers.numIndices] });
