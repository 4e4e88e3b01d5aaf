import { definedEntries } from '#shared/records.ts';
import type { CreateIndexOptions, IndexInfo, IndexType } from '#catalog/table/table.ts';
import { preference } from '#catalog/contract.ts';
import { distanceTypes } from '#shared/vectorTypes.ts';
import { versionOf } from './queryRequest.ts';
import {
  choice,
  count,
  invalidRequestField,
  type Json,
  optionalBoolean,
  optionalString,
  pageOfList,
  requiredString,
  textList,
  unsupportedByServer,
} from './requestBody.ts';
import { openBranch, openQueryBranch } from './dataRoutes.ts';
import { openTable, type RequestContext, type Handler, type Handlers } from './routeTypes.ts';

const vectorTypes = [
  'IVF_FLAT',
  'IVF_SQ',
  'IVF_PQ',
  'IVF_RQ',
  'IVF_HNSW_FLAT',
  'IVF_HNSW_SQ',
  'IVF_HNSW_PQ',
] as const satisfies IndexType[];
const scalarTypes = ['BTREE', 'BITMAP', 'LABEL_LIST', 'FTS'] as const satisfies IndexType[];

const sizes = {
  num_partitions: 'numPartitions',
  num_sub_vectors: 'numSubVectors',
  num_bits: 'numBits',
  sample_rate: 'sampleRate',
  max_iterations: 'maxIterations',
  m: 'm',
  ef_construction: 'efConstruction',
  max_token_length: 'maxTokenLength',
  min_ngram_length: 'ngramMinLength',
  max_ngram_length: 'ngramMaxLength',
} as const;
const flags = {
  with_position: 'withPosition',
  lower_case: 'lowerCase',
  stem: 'stem',
  remove_stop_words: 'removeStopWords',
  ascii_folding: 'asciiFolding',
  prefix_only: 'prefixOnly',
} as const;
const texts = { base_tokenizer: 'baseTokenizer', language: 'language' } as const;

/** Index types under the names that other clients use. */
const synonyms: Readonly<Record<string, IndexType>> = { INVERTED: 'FTS', LABELLIST: 'LABEL_LIST' };

function indexOptions(body: Json, types: readonly IndexType[]): CreateIndexOptions {
  const word = requiredString(body, 'index_type').toUpperCase();
  const type = choice(synonyms[word] ?? word, 'index_type', types);
  const distanceType = choice(optionalString(body, 'distance_type'), 'distance_type', distanceTypes);
  if (count(body, 'target_partition_size') !== undefined) {
    unsupportedByServer('a partition size', 'Leave target_partition_size out, or send num_partitions.');
  }
  const replace = optionalBoolean(body, 'replace');
  const options: CreateIndexOptions = { type, name: optionalString(body, 'name'), distanceType, replace };
  for (const [field, option] of entriesOf(sizes)) options[option] = count(body, field);
  for (const [field, option] of entriesOf(flags)) options[option] = optionalBoolean(body, field);
  for (const [field, option] of entriesOf(texts)) options[option] = optionalString(body, field);
  options.customStopWords = textList(body, 'custom_stop_words');
  const blockSize = count(body, 'block_size');
  if (blockSize !== undefined && blockSize !== 128 && blockSize !== 256)
    invalidRequestField('block_size', '128 or 256');
  options.blockSize = blockSize;
  return options;
}

/** Returns the entries with typed keys, which `Object.entries` loses. */
const entriesOf = <K extends string, V>(table: Readonly<Record<K, V>>): [K, V][] =>
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its keys are those of the table
  Object.entries(table) as [K, V][];

const createIndex =
  (types: readonly IndexType[]): Handler =>
  async (call) => {
    const body = await call.json();
    const column = requiredString(body, 'column');
    const options = indexOptions(body, types);
    const table = await openBranch(call, body);
    await table.createIndex(column, { ...definedEntries(options), signal: call.signal });
    return { json: {} };
  };

const indexReply = (info: IndexInfo) => ({
  index_name: info.name,
  // The field is required. The id is not known for an index that was created before indexes had ids.
  index_uuid: info.uuid ?? '',
  columns: info.columns,
  // A listed index can be searched. Rows that were added since are counted in `num_unindexed_rows`.
  status: 'ready',
  ...(info.type !== undefined && { index_type: info.type }),
  ...(info.typeUrl !== undefined && { type_url: info.typeUrl }),
  ...(info.numIndexedRows !== undefined && { num_indexed_rows: info.numIndexedRows }),
  ...(info.numUnindexedRows !== undefined && { num_unindexed_rows: info.numUnindexedRows }),
  ...(info.sizeBytes !== undefined && { size_bytes: info.sizeBytes }),
  ...(info.numSegments !== undefined && { num_segments: info.numSegments }),
  ...(info.created && { created_at: info.created.toISOString() }),
  ...(info.indexVersion !== undefined && { index_version: info.indexVersion }),
  ...(info.details !== undefined && { index_details: info.details }),
});

/** Opens the version and branch named in the body, for reading. */
const openAt = (call: RequestContext, body: Json) => openTable(call, versionOf(body));

export const indexHandlers: Handlers = {
  CreateTableIndex: createIndex([...vectorTypes, ...scalarTypes]),
  CreateTableScalarIndex: createIndex(scalarTypes),
  async ListTableIndices(call) {
    const body = await call.json();
    const page = { limit: count(body, 'limit'), pageToken: optionalString(body, 'page_token') || undefined };
    const table = await openAt(call, body);
    const indices = (await table.listIndices({ signal: call.signal })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const { entries, ...token } = pageOfList(indices, ({ name }) => name, page);
    const applied = call.preferences.has(preference.textIndexOptions) ? preference.textIndexOptions : undefined;
    return { json: { indexes: entries.map(indexReply), ...token }, ...(applied && { applied }) };
  },
  async DescribeTableIndexStats(call) {
    const body = await call.json();
    const table = await openAt(call, body);
    const stats = await table.indexStats(call.indexName, { signal: call.signal });
    return {
      json: {
        num_indexed_rows: stats.numIndexedRows,
        num_unindexed_rows: stats.numUnindexedRows,
        ...(stats.type !== undefined && { index_type: stats.type }),
        ...(stats.distanceType !== undefined && { distance_type: stats.distanceType }),
        ...(stats.numIndices !== undefined && { num_indices: stats.numIndices }),
      },
    };
  },
  async DropTableIndex(call) {
    await call.optionalJson();
    const table = await openQueryBranch(call);
    await table.dropIndex(call.indexName, { signal: call.signal });
    return { json: {} };
  },
};
