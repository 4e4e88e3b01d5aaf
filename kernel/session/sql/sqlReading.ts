import type { RecordBatch } from '#arrow';
import type { Query } from '#client/query.ts';
import { isCatalogError } from '#shared/errors.ts';
import { ask } from './sqlDatabase.ts';
import { tableFilter } from './sqlFilter.ts';
import type { BoundQuery } from './sqlMessages.ts';
import type { SqlConnection } from './sqlProcess.ts';
import { shapeOf, wantedRows } from './sqlShape.ts';
import type { NamedTable } from './sqlTables.ts';

/** What is read of one table for a query. */
export type Reading = {
  named: NamedTable;
  /** Its columns. */
  names: readonly string[];
  query: Query;
  /** The same without the filter, should the table not take that. */
  unfiltered: Query | undefined;
  /** How many rows that is; undefined where counting them would take longer than reading what is wanted. */
  rows: number | undefined;
  /** How many rows the query gives at most, where those are enough that come first. */
  wanted: number | undefined;
};

/**
 * Says how to read as little of the tables as is sure to be enough: of one alone the rows that its WHERE can be about, and
 * of one whose first rows are wanted no more than it takes to find them.
 */
export async function readingsFor(
  query: BoundQuery,
  tables: readonly NamedTable[],
  columns: ReadonlyMap<NamedTable, string[]>,
  signal: AbortSignal,
): Promise<Reading[]> {
  return Promise.all(
    tables.map(async (named): Promise<Reading> => {
      const names = columns.get(named) ?? [];
      const all = named.table.query().select(names);
      const shape = tables.length === 1 ? shapeOf(query.text, named.fields) : undefined;
      const limit = shape && wantedRows(shape, query.bound);
      const filter = shape && tableFilter(shape, query.bound, named.fields);
      const read = { named, names, wanted: limit?.rows };
      if (shape?.where === undefined && limit)
        return { ...read, query: all.limit(limit.reach), unfiltered: undefined, rows: limit.reach };
      if (filter === undefined)
        return { ...read, query: all, unfiltered: undefined, rows: limit ? undefined : await count(named, signal) };
      const filtered = { ...read, query: all.where(filter), unfiltered: all };
      if (limit) return { ...filtered, rows: undefined };
      try {
        return { ...filtered, rows: await count(named, signal, filter) };
      } catch (error) {
        if (!isCatalogError(error, 'InvalidInput')) throw error;
        return { ...read, query: all, unfiltered: undefined, rows: await count(named, signal) };
      }
    }),
  );
}

/** How many rows of a table there are. */
export const count = ({ table }: NamedTable, signal: AbortSignal, filter?: string): Promise<number> =>
  table.countRows(filter, { signal });

/** The rows of a reading as they come. */
export async function* batchesOf({ query, unfiltered }: Reading, signal: AbortSignal): AsyncGenerator<RecordBatch> {
  let isBegun = false;
  try {
    for await (const batch of (await query.execute({ signal })).batches) {
      isBegun = true;
      yield batch;
    }
  } catch (error) {
    // A server may know less SQL than ours.
    if (isBegun || !unfiltered || !isCatalogError(error, 'InvalidInput')) throw error;
    yield* (await unfiltered.execute({ signal })).batches;
  }
}

/** A function that says, of how many rows have been read, whether the query has all that it wants of them. */
export function enough(database: SqlConnection, query: BoundQuery, wanted: number): (rows: number) => Promise<boolean> {
  let next = wanted;
  return async (rows) => {
    if (rows < next) return false;
    // Each look reads all that is there, so the next one waits until that has doubled.
    next = rows * 2;
    return ask(database, 'isEnough', { ...query, wanted }, []);
  };
}
