import { CatalogError, isCatalogError } from '#shared/errors.ts';
import type { CallOptions } from '#catalog/arguments/options.ts';
import { type Operation, preference } from '#catalog/contract.ts';
import { indexTypeName, indexTypes, textIndexExtension } from '#catalog/table/indexes.ts';
import { definedEntries } from '#shared/records.ts';
import type { Reply } from './reply.ts';
import { about, ask, checkWritable, everyPage, onBranch, pinned, type RestTarget } from './target.ts';
import type { CreateIndexOptions, IndexInfo, IndexStats, IndexType } from '#catalog/table/table.ts';
import { namedIndexInfo, namedIndexStats } from '#catalog/lancedb/resultNames.ts';
import { checkText } from '#catalog/arguments/tableArguments.ts';
import { waitForIndex } from '#catalog/table/waitForIndex.ts';

/**
 * "CreateTableIndex", or "CreateTableScalarIndex" for an index that is not a vector index. Resolves when the server has
 * accepted the request, or, with `waitTimeoutSeconds`, when the index has all rows. Some servers build the index after
 * they accept the request, and `indexStats` shows their progress.
 */
export async function createIndex(
  target: RestTarget,
  column: string,
  type: IndexType,
  options: CreateIndexOptions,
): Promise<void> {
  const operation = indexTypes[type] === 'vector' ? 'CreateTableIndex' : 'CreateTableScalarIndex';
  checkWritable(target, operation);
  const extension = textIndexExtension(options);
  if (Object.keys(extension).length > 0) await checkTextIndexOptions(target, operation, options);
  const json = { column, index_type: type, ...onBranch(target), ...parameters(options), ...extension };
  const name = options.name ?? `${column}_idx`;
  const { signal, waitTimeoutSeconds: seconds } = options;
  const create = async (): Promise<void> => {
    await ask(target, operation, { json }, options, () => undefined);
    if (seconds === undefined) return;
    const table = {
      name: target.id.at(-1) ?? '',
      indexStats: (index: string) => indexStats(target, index, { signal }),
    };
    await about(target, operation, () => waitForIndex(table, name, seconds, { signal }));
  };
  // The server would replace an existing index, because the specification has no option that prevents this.
  if (options.replace === false) {
    await about(target, operation, async () => {
      const indexes = await listIndices(target, options);
      if (!indexes.some((index) => index.name === name)) return;
      throw new CatalogError('IndexAlreadyExists', `Index "${name}" exists already.`, 'Choose another name.');
    });
    return create();
  }
  try {
    await create();
  } catch (error) {
    if (!isCatalogError(error, 'IndexAlreadyExists')) throw error;
    await dropIndex(target, name, options);
    await create();
  }
}

/** @throws CatalogError Unsupported (0) if the server would ignore options that the specification lacks */
const checkTextIndexOptions = (target: RestTarget, operation: Operation, options: CallOptions): Promise<void> =>
  about(target, operation, async () => {
    const { wire, id } = target;
    const prefer = preference.textIndexOptions;
    const { applied, body } = await wire.send({
      operation: 'ListTableIndices',
      id,
      json: { ...pinned(target), limit: 1 },
      prefer,
      signal: options.signal,
    });
    body.destroy();
    if (applied.includes(prefer)) return;
    const what = `${wire.name} has no options for n-grams, stop words and blocks of text indexes.`;
    throw new CatalogError('Unsupported', what, 'Leave them out, or create the index in the directory of the table.');
  });

const parameters = (options: CreateIndexOptions): Record<string, unknown> =>
  definedEntries({
    name: options.name,
    distance_type: options.distanceType,
    num_partitions: options.numPartitions,
    num_sub_vectors: options.numSubVectors,
    num_bits: options.numBits,
    sample_rate: options.sampleRate,
    max_iterations: options.maxIterations,
    m: options.m,
    ef_construction: options.efConstruction,
    with_position: options.withPosition,
    base_tokenizer: options.baseTokenizer,
    language: options.language,
    max_token_length: options.maxTokenLength,
    lower_case: options.lowerCase,
    stem: options.stem,
    remove_stop_words: options.removeStopWords,
    ascii_folding: options.asciiFolding,
  });

/** "ListTableIndices" */
export async function listIndices(target: RestTarget, options: CallOptions): Promise<IndexInfo[]> {
  const indexes: IndexInfo[] = [];
  await everyPage(target, (pageToken) => {
    const json = { ...pinned(target), ...definedEntries({ page_token: pageToken }) };
    return ask(target, 'ListTableIndices', { json }, options, (reply) => {
      const page = reply.items('indexes').map(indexInfo);
      indexes.push(...page);
      return { keys: page.map(({ name }) => name), pageToken: reply.maybeText('page_token') };
    });
  });
  return indexes;
}

function indexInfo(reply: Reply): IndexInfo {
  const type = reply.maybeText('index_type');
  const created = new Date(reply.maybeText('created_at') ?? Number.NaN);
  const more = definedEntries({
    type: type && indexTypeName(type),
    uuid: reply.maybeText('index_uuid'),
    typeUrl: reply.maybeText('type_url'),
    created: Number.isNaN(created.getTime()) ? undefined : created,
    numIndexedRows: reply.maybeCount('num_indexed_rows'),
    numUnindexedRows: reply.maybeCount('num_unindexed_rows'),
    sizeBytes: reply.maybeCount('size_bytes'),
    numSegments: reply.maybeCount('num_segments'),
    indexVersion: reply.maybeCount('index_version'),
    details: reply.maybeText('index_details'),
  });
  return namedIndexInfo({ name: reply.text('index_name'), columns: reply.texts('columns'), ...more });
}

function statsOf(reply: Reply): IndexStats {
  const type = reply.maybeText('index_type');
  const distanceType = reply.maybeText('distance_type');
  const numIndices = reply.maybeCount('num_indices');
  return namedIndexStats({
    ...(type !== undefined && { type: indexTypeName(type) }),
    ...(distanceType !== undefined && { distanceType }),
    numIndexedRows: reply.count('num_indexed_rows'),
    numUnindexedRows: reply.count('num_unindexed_rows'),
    ...(numIndices !== undefined && { numIndices }),
  });
}

/** "DescribeTableIndexStats" */
export function indexStats(target: RestTarget, name: string, options: CallOptions): Promise<IndexStats> {
  return about(target, 'DescribeTableIndexStats', () => {
    const indexName = checkText('indexStats', 'name', name);
    return ask(target, 'DescribeTableIndexStats', { indexName, json: pinned(target) }, options, statsOf);
  });
}

/** "DropTableIndex" */
export function dropIndex(target: RestTarget, name: string, options: CallOptions): Promise<void> {
  return about(target, 'DropTableIndex', () => {
    checkWritable(target);
    const indexName = checkText('dropIndex', 'name', name);
    return ask(target, 'DropTableIndex', { indexName, query: onBranch(target) }, options, () => undefined);
  });
}
