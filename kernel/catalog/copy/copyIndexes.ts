import type { CallOptions } from '#catalog/arguments/options.ts';
import { indexTypeName, indexTypes } from '#catalog/table/indexes.ts';
import { distanceTypes } from '#shared/vectorTypes.ts';
import type { CreateIndexOptions, IndexInfo, IndexType, Table } from '#catalog/table/table.ts';
import { CatalogError, isCatalogError, messageOf } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import { type Check, isBoolean, isInteger, isString, listOf, oneOf } from '#shared/shape.ts';

/**
 * Returns options that create an index like an existing one, from what the catalog reports about it
 * (`IndexInfo.details`). The engine chooses every setting that is not reported, and the number of partitions, which
 * depends on the number of rows.
 */
export function indexSettings(type: IndexType, details: string | undefined): CreateIndexOptions {
  const told = parse(details);
  if (type === 'FTS') return textSettings(told);
  if (indexTypes[type] === 'vector') return vectorSettings(type, told);
  return {};
}

function parse(details: string | undefined): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(details ?? '{}');
    return isRecord(value) ? value : {};
  } catch {
    // Another server may write the details in another format. Then nothing is known about the index.
    return {};
  }
}

const isText: Check<string> = (value): value is string => isString(value) && value !== '';

const isWordList: Check<string[]> = (value): value is string[] => listOf(isText)(value) && value.length > 0;

/** Returns an object with the option if the value has the type of the option, else an empty object. */
const entry = <K extends string, T>(name: K, value: unknown, is: Check<T>) =>
  (is(value) ? { [name]: value } : {}) as Partial<Record<K, T>>;

const textSettings = (told: Record<string, unknown>): CreateIndexOptions => ({
  ...entry('withPosition', told['with_position'], isBoolean),
  ...entry('baseTokenizer', told['base_tokenizer'], isText),
  ...entry('language', told['language'], isText),
  ...entry('maxTokenLength', told['max_token_length'], isInteger),
  ...entry('lowerCase', told['lower_case'], isBoolean),
  ...entry('stem', told['stem'], isBoolean),
  ...entry('removeStopWords', told['remove_stop_words'], isBoolean),
  ...entry('asciiFolding', told['ascii_folding'], isBoolean),
  // Not every server knows the following options. So they are sent only where they have an effect; a server uses its
  // own defaults for the rest.
  ...(told['base_tokenizer'] === 'ngram' && {
    ...entry('ngramMinLength', told['min_ngram_length'], isInteger),
    ...entry('ngramMaxLength', told['max_ngram_length'], isInteger),
    ...entry('prefixOnly', told['prefix_only'], isBoolean),
  }),
  ...entry('customStopWords', told['custom_stop_words'], isWordList),
  ...entry('blockSize', told['block_size'], oneOf(256)),
});

function vectorSettings(type: IndexType, told: Record<string, unknown>): CreateIndexOptions {
  const part = (name: string): Record<string, unknown> => {
    const value = told[name];
    return isRecord(value) ? value : {};
  };
  const [compression, graph] = [part('compression'), part('hnsw')];
  const word = String(told['metric_type']).toLowerCase();
  return {
    ...entry('distanceType', word, oneOf(...distanceTypes)),
    ...(type.endsWith('PQ') && {
      ...entry('numSubVectors', compression['num_sub_vectors'], isInteger),
      ...entry('numBits', compression['num_bits'], isInteger),
    }),
    ...(type.includes('HNSW') && {
      ...entry('m', graph['max_connections'], isInteger),
      ...entry('efConstruction', graph['construction_ef'], isInteger),
    }),
  };
}

/**
 * Recreates the indexes of a table on its copy: the same names, columns, types, distances, and the settings that the
 * source reports. A failed index is a warning and not an error, because the rows are copied.
 */
export async function copyIndexes(
  source: Table,
  copy: Table,
  options: CallOptions,
): Promise<{ indexes: string[]; warnings: string[] }> {
  const indexes: string[] = [];
  const warnings: string[] = [];
  const wanted = await source.listIndices(options).catch((error: unknown) => {
    warnings.push(`Can't list the indexes of the source: ${toldAs(error)}`);
    return [];
  });
  if (wanted.length === 0) return { indexes, warnings };
  const there = await copy.listIndices(options).catch((error: unknown) => void toldAs(error));
  for (const index of wanted) {
    const problem = there?.some(({ name }) => name === index.name)
      ? undefined
      : await make(source, copy, index, options).catch((error: unknown) => toldAs(error));
    if (problem === undefined) indexes.push(index.name);
    else warnings.push(`Can't create the index "${index.name}": ${problem}`);
  }
  return { indexes, warnings };
}

const isKnown = (type: string): type is IndexType => Object.hasOwn(indexTypes, type);

/** @returns why the index can't be created; `undefined` after success */
async function make(source: Table, copy: Table, index: IndexInfo, options: CallOptions): Promise<string | undefined> {
  const { name, columns, details } = index;
  const [column, ...more] = columns;
  if (column === undefined || more.length > 0) return `it is on ${columns.length} columns.`;
  const type = indexTypeName(index.type ?? '');
  if (!isKnown(type)) return `its type ${type === '' ? 'is unknown' : `"${type}" is not supported`}.`;
  const settings = indexSettings(type, details);
  if (indexTypes[type] === 'vector') settings.distanceType ??= await distanceOf(source, name, options);
  await copy.createIndex(column, { ...settings, ...options, type, name, replace: true });
  return undefined;
}

async function distanceOf(source: Table, name: string, options: CallOptions) {
  const stats = await source.indexStats(name, options).catch((error: unknown) => void toldAs(error));
  return distanceTypes.find((known) => known === stats?.distanceType?.toLowerCase());
}

/** Errors that are temporary or affect every later request. They end the copy; calling again resumes the copy. */
const fatal = ['ServiceUnavailable', 'Throttling', 'Unauthenticated'] as const;

/** Returns the message of an error that does not end the copy; throws all others. */
function toldAs(error: unknown): string {
  if (isCatalogError(error) && !fatal.some((kind) => kind === error.kind)) return error.message;
  throw error instanceof Error ? error : new CatalogError('Internal', messageOf(error), '');
}
