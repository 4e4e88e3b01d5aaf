import { DataType, type Field, type Schema } from '#arrow';
import { checkChoice, checkOptions } from '#catalog/arguments/options.ts';
import { checkText, checkTexts } from '#catalog/arguments/tableArguments.ts';
import { withIndexConfig } from '#catalog/lancedb/indexConfig.ts';
import { CatalogError } from '#shared/errors.ts';
import { definedEntries } from '#shared/records.ts';
import { distanceTypes } from '#shared/vectorTypes.ts';
import type { CreateIndexOptions, IndexSettings, IndexType } from './table.ts';
import { checkSeconds } from './waitForIndex.ts';

/** Whether each index type is for vectors, by the specification's name of the type. */
export const indexTypes = {
  BTREE: 'scalar',
  BITMAP: 'scalar',
  LABEL_LIST: 'scalar',
  FTS: 'scalar',
  IVF_FLAT: 'vector',
  IVF_SQ: 'vector',
  IVF_PQ: 'vector',
  IVF_RQ: 'vector',
  IVF_HNSW_FLAT: 'vector',
  IVF_HNSW_SQ: 'vector',
  IVF_HNSW_PQ: 'vector',
} as const satisfies Record<IndexType, 'scalar' | 'vector'>;

const words = new Map<string, IndexType>(
  Object.keys(indexTypes).map((name) => [name.replaceAll('_', ''), name as IndexType]),
);
words.set('INVERTED', 'FTS');

/**
 * Converts an index type from the names of engines and servers (`BTree`, `Inverted`, `IvfPq`, `IVF_HNSW_SQ`) to the
 * specification's name. Unknown types are returned unchanged.
 */
export const indexTypeName = (text: string): string => words.get(text.toUpperCase().replaceAll('_', '')) ?? text;

/** Returns the default index type of a column: IVF_PQ for vectors, BTREE for everything else. */
export function defaultIndexType(schema: Schema, column: string): IndexType {
  const path = column.split('.');
  let fields: readonly Field[] = schema.fields;
  let found: Field | undefined;
  for (const part of path) {
    found = fields.find((field) => field.name === part);
    fields = found?.type.children ?? [];
  }
  const type: DataType | undefined = found?.type;
  return type && DataType.isFixedSizeList(type) && DataType.isFloat(type.valueType) ? 'IVF_PQ' : 'BTREE';
}

const optionNames = [
  'type',
  'name',
  'replace',
  'distanceType',
  'numPartitions',
  'numSubVectors',
  'numBits',
  'sampleRate',
  'maxIterations',
  'm',
  'efConstruction',
  'withPosition',
  'baseTokenizer',
  'language',
  'maxTokenLength',
  'lowerCase',
  'stem',
  'removeStopWords',
  'asciiFolding',
  'ngramMinLength',
  'ngramMaxLength',
  'prefixOnly',
  'customStopWords',
  'blockSize',
  'signal',
  'waitTimeoutSeconds',
] as const satisfies (keyof CreateIndexOptions)[];

/**
 * Checks the options of `createIndex` and merges them with the options in its `config`. All implementations use this
 * check.
 * @throws CatalogError InvalidInput (13) if the column is not a string, or for an unknown option or an invalid value
 */
export function indexOptions(column: string, given: CreateIndexOptions): CreateIndexOptions {
  checkText('createIndex', 'column', column);
  const options = withIndexConfig(given);
  checkOptions('createIndex', options, optionNames);
  checkChoice('createIndex', 'type', options.type, Object.keys(indexTypes) as IndexType[]);
  checkChoice('createIndex', 'distanceType', options.distanceType, distanceTypes);
  const { distanceType, type = 'IVF_FLAT', waitTimeoutSeconds } = options;
  if (distanceType === 'hamming' && type !== 'IVF_FLAT')
    refuse(`createIndex: an index of type ${type} can't measure the distance "hamming".`, 'Use the type IVF_FLAT.');
  if (waitTimeoutSeconds !== undefined) checkSeconds('createIndex', 'waitTimeoutSeconds', waitTimeoutSeconds);
  checkTextSettings(options);
  return { ...options, ...(distanceType === 'hamming' && { type }) };
}

/** @throws CatalogError InvalidInput (13) */
function checkTextSettings(options: IndexSettings): void {
  const { customStopWords, blockSize, ngramMinLength = 3, ngramMaxLength = Math.max(3, ngramMinLength) } = options;
  if (customStopWords !== undefined) checkTexts('createIndex', 'word of customStopWords', customStopWords);
  if (blockSize !== undefined && blockSize !== 128 && blockSize !== 256)
    refuse(`createIndex: ${String(blockSize)} is not a valid blockSize.`, 'Pass 128 or 256.');
  if (ngramMinLength > ngramMaxLength) {
    const what = `createIndex: ngramMinLength ${ngramMinLength} is larger than ngramMaxLength ${ngramMaxLength}.`;
    refuse(what, 'Set both, with ngramMinLength at most as large as ngramMaxLength.');
  }
}

function refuse(what: string, hint: string): never {
  throw new CatalogError('InvalidInput', what, hint);
}

/**
 * Returns the options of text indexes that the specification lacks, as our server and the engine name them. Other
 * servers would ignore them.
 */
export const textIndexExtension = (options: CreateIndexOptions): Record<string, unknown> =>
  definedEntries({
    min_ngram_length: options.ngramMinLength,
    max_ngram_length: options.ngramMaxLength,
    prefix_only: options.prefixOnly,
    custom_stop_words: options.customStopWords,
    block_size: options.blockSize,
  });
