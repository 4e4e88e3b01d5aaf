import type { FullTextQuery } from '#catalog/query/fullTextQuery.ts';
import type { FullTextOptions, QueryOptions } from '#catalog/query/querySpec.ts';
import type { DistanceType } from '#shared/vectorTypes.ts';
import { type NotSupported, notSupported } from './unsupported.ts';

/**
 * Query steps that have the same names as in LanceDB's own packages. `Query` can do the same without these steps:
 * `filter` is `where`, and the steps of a vector search are options of `nearestTo`. `Found` is the type of the query
 * after a search for words.
 */
export abstract class LanceDbQuery<Self, Found = Self> {
  abstract where(filter: string): Self;
  abstract fullTextSearch(query: string | FullTextQuery, options?: FullTextOptions): Found;

  /**
   * Changes options of the vector search.
   * @throws CatalogError InvalidInput (13) if the query has no vector to search by
   */
  protected abstract changeVector(step: string, change: QueryOptions): Self;

  /** Like `where`. */
  filter(filter: string): Self {
    return this.where(filter);
  }

  /** Like `fullTextSearch(query, { columns })`. */
  nearestToText(query: string | FullTextQuery, columns?: readonly string[]): Found {
    return this.fullTextSearch(query, columns === undefined ? {} : { columns });
  }

  /** Sets the vector column to search. Default: the only vector column. */
  column(column: string): Self {
    return this.changeVector('column', { column });
  }

  /** Sets how the distance of two vectors is measured. Default: the measure of the index, or `l2` without an index. */
  distanceType(distanceType: DistanceType): Self {
    return this.changeVector('distanceType', { distanceType });
  }

  /** Sets how many partitions of an IVF index are searched. */
  nprobes(nprobes: number): Self {
    return this.changeVector('nprobes', { nprobes, minimumNprobes: undefined, maximumNprobes: undefined });
  }

  /** Sets how many partitions of an IVF index are always searched. */
  minimumNprobes(minimumNprobes: number): Self {
    return this.changeVector('minimumNprobes', { minimumNprobes });
  }

  /** Sets the maximum number of partitions to search while too few rows are found. 0 means all partitions. */
  maximumNprobes(maximumNprobes: number): Self {
    return this.changeVector('maximumNprobes', { maximumNprobes });
  }

  /** Reads `refineFactor` times as many rows as requested, and sorts them by their true distance. */
  refineFactor(refineFactor: number): Self {
    return this.changeVector('refineFactor', { refineFactor });
  }

  /** Sets the number of candidates of an HNSW index. */
  ef(ef: number): Self {
    return this.changeVector('ef', { ef });
  }

  /** Finds only rows at a distance of at least `lowerBound` and less than `upperBound`. */
  distanceRange(lowerBound?: number, upperBound?: number): Self {
    return this.changeVector('distanceRange', { lowerBound, upperBound });
  }

  /** Compares the vector with every row instead of using the index. */
  bypassVectorIndex(): Self {
    return this.changeVector('bypassVectorIndex', { bypassVectorIndex: true });
  }

  /** Not supported. @deprecated This client has no LSM writes: leave this step out. */
  useLsm(this: NotSupported<typeof noLsm>, _enable: boolean): never {
    throw notSupported('useLsm', noLsm);
  }
}

const noLsm = 'This client has no LSM writes: a query reads all rows that were added. Leave this step out.';
