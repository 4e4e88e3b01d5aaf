import { DataType, type Field, type Schema } from '#arrow';
import { checkChoice, checkOptions } from '#catalog/arguments/options.ts';
import { checkText } from '#catalog/arguments/tableArguments.ts';
import type { CreateIndexOptions, IndexType } from './table.ts';

/** The index types by the specification's names, and whether each is for vectors. */
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
  'signal',
] as const satisfies (keyof CreateIndexOptions)[];

/**
 * Checks the arguments of `createIndex`, the same for every implementation.
 * @throws CatalogError InvalidInput (13) if the column is not a string, for an unknown option or an unknown type
 */
export function checkIndexOptions(column: string, options: CreateIndexOptions): void {
  checkText('createIndex', 'column', column);
  checkOptions('createIndex', options, optionNames);
  checkChoice('createIndex', 'type', options.type, Object.keys(indexTypes) as IndexType[]);
}
