import type { CreateIndexOptions, IndexType } from '#catalog/table/table.ts';
import { CatalogError } from '#shared/errors.ts';
import { definedEntries, isRecord } from '#shared/records.ts';
import { type NotSupported, notSupported } from './unsupported.ts';

type Partitions = Pick<CreateIndexOptions, 'numPartitions' | 'sampleRate' | 'maxIterations'>;
type Distance = { distanceType?: 'l2' | 'cosine' | 'dot' | undefined };
type Graph = Pick<CreateIndexOptions, 'm' | 'efConstruction'>;

export type IvfPqOptions = Partitions & Distance & Pick<CreateIndexOptions, 'numSubVectors' | 'numBits'>;
export type IvfRqOptions = Partitions & Distance & Pick<CreateIndexOptions, 'numBits'>;
export type IvfFlatOptions = Partitions & Pick<CreateIndexOptions, 'distanceType'>;
export type HnswPqOptions = Partitions & Distance & Graph & Pick<CreateIndexOptions, 'numSubVectors'>;
export type HnswSqOptions = Partitions & Distance & Graph;
/** Options of a full-text index. `lowercase` is LanceDB's name of `lowerCase`. */
export type FtsOptions = Omit<
  CreateIndexOptions,
  | keyof IvfPqOptions
  | keyof Graph
  | 'config'
  | 'distanceType'
  | 'name'
  | 'replace'
  | 'signal'
  | 'train'
  | 'type'
  | 'waitTimeoutSeconds'
> & { lowercase?: boolean | undefined };

/** The type of an index and its options, as plain data: the option `config` of `createIndex`. */
export type Index = Readonly<Omit<CreateIndexOptions, 'config' | 'name' | 'replace' | 'signal' | 'type'>> & {
  readonly type: IndexType;
};

const config = (type: IndexType, options: Omit<Index, 'type'> = {}): Index => ({ ...definedEntries(options), type });

const noFmIndex = 'The specification has no FM-index. Use Index.fts() for words, or filter with LIKE.';

/**
 * Index types under the names of LanceDB's package: `table.createIndex('vector', { config: Index.ivfPq() })` does the
 * same as `table.createIndex('vector', { type: 'IVF_PQ' })`.
 */
export const Index = {
  /** Partitions of vectors, compressed by product quantization. */
  ivfPq: (options?: IvfPqOptions): Index => config('IVF_PQ', options),
  /** Partitions of vectors, compressed by RabitQ quantization. */
  ivfRq: (options?: IvfRqOptions): Index => config('IVF_RQ', options),
  /** Partitions of vectors, not compressed. */
  ivfFlat: (options?: IvfFlatOptions): Index => config('IVF_FLAT', options),
  /** A graph of vectors, compressed by product quantization. */
  hnswPq: (options?: HnswPqOptions): Index => config('IVF_HNSW_PQ', options),
  /** A graph of vectors, compressed by scalar quantization. */
  hnswSq: (options?: HnswSqOptions): Index => config('IVF_HNSW_SQ', options),
  /** Sorted values, for columns of mostly distinct values. */
  btree: (): Index => config('BTREE'),
  /** A bitmap for each value, for columns of few distinct values. */
  bitmap: (): Index => config('BITMAP'),
  /** A bitmap for each value of lists. */
  labelList: (): Index => config('LABEL_LIST'),
  /** The words of strings. */
  fts: ({ lowercase, ...options }: FtsOptions = {}): Index =>
    config('FTS', { ...options, lowerCase: lowercase ?? options.lowerCase }),
  /** Not supported. */
  fm(this: NotSupported<typeof noFmIndex>): never {
    throw notSupported('Index.fm', noFmIndex);
  },
} as const;

/**
 * Merges the options of `createIndex` with the options in its `config`.
 * @throws CatalogError InvalidInput (13) if `config` is not an `Index`, or has an option that is also set outside of
 * it; Unsupported (0) for `train: false`
 */
export function withIndexConfig(options: CreateIndexOptions): CreateIndexOptions {
  const { config: given, train, ...own } = isRecord(options) ? options : {};
  if (!isRecord(options)) return options;
  if (train === false) {
    const what = "createIndex can't create an index without rows.";
    throw new CatalogError('Unsupported', what, 'Leave train out, and create the index when the table has rows.');
  }
  if (given === undefined) return own;
  if (!isRecord(given) || typeof given['type'] !== 'string') {
    throw new CatalogError(
      'InvalidInput',
      'createIndex: the config is not an index of this client.',
      'Write for instance { config: Index.ivfPq() }, with Index of this notebook or of "lance-catalog".',
    );
  }
  const twice = Object.keys(given).find((key) => own[key as keyof typeof own] !== undefined);
  if (twice !== undefined) {
    const what = `createIndex: "${twice}" is in the options and in their config.`;
    throw new CatalogError('InvalidInput', what, 'Set it once.');
  }
  return { ...own, ...given };
}
