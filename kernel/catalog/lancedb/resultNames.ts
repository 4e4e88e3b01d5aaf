import type { OptimizeResult } from '#catalog/table/optimize.ts';
import type { IndexInfo, IndexStats, TableStats } from '#catalog/table/table.ts';
import type { MergeResult, RefreshResult, UpdateResult } from '#catalog/table/writeResults.ts';

// This file adds properties with the names of LanceDB's package to results. The properties are not enumerable, so that
// an output shows each value once.

/** Adds properties that outputs, JSON and copies of the object leave out. */
function withNames<T extends object, N extends object>(result: T, names: N): T & Readonly<N> {
  for (const [name, value] of Object.entries(names)) Object.defineProperty(result, name, { value });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its properties were just defined
  return result as T & Readonly<N>;
}

/** The types of indexes as LanceDB's `listIndices` names them. */
const indexTypeNames: Readonly<Record<string, string>> = {
  BTREE: 'BTree',
  BITMAP: 'Bitmap',
  LABEL_LIST: 'LabelList',
  FTS: 'FTS',
  IVF_FLAT: 'IvfFlat',
  IVF_SQ: 'IvfSq',
  IVF_PQ: 'IvfPq',
  IVF_RQ: 'IvfRq',
  IVF_HNSW_FLAT: 'IvfHnswFlat',
  IVF_HNSW_PQ: 'IvfHnswPq',
  IVF_HNSW_SQ: 'IvfHnswSq',
};

export type LanceDbIndexInfo = {
  /** LanceDB's name of `type`, for instance `IvfPq`. */
  readonly indexType: string | undefined;
  readonly indexUuid: string | undefined;
  readonly createdAt: Date | undefined;
  readonly indexDetails: unknown;
};

export const namedIndexInfo = (info: IndexInfo): IndexInfo & LanceDbIndexInfo =>
  withNames(info, {
    indexType: info.type === undefined ? undefined : (indexTypeNames[info.type] ?? info.type),
    indexUuid: info.uuid,
    createdAt: info.created,
    indexDetails: parse(info.details),
  });

function parse(details: string | undefined): unknown {
  try {
    return details === undefined ? undefined : JSON.parse(details);
  } catch {
    return details;
  }
}

export type LanceDbIndexStats = { readonly indexType: string | undefined };
export const namedIndexStats = (stats: IndexStats): IndexStats & LanceDbIndexStats =>
  withNames(stats, { indexType: stats.type });

export type LanceDbUpdateResult = { readonly rowsUpdated: number | undefined };
export const namedUpdateResult = (result: UpdateResult): UpdateResult & LanceDbUpdateResult =>
  withNames(result, { rowsUpdated: result.numUpdatedRows });

export type LanceDbRefreshResult = { readonly rowsFilled: number };
export const namedRefreshResult = (result: RefreshResult): RefreshResult & LanceDbRefreshResult =>
  withNames(result, { rowsFilled: result.numFilledRows });

/**
 * Adds `numRows`, the sum of inserted and updated rows. It is `undefined` if the server reports neither number.
 * @param numAttempts how often the engine tried the merge; servers do not report it
 */
export function namedMergeResult(result: MergeResult, numAttempts?: number): MergeResult {
  const { numInsertedRows: inserted, numUpdatedRows: updated } = result;
  const isKnown = inserted !== undefined || updated !== undefined;
  return withNames(result, { numRows: isKnown ? (inserted ?? 0) + (updated ?? 0) : undefined, numAttempts });
}

export type LanceDbTableStats = {
  readonly fragmentStats: {
    readonly numFragments: number;
    readonly numSmallFragments: number;
    readonly lengths: TableStats['fragmentLengths'];
  };
};
export const namedTableStats = (stats: Omit<TableStats, keyof LanceDbTableStats>): TableStats => {
  const { numFragments, numSmallFragments, fragmentLengths } = stats;
  return withNames(stats, { fragmentStats: { numFragments, numSmallFragments, lengths: fragmentLengths } });
};

export type LanceDbOptimizeResult = {
  readonly compaction: {
    readonly filesAdded: number;
    readonly filesRemoved: number;
  };
  readonly prune: { readonly bytesRemoved: number; readonly oldVersionsRemoved: number };
};
export const namedOptimizeResult = (result: Omit<OptimizeResult, keyof LanceDbOptimizeResult>): OptimizeResult =>
  withNames(result, {
    compaction: { filesAdded: result.numFilesAdded, filesRemoved: result.numFilesReplaced },
    prune: { bytesRemoved: result.bytesRemoved, oldVersionsRemoved: result.numVersionsRemoved },
  });
