import { isRecord } from '#shared/records.ts';
import { indexTypes } from './indexTypes.ts';
import type { CreateIndexOptions, IndexType } from './table.ts';

/**
 * What to make an index with so that it is like one that is there, from what the catalog tells of that one
 * (`IndexInfo.details`). What is not told is left to the engine, and so is the number of partitions, which it chooses by
 * the number of rows.
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
    // Another server's own form: nothing is known of it.
    return {};
  }
}

const isWhole = (value: unknown): value is number => Number.isSafeInteger(value);
const isFlag = (value: unknown): value is boolean => typeof value === 'boolean';
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** The entry under an option's name, where it is of the kind that the option takes. */
const entry = <K extends string, T>(name: K, value: unknown, is: (value: unknown) => value is T) =>
  (is(value) ? { [name]: value } : {}) as Partial<Record<K, T>>;

const textSettings = (told: Record<string, unknown>): CreateIndexOptions => ({
  ...entry('withPosition', told['with_position'], isFlag),
  ...entry('baseTokenizer', told['base_tokenizer'], isText),
  ...entry('language', told['language'], isText),
  ...entry('maxTokenLength', told['max_token_length'], isWhole),
  ...entry('lowerCase', told['lower_case'], isFlag),
  ...entry('stem', told['stem'], isFlag),
  ...entry('removeStopWords', told['remove_stop_words'], isFlag),
  ...entry('asciiFolding', told['ascii_folding'], isFlag),
});

function vectorSettings(type: IndexType, told: Record<string, unknown>): CreateIndexOptions {
  const part = (name: string): Record<string, unknown> => {
    const value = told[name];
    return isRecord(value) ? value : {};
  };
  const [compression, graph] = [part('compression'), part('hnsw')];
  const word = String(told['metric_type']).toLowerCase();
  return {
    ...entry('distanceType', word, (value) => value === 'l2' || value === 'cosine' || value === 'dot'),
    ...(type.endsWith('PQ') && {
      ...entry('numSubVectors', compression['num_sub_vectors'], isWhole),
      ...entry('numBits', compression['num_bits'], isWhole),
    }),
    ...(type.includes('HNSW') && {
      ...entry('m', graph['max_connections'], isWhole),
      ...entry('efConstruction', graph['construction_ef'], isWhole),
    }),
  };
}
