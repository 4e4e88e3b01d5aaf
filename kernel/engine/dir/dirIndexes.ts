import type { Index as NativeIndex } from '@lancedb/lancedb';
import { CatalogError } from '#shared/errors.ts';
import { definedEntries } from '#shared/records.ts';
import { defaultIndexType, indexOptions, indexTypeName } from '#catalog/table/indexes.ts';
import { type CallOptions, checkChoice, checkOptions } from '#catalog/arguments/options.ts';
import { checkText } from '#catalog/arguments/tableArguments.ts';
import { namedIndexInfo, namedIndexStats, namedTableStats } from '#catalog/lancedb/resultNames.ts';
import type {
  CreateIndexOptions,
  IndexInfo,
  IndexSettings,
  IndexStats,
  IndexType,
  TableStats,
  TextToken,
  TokenizeOptions,
} from '#catalog/table/table.ts';
import { waitForIndex } from '#catalog/table/waitForIndex.ts';
import { loadNative } from '#engine/native.ts';
import { checkSearchText } from './checkSql.ts';
import { engineDistance } from './dirQuery.ts';
import type { TableHandle } from './tableHandle.ts';

type Index = typeof NativeIndex;
type Chosen = IndexSettings;

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
  const { signal } = options;
  const wait = await handle.write('CreateTableIndex', { signal }, async (native) => {
    const { name, replace, signal: _, waitTimeoutSeconds, type: given, ...chosen } = indexOptions(column, options);
    const { Index } = await loadNative();
    checkSizes(chosen);
    // The engine chooses a type only for an index without settings.
    const hasSettings = Object.values(chosen).some((setting) => setting !== undefined);
    const type = given ?? (hasSettings ? defaultIndexType(await native.schema(), column) : undefined);
    const config = type && makerOf(type)(Index, chosen);
    await native.createIndex(column, {
      replace: replace ?? true,
      ...(config && { config }),
      ...(name !== undefined && { name }),
    });
    return waitTimeoutSeconds === undefined
      ? undefined
      : { name: name ?? `${column}_idx`, seconds: waitTimeoutSeconds };
  });
  if (!wait) return;
  const table = { name: handle.name, indexStats: (name: string) => indexStats(handle, name, { signal }) };
  await waitForIndex(table, wait.name, wait.seconds, { signal });
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
  definedEntries({
    distanceType: distanceType && engineDistance(distanceType),
    numPartitions,
    sampleRate,
    maxIterations,
  });

const quantized = ({ numSubVectors, numBits }: Chosen) => definedEntries({ numSubVectors, numBits });

const graph = ({ m, efConstruction }: Chosen) => definedEntries({ m, efConstruction });

function tokens(options: Chosen): Parameters<Index['fts']>[0] {
  const { language, lowerCase, customStopWords, ngramMinLength, ngramMaxLength, ...others } = options;
  const { withPosition, baseTokenizer, maxTokenLength, stem, removeStopWords, asciiFolding } = others;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the engine refuses an unknown tokenizer
  return definedEntries({
    withPosition,
    baseTokenizer,
    language: languageOf(language),
    maxTokenLength,
    lowercase: lowerCase,
    stem,
    removeStopWords,
    asciiFolding,
    ngramMinLength,
    // The engine's default of 3 may be smaller than the minimum.
    ngramMaxLength: ngramMaxLength ?? (ngramMinLength && Math.max(3, ngramMinLength)),
    prefixOnly: others.prefixOnly,
    customStopWords: customStopWords && [...customStopWords],
    blockSize: others.blockSize,
  }) as Parameters<Index['fts']>[0];
}

export async function listIndices(handle: TableHandle, options: CallOptions): Promise<IndexInfo[]> {
  const found = await handle.read('ListTableIndices', options, (native) => native.listIndices());
  return found.map(({ name, columns, indexType, indexUuid, createdAt, indexDetails, ...rest }) =>
    namedIndexInfo({
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
    }),
  );
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
    return namedIndexStats({
      numIndexedRows,
      numUnindexedRows,
      type: indexTypeName(indexType),
      ...definedEntries({ distanceType, numIndices }),
    });
  });
}

/** Loads an index into memory. @throws CatalogError IndexNotFound (6) */
export const prewarmIndex = (handle: TableHandle, name: string, options: CallOptions): Promise<void> =>
  handle.read('DescribeTableIndexStats', options, async (native) => {
    const known = checkText('prewarmIndex', 'name', name);
    if (!(await native.indexStats(known))) throw indexNotFound(known);
    await native.prewarmIndex(known);
  });

/** Splits a string into words as a full-text index does. @throws CatalogError InvalidInput (13) */
export function tokenize(handle: TableHandle, query: string, { signal, ...by }: TokenizeOptions): Promise<TextToken[]> {
  return handle.read('DescribeTableIndexStats', { signal }, async (native) => {
    checkOptions('tokenize', by, ['column', 'indexName']);
    if ((by.column === undefined) === (by.indexName === undefined)) {
      throw new CatalogError('InvalidInput', 'tokenize needs a column or an index.', 'Set column or indexName.');
    }
    checkSearchText(typeof query === 'string' ? query : checkText('tokenize', 'text', query));
    const words = await native.tokenize(
      query,
      by.column === undefined
        ? { indexName: checkText('tokenize', 'indexName', by.indexName) }
        : { column: checkText('tokenize', 'column', by.column) },
    );
    return words.map(({ text, position }) => ({ text, position }));
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
  return namedTableStats({
    totalBytes,
    numRows,
    numIndices,
    numFragments,
    numSmallFragments,
    fragmentLengths: { min, max, mean, p25, p50, p75, p99 },
  });
}
