import type { Index as NativeIndex } from '@lancedb/lancedb';
import { CatalogError } from '#shared/errors.ts';
import { definedEntries } from '#shared/records.ts';
import { checkIndexOptions, indexTypeName } from '#catalog/indexes.ts';
import { type CallOptions, checkChoice } from '#catalog/arguments/options.ts';
import { checkText } from '#catalog/arguments/tableArguments.ts';
import type { CreateIndexOptions, IndexInfo, IndexStats, IndexType, TableStats } from '#catalog/table.ts';
import { loadNative } from '#engine/native.ts';
import type { TableHandle } from './tableHandle.ts';

type Index = typeof NativeIndex;
type Chosen = Omit<CreateIndexOptions, 'signal' | 'type' | 'name' | 'replace'>;

/** How each kind of index is configured; `undefined` for kinds the engine can't create. */
const makers: Record<IndexType, ((index: Index, options: Chosen) => NativeIndex) | undefined> = {
  BTREE: (index) => index.btree(),
  BITMAP: (index) => index.bitmap(),
  LABEL_LIST: (index) => index.labelList(),
  FTS: (index, options) => index.fts(tokens(options)),
  IVF_FLAT: (index, options) => index.ivfFlat(partitions(options)),
  IVF_SQ: undefined,
  IVF_PQ: (index, options) => index.ivfPq({ ...partitions(options), ...quantized(options) }),
  IVF_RQ: (index, options) => index.ivfRq({ ...partitions(options), ...definedEntries({ numBits: options.numBits }) }),
  IVF_HNSW_FLAT: undefined,
  IVF_HNSW_SQ: (index, options) => index.hnswSq({ ...partitions(options), ...graph(options) }),
  IVF_HNSW_PQ: (index, options) => index.hnswPq({ ...partitions(options), ...quantized(options), ...graph(options) }),
};

/** Creates an index of a column and waits for it ("CreateTableIndex", "CreateTableScalarIndex"). */
export async function createIndex(handle: TableHandle, column: string, options: CreateIndexOptions): Promise<void> {
  const { type, name, replace, signal, ...chosen } = options;
  await handle.write('CreateTableIndex', { signal }, async (native) => {
    checkIndexOptions(column, options);
    const { Index } = await loadNative();
    checkSizes(chosen);
    const config = type && makerOf(type)(Index, chosen);
    await native.createIndex(column, {
      replace: replace ?? true,
      ...(config && { config }),
      ...(name !== undefined && { name }),
    });
  });
}

/**
 * @throws CatalogError InvalidInput (13) if a number does not fit into 32 bits, because the engine would truncate it
 */
function checkSizes(options: Chosen): void {
  for (const [option, value] of Object.entries(options)) {
    if (typeof value !== 'number' || (Number.isInteger(value) && value >= 1 && value < 2 ** 32)) continue;
    throw new CatalogError(
      'InvalidInput',
      `createIndex: ${value} is not a valid ${option}.`,
      'Pass a whole number from 1.',
    );
  }
}

/**
 * Languages with stemming and stop words in the engine. Another value must not reach the engine, because it would end
 * the process.
 */
const languages =
  'Arabic Danish Dutch English Finnish French German Greek Hungarian Italian Norwegian Portuguese Romanian Russian Spanish Swedish Tamil Turkish'.split(
    ' ',
  );

/** @throws CatalogError InvalidInput (13) */
function languageOf(word: string | undefined): string | undefined {
  const known = languages.find((language) => language.toLowerCase() === word?.toLowerCase());
  return known ?? checkChoice('createIndex', 'language', word, languages);
}

function makerOf(kind: IndexType): (index: Index, options: Chosen) => NativeIndex {
  const maker = makers[kind];
  if (maker) return maker;
  const others = Object.entries(makers).flatMap(([known, make]) => (make && known.startsWith('IVF') ? [known] : []));
  throw new CatalogError(
    'Unsupported',
    `The engine can't create an index of type ${kind}.`,
    `Supported vector index types: ${others.join(', ')}.`,
  );
}

const partitions = ({ distanceType, numPartitions, sampleRate, maxIterations }: Chosen) =>
  definedEntries({ distanceType, numPartitions, sampleRate, maxIterations });

const quantized = ({ numSubVectors, numBits }: Chosen) => definedEntries({ numSubVectors, numBits });

const graph = ({ m, efConstruction }: Chosen) => definedEntries({ m, efConstruction });

function tokens(options: Chosen): Parameters<Index['fts']>[0] {
  const { withPosition, baseTokenizer, language, maxTokenLength, lowerCase, stem, removeStopWords, asciiFolding } =
    options;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a tokenizer that is not known is refused by the engine
  return definedEntries({
    withPosition,
    baseTokenizer,
    language: languageOf(language),
    maxTokenLength,
    lowercase: lowerCase,
    stem,
    removeStopWords,
    asciiFolding,
  }) as Parameters<Index['fts']>[0];
}

export async function listIndices(handle: TableHandle, options: CallOptions): Promise<IndexInfo[]> {
  const found = await handle.read('ListTableIndices', options, (native) => native.listIndices());
  return found.map(({ name, columns, indexType, indexUuid, createdAt, indexDetails, ...rest }) => ({
    name,
    columns,
    type: indexTypeName(indexType),
    ...definedEntries({
      uuid: indexUuid,
      created: createdAt,
      typeUrl: rest.typeUrl,
      numIndexedRows: rest.numIndexedRows,
      numUnindexedRows: rest.numUnindexedRows,
      sizeBytes: rest.sizeBytes,
      numSegments: rest.numSegments,
      indexVersion: rest.indexVersion,
      details: detailsText(indexDetails),
    }),
  }));
}

/** The engine returns an object, or a string if the details are not JSON. */
const detailsText = (details: unknown): string | undefined =>
  details === undefined || details === null ? undefined : JSON.stringify(details);

/** @throws CatalogError IndexNotFound (6) */
export async function indexStats(handle: TableHandle, name: string, options: CallOptions): Promise<IndexStats> {
  return handle.read('DescribeTableIndexStats', options, async (native) => {
    const found = await native.indexStats(checkText('indexStats', 'name', name));
    if (!found) throw indexNotFound(name);
    const { numIndexedRows, numUnindexedRows, indexType, distanceType, numIndices } = found;
    return {
      numIndexedRows,
      numUnindexedRows,
      type: indexTypeName(indexType),
      ...definedEntries({ distanceType, numIndices }),
    };
  });
}

/** @throws CatalogError IndexNotFound (6) */
export const dropIndex = (handle: TableHandle, name: string, options: CallOptions): Promise<void> =>
  handle.write('DropTableIndex', options, (native) => native.dropIndex(checkText('dropIndex', 'name', name)));

const indexNotFound = (name: string): CatalogError =>
  new CatalogError('IndexNotFound', `There is no index "${name}".`, 'List the indexes with listIndices().');

/** @returns sizes in bytes; lengths of fragments in rows. Small fragments are worth compacting */
export async function tableStats(handle: TableHandle, options: CallOptions): Promise<TableStats> {
  const { fragmentStats, totalBytes, numRows, numIndices } = await handle.read('GetTableStats', options, (native) =>
    native.stats(),
  );
  const { numFragments, numSmallFragments, lengths } = fragmentStats;
  const { min, max, mean, p25, p50, p75, p99 } = lengths;
  return {
    totalBytes,
    numRows,
    numIndices,
    numFragments,
    numSmallFragments,
    fragmentLengths: { min, max, mean, p25, p50, p75, p99 },
  };
}
