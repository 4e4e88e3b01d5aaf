import assert from 'node:assert/strict';
import { Field, Int32, LargeBinary, Schema, Struct } from '#arrow';
import type { RestConfig } from '#catalog/connect.ts';
import { indexSettings } from '#catalog/copy/copyIndexes.ts';
import { type CopyState, isUnfinished, readMark, sourceId, stagingName, withMark } from '#catalog/copy/copyState.ts';
import { schemaOfCopy } from '#catalog/copy/copyTable.ts';
import { identityOfRoot } from '#catalog/identity.ts';
import { transportOptionsOf } from '#catalog/rest/config.ts';
import { isCatalogError } from '#shared/errors.ts';

const field = (name: string, metadata: Record<string, string> = {}): Field =>
  new Field(name, new Int32(), true, new Map(Object.entries(metadata)));

const mark: CopyState = { source: 'abc', version: 3, rows: 10, chunkRows: 4, state: 'staged' };

suite('The mark of a copy', () => {
  test('is read as it was written, beside the metadata of the schema', () => {
    const schema = withMark(new Schema([field('a')], new Map([['k', 'v']])), mark);
    assert.deepEqual(readMark(schema), mark);
    assert.equal(schema.metadata.get('k'), 'v');
    assert.equal(readMark(withMark(schema)), undefined);
  });

  for (const [what, text] of [
    ['no JSON', 'x'],
    ['no object', '[]'],
    ['an entry that is missing', JSON.stringify({ ...mark, rows: undefined })],
    ['a chunk without rows', JSON.stringify({ ...mark, chunkRows: 0 })],
    ['a count that is none', JSON.stringify({ ...mark, version: -1 })],
    ['a state that is none', JSON.stringify({ ...mark, state: 'whole' })],
  ] as const) {
    test(`is none with ${what}`, () => {
      assert.equal(readMark(new Schema([], new Map([['lance-catalog.copy', text]]))), undefined);
    });
  }

  test('says of a staged copy that it is unfinished until it has its name', () => {
    assert.equal(isUnfinished(mark, stagingName('orders')), true);
    assert.equal(isUnfinished(mark, 'orders'), false);
    assert.equal(isUnfinished({ ...mark, state: 'copying' }, 'orders'), true);
    assert.equal(isUnfinished({ ...mark, state: 'finished' }, stagingName('orders')), false);
  });

  test('tells sources apart without saying where they are', () => {
    const id = sourceId('/home/ana/tables', ['shop', 'orders']);
    assert.notEqual(sourceId('/home/ana/tables', ['shop/orders']), id);
    assert.notEqual(sourceId('/home/eva/tables', ['shop', 'orders']), id);
    assert.match(id, /^[0-9a-f]{32}$/);
  });
});

suite('What tells the catalogs apart that are copied from', () => {
  const uri = 'https://data.example.com';
  const of = (config: Partial<RestConfig>) => transportOptionsOf({ uri, ...config }).identity;

  test('is the database too, its prefix, by whichever header, and the endpoint', () => {
    const ids = [
      of({}),
      of({ database: 'a' }),
      of({ database: 'b' }),
      of({ databasePrefix: 'a' }),
      of({ headers: { 'X-LanceDB-Database': 'a' } }),
      of({ endpoint: '127.0.0.1:1' }),
      of({ uri: `${uri}/a` }),
      identityOfRoot('s3://b'),
      identityOfRoot('s3://b', { awsEndpoint: 'http://127.0.0.1:1' }),
    ];
    assert.equal(new Set(ids).size, ids.length);
  });

  test('is neither the key nor how the address is written', () => {
    assert.equal(of({ apiKey: 'k1', token: 't1', headers: { 'x-mine': 'k2' }, uri: `${uri}/` }), of({}));
    assert.equal(identityOfRoot('s3://b', { awsSecretAccessKey: 'k', accountKey: 'k', region: 'eu' }), 's3://b');
  });
});

suite('The name under which a copy grows', () => {
  test('is as long as a name may be, and another one for another table', () => {
    const long = 'x'.repeat(127);
    assert.equal(stagingName('orders'), 'orders.copying');
    assert.equal(stagingName(`${long}a`).length, 128);
    assert.notEqual(stagingName(`${long}a`), stagingName(`${long}b`));
    assert.match(stagingName(`${long}a`), /\.copying$/);
  });
});

suite('The schema of a copy', () => {
  test('has a computed column as a plain one, with a warning', () => {
    const z = field('z', {
      computed_column: 'true',
      'computed_column.expression': 'x + y',
      'computed_refresh.recorded_at_version': '3',
      unit: 'EUR',
    });
    const { schema, warnings } = schemaOfCopy('t', new Schema([field('x', { computed_columns: 'mine' }), z]));
    assert.deepEqual(
      schema.fields.map(({ metadata }) => [...metadata]),
      [[['computed_columns', 'mine']], [['unit', 'EUR']]],
    );
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', /"z" is computed/);
  });

  for (const metadata of [{ 'lance-encoding:blob': 'true' }, { 'ARROW:extension:name': 'lance.blob.v2' }]) {
    test(`is refused for blobs, of which a query gives no bytes: ${Object.keys(metadata).join()}`, () => {
      const blob = new Field('image', new LargeBinary(), true, new Map(Object.entries(metadata)));
      assert.throws(
        () => schemaOfCopy('t', new Schema([blob])),
        (error) => isCatalogError(error, 'Unsupported') && error.message.includes('"image"'),
      );
      assert.throws(
        () => schemaOfCopy('t', new Schema([new Field('clip', new Struct([blob]), true)])),
        (error) => isCatalogError(error, 'Unsupported') && error.message.includes('"clip.image"'),
      );
    });
  }
});

suite('The settings of an index', () => {
  test('are those of a text index', () => {
    const details =
      '{"base_tokenizer":"whitespace","language":"German","stem":false,"with_position":true,"block_size":128}';
    assert.deepEqual(indexSettings('FTS', details), {
      baseTokenizer: 'whitespace',
      language: 'German',
      stem: false,
      withPosition: true,
    });
  });

  test('are those of a vector index that its kind takes', () => {
    const details = JSON.stringify({
      compression: { num_bits: 8, num_sub_vectors: 2, type: 'pq' },
      hnsw: { construction_ef: 50, max_connections: 8 },
      metric_type: 'COSINE',
    });
    const distance = { distanceType: 'cosine' };
    assert.deepEqual(indexSettings('IVF_PQ', details), { ...distance, numSubVectors: 2, numBits: 8 });
    assert.deepEqual(indexSettings('IVF_HNSW_SQ', details), { ...distance, m: 8, efConstruction: 50 });
    assert.deepEqual(indexSettings('IVF_FLAT', details), distance);
  });

  test('are left to the engine where they are not told, or not in a form that is known', () => {
    for (const details of [undefined, '', 'IVF', '[]', '{"compression":7,"metric_type":"manhattan","language":""}'])
      for (const type of ['BTREE', 'FTS', 'IVF_PQ'] as const) assert.deepEqual(indexSettings(type, details), {});
  });
});
