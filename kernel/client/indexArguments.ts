import { indexTypes } from './indexTypes.ts';
import { checkChoice, checkOptions } from './options.ts';
import type { CreateIndexOptions, IndexType } from './table.ts';
import { checkText } from './tableArguments.ts';

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
  'signal',
] as const satisfies (keyof CreateIndexOptions)[];

/**
 * The arguments of `createIndex`, checked the same for every implementation.
 * @throws CatalogError InvalidInput (13) for a column that is no text, an unknown option or an unknown type
 */
export function checkIndexOptions(column: string, options: CreateIndexOptions): void {
  checkText('createIndex', 'column', column);
  checkOptions('createIndex', options, optionNames);
  checkChoice('createIndex', 'type', options.type, Object.keys(indexTypes) as IndexType[]);
}
