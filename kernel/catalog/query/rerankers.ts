import type { RecordBatch } from '#arrow';
import { describeType } from '#catalog/arguments/tableArguments.ts';
import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';

/**
 * Orders the rows that a search by vector and a search by text found. Both batches have the column `_rowid`. The first
 * batch also has `_distance`, and the second has `_score`. In each batch the best row is first.
 */
export interface Reranker {
  /** Returns `_rowid` and `_relevance_score` of the rows, best first. Other columns are taken from the searches. */
  rerankHybrid(query: string, vecResults: RecordBatch, ftsResults: RecordBatch): Promise<RecordBatch> | RecordBatch;
}

/**
 * Reciprocal rank fusion: the score of a row is the sum of `1 / (k + rank)` over both searches, with ranks from 0.
 * Distances and scores can't be compared with each other, but ranks can.
 */
export class RRFReranker {
  readonly k: number;

  /** @param k a larger number lets later ranks count more (default: 60). @throws CatalogError InvalidInput (13) */
  constructor(k = 60) {
    if (!Number.isFinite(k) || k <= 0) {
      throw new CatalogError(
        'InvalidInput',
        `${String(k)} is not a valid k of a rank fusion.`,
        'Pass a number above 0.',
      );
    }
    this.k = k;
  }

  /** Creates a reranker, as in LanceDB. */
  // oxlint-disable-next-line typescript/require-await -- LanceDB's is asynchronous, and code calls `.then` on it
  static async create(k?: number): Promise<RRFReranker> {
    return new RRFReranker(k);
  }

  /**
   * Returns the row ids of all lists with their scores, best first. Ids with equal scores are in the order of the
   * lists.
   */
  fuse(lists: readonly (readonly bigint[])[]): { id: bigint; score: number }[] {
    const scores = new Map<bigint, number>();
    for (const ids of lists) ids.forEach((id, rank) => scores.set(id, (scores.get(id) ?? 0) + 1 / (this.k + rank)));
    return [...scores].map(([id, score]) => ({ id, score })).toSorted((a, b) => b.score - a.score);
  }
}

/** @throws CatalogError InvalidInput (13) for an object that is not a reranker */
export function checkReranker(reranker: Reranker | RRFReranker): Reranker | RRFReranker {
  const given: unknown = reranker;
  if (given instanceof RRFReranker || (isRecord(given) && typeof given['rerankHybrid'] === 'function')) return reranker;
  throw new CatalogError(
    'InvalidInput',
    `Expected a reranker, got ${describeType(given)}${isRecord(given) ? ' without a function rerankHybrid' : ''}.`,
    'Write rerank(rrf({ k: 60 })), or pass an object with rerankHybrid(query, vecResults, ftsResults).',
  );
}

/** Creates a reranker for `rerank()`: `rrf({ k: 20 })`. @throws CatalogError InvalidInput (13) */
export const rrf = ({ k }: { k?: number | undefined } = {}): RRFReranker => new RRFReranker(k);

/** The rerankers, as LanceDB's package exports them. */
export const rerankers = { RRFReranker } as const;
