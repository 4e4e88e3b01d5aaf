import { given } from '#shared/records.ts';
import type { QuerySpec } from './querySpec.ts';
import { pinned, type RestTarget } from './restTarget.ts';
import { noLimit } from './wire.ts';

/** The wish of a request to have its rows sorted: the specification knows no order, so a server must say it obeyed. */
export const orderPreference = 'order_by';

/** Whether rows are looked for by likeness, best first, and not read in the order of the table. */
export const isSearch = (spec: QuerySpec): boolean => spec.vector !== undefined || spec.fullText !== undefined;

/** How many rows are asked for: what was said, 10 of a search, else all of them. */
export const rowLimit = (spec: QuerySpec): number | undefined => spec.limit ?? (isSearch(spec) ? 10 : undefined);

/**
 * A search as it is asked of servers, and how many of the rows that come are left out on this side: some servers take the
 * offset off the rows that were asked for, so that fewer come than were wanted.
 */
export function widened(spec: QuerySpec): { asked: QuerySpec; skip: number } {
  const { offset = 0, ...rest } = spec;
  const limit = rowLimit(spec);
  if (offset === 0 || !isSearch(spec) || spec.orderBy || !limit) return { asked: spec, skip: 0 };
  return { asked: { ...rest, limit: limit + offset }, skip: offset };
}

/** A query as the specification writes it ("QueryTableRequest"), with an order where there is one. */
export function queryBody(target: RestTarget, spec: QuerySpec): Record<string, unknown> {
  const { columns, columnAliases, filter, offset, orderBy, withRowId, prefilter, fastSearch, vector, fullText } = spec;
  return {
    ...pinned(target),
    // Both are required, also where nothing is searched for: an empty vector then, and more rows than there can be. Some
    // servers take 0 for all rows, so who wants none asks for one and does not read it.
    vector: { single_vector: vector?.values ?? [] },
    k: Math.min(Math.max(rowLimit(spec) ?? noLimit, 1), noLimit),
    ...(columns && { columns: { column_names: columns } }),
    ...(columnAliases && { columns: { column_aliases: columnAliases } }),
    ...given({ filter, offset }),
    // Said in every search: what servers do when it is not said differs.
    ...(isSearch(spec) && filter !== undefined ? { prefilter: prefilter ?? true } : given({ prefilter })),
    ...given({ with_row_id: withRowId, fast_search: fastSearch }),
    ...(vector &&
      given({
        vector_column: vector.column,
        distance_type: vector.distanceType,
        nprobes: vector.nprobes,
        refine_factor: vector.refineFactor,
        ef: vector.ef,
        bypass_vector_index: vector.bypassVectorIndex,
        lower_bound: vector.lowerBound,
        upper_bound: vector.upperBound,
      })),
    ...(fullText && {
      full_text_query: { string_query: { query: fullText.query, ...given({ columns: fullText.columns }) } },
    }),
    ...(orderBy && {
      order_by: orderBy.map(({ column, descending, nullsFirst }) => ({
        column,
        ...given({ descending, nulls_first: nullsFirst }),
      })),
    }),
  };
}
