import * as lancedb from '@lancedb/lancedb';
import { BooleanQuery, BoostQuery, MatchQuery, MultiMatchQuery, Occur, Operator, PhraseQuery } from '@lancedb/lancedb';
import { Field, List, Schema, Utf8 } from 'apache-arrow';

const db = await lancedb.connect(pageUri);
const diary = [
  { id: 1, kind: 'day', vector: [0.1, 0.9], text: 'The harbour was quiet and the gulls slept', title: 'quiet harbour' },
  { id: 2, kind: 'day', vector: [0.4, 0.6], text: 'A storm threw boats against the pier', title: 'storm' },
  {
    id: 3,
    kind: 'night',
    vector: [0.8, 0.2],
    text: 'Night storm, no sleep, the harbour lights were out',
    title: 'dark',
  },
  { id: 4, kind: 'night', vector: [0.7, 0.7], text: 'Gulls again, and fresh bread', title: 'bread and gulls' },
  { id: 5, kind: 'day', vector: [0.2, 0.3], text: 'Fresh paint dries slowly by the sea', title: 'paint' },
];
const table = await db.createTable('diary', diary, { mode: 'overwrite' });
await table.createIndex('text', { config: lancedb.Index.fts({ withPosition: true }) });
await table.createIndex('title', { config: lancedb.Index.fts() });
await table.waitForIndex(['text_idx', 'title_idx'], 30);

pageResults.push({
  'by a word': await table.search('harbour', 'fts', 'text').select(['id', 'text', '_score']).toArray(),
});
pageResults.push({
  'near to text': await table.query().nearestToText('storm', ['text']).select(['id', '_score']).limit(10).toArray(),
});
pageResults.push({
  'in two columns': await table
    .query()
    .fullTextSearch('bread', { columns: ['text'] })
    .select(['id'])
    .toArray(),
});
pageResults.push({
  'with a filter': await table
    .search('storm', 'fts', 'text')
    .where("kind = 'night'")
    .select(['id', 'kind', '_score'])
    .limit(10)
    .toArray(),
});

const find = async (query: MatchQuery | PhraseQuery | BoostQuery | MultiMatchQuery | BooleanQuery) =>
  table.query().fullTextSearch(query).select(['id', '_score']).limit(10).toArray();
pageResults.push({ 'a match': await find(new MatchQuery('gulls', 'text')) });
pageResults.push({ 'a match with a typo': await find(new MatchQuery('harbor', 'text', { fuzziness: 2 })) });
pageResults.push({
  'a match with a fixed prefix': await find(new MatchQuery('brexd', 'text', { fuzziness: 1, prefixLength: 2 })),
});
pageResults.push({
  'a match of all words': await find(new MatchQuery('harbour storm', 'text', { operator: Operator.And })),
});
pageResults.push({ 'a boosted match': await find(new MatchQuery('storm', 'text', { boost: 2 })) });
pageResults.push({ 'a phrase': await find(new PhraseQuery('fresh bread', 'text')) });
pageResults.push({ 'a phrase with a gap': await find(new PhraseQuery('fresh dries', 'text', { slop: 1 })) });
pageResults.push({
  'a lowered match': await find(
    new BoostQuery(new MatchQuery('storm', 'text'), new MatchQuery('harbour', 'text'), { negativeBoost: 0.2 }),
  ),
});
pageResults.push({ 'several columns': await find(new MultiMatchQuery('gulls', ['text', 'title'])) });
pageResults.push({
  'several weighted columns': await find(new MultiMatchQuery('gulls', ['text', 'title'], { boosts: [1, 3] })),
});
pageResults.push({
  'both words': await find(
    new BooleanQuery([
      [Occur.Must, new MatchQuery('storm', 'text')],
      [Occur.Must, new MatchQuery('harbour', 'text')],
    ]),
  ),
});
pageResults.push({
  'one word and not another': await find(
    new BooleanQuery([
      [Occur.Should, new MatchQuery('storm', 'text')],
      [Occur.MustNot, new MatchQuery('boats', 'text')],
    ]),
  ),
});
pageResults.push({
  'a query object by search': await table
    .search(new MatchQuery('paint', 'text'))
    .select(['id', '_score'])
    .limit(5)
    .toArray(),
});

await table.add([{ id: 6, kind: 'day', vector: [0.5, 0.5], text: 'The storm is over', title: 'calm' }]);
pageResults.push({ 'rows outside of the index': (await table.indexStats('text_idx'))?.numUnindexedRows });
await table.optimize();
pageResults.push({ 'rows after optimize': (await table.indexStats('text_idx'))?.numIndexedRows });
pageResults.push({ 'by a word after optimize': await table.search('over', 'fts', 'text').select(['id']).toArray() });

pageResults.push({
  'words of a string': await table.tokenize('The Gulls slept', { column: 'text' }).then(
    (words) => words.map(({ text, position }) => [text, position]),
    () => 'refused',
  ),
});

// Vectors and words together.
const reranker = await lancedb.rerankers.RRFReranker.create();
const both = await table
  .query()
  .fullTextSearch('storm', { columns: ['text'] })
  .nearestTo([0.8, 0.25])
  .rerank(reranker)
  .select(['id', 'text'])
  .limit(3)
  .toArray();
pageResults.push({ 'vectors and words': both.map((row) => [row.id, row._relevance_score]) });
const nightly = await table
  .query()
  .fullTextSearch('harbour', { columns: ['text'] })
  .nearestTo([0.8, 0.25])
  .where("kind = 'night'")
  .limit(3)
  .toArray();
pageResults.push({ 'vectors and words with a filter': nightly.map((row) => row.id) });

// Text in lists.
const lists = await db.createTable(
  'lists',
  lancedb.makeArrowTable(
    [
      { id: 'a', tags: ['tall ships', 'rope'] },
      { id: 'b', tags: ['rope', 'knots', 'sail making'] },
      { id: 'c', tags: ['charts'] },
    ],
    {
      schema: new Schema([
        new Field('id', new Utf8(), false),
        new Field('tags', new List(new Field('item', new Utf8()))),
      ]),
    },
  ),
);
await lists.createIndex('tags', { config: lancedb.Index.fts({ withPosition: true }) });
pageResults.push({
  'a word of a list': await lists
    .query()
    .fullTextSearch(new MatchQuery('ropes', 'tags', { fuzziness: 1 }))
    .toArray(),
});
pageResults.push({
  'a phrase of a list': await lists
    .query()
    .fullTextSearch(new PhraseQuery('tall ships', 'tags'))
    .select(['id', 'tags'])
    .toArray(),
});
