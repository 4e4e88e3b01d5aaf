import type { CallOptions } from '#catalog/arguments/options.ts';
import type { Table } from '#catalog/table/table.ts';
import { bothConditions } from './valueCondition.ts';
import { filteredQuery, type ViewSpec } from './listRows.ts';
import { rowIdsOf } from './rowKeys.ts';
import { type RowSearch, textCondition } from './searchRows.ts';

/**
 * Maximum number of rows found by a full-text index that filter a search by vector. The engine reads a filter of 10,000
 * row ids in about 0.1 s; beyond that the time grows faster than their number.
 */
export const maxFoundRows = 10_000;

/** The filter of a search by vector, and how the text in it was searched. */
export type FoundFilter = {
  readonly where: string | undefined;
  /** With `indexLimit` if an index found more rows than a filter can have, so that the text was compared. */
  readonly search: RowSearch | undefined;
};

/**
 * Returns the filter and the search of a view as one filter, because the engine would mix the scores of a search by text
 * with those of a search by vector. The rows that a full-text index finds are a list of row ids.
 */
export async function findFilter(
  table: Table,
  { where, search }: ViewSpec,
  { signal }: CallOptions,
): Promise<FoundFilter> {
  if (!search) return { where, search };
  if (!search.isIndex) return { where: bothConditions(where, textCondition(search)), search };
  const found = filteredQuery(table, { where, search })
    .select(['_rowid'])
    .limit(maxFoundRows + 1);
  const { batches } = await found.toArrow({ signal });
  const ids = batches.flatMap((batch) => Array.from(rowIdsOf(batch)));
  // SQL has no empty list.
  if (ids.length === 0) return { where: 'false', search };
  // The rows have passed the filter already.
  if (ids.length <= maxFoundRows) return { where: `_rowid IN (${ids.join(', ')})`, search };
  const compared = { ...search, isIndex: false, indexLimit: maxFoundRows };
  return { where: bothConditions(where, textCondition(compared)), search: compared };
}
