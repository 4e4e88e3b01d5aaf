import { type CallOptions, checkOptions } from '#catalog/arguments/options.ts';
import { checkTexts } from '#catalog/arguments/tableArguments.ts';
import type { Ordering } from '#catalog/query/querySpec.ts';
import { CatalogError } from '#shared/errors.ts';

/** Which rows of a table the panel shows, and in which order. */
export type TableViewOptions = CallOptions & {
  /** SQL condition: only rows for which it is true. Default: all rows. A wrong one is explained in the panel. */
  where?: string | undefined;
  /** Columns to sort by, the first one first. Default: the order of the table. */
  orderBy?: string | Omit<Ordering, 'nullsFirst'> | readonly (string | Omit<Ordering, 'nullsFirst'>)[] | undefined;
  /** Columns from left to right; the others are hidden. Default: as the user has set them for the table. */
  columns?: readonly string[] | undefined;
};

/** Checked options of a view. */
export type TableViewRequest = {
  readonly where: string;
  readonly orderBy: readonly { readonly column: string; readonly descending: boolean }[];
  readonly columns: readonly string[] | undefined;
  readonly signal: AbortSignal | undefined;
};

/** @throws CatalogError InvalidInput (13) for an unknown option or an invalid value */
export function checkView(options: TableViewOptions): TableViewRequest {
  checkOptions('view', options, ['where', 'orderBy', 'columns', 'signal']);
  const { where = '', orderBy = [], columns, signal } = options;
  if (typeof where !== 'string')
    throw new CatalogError(
      'InvalidInput',
      `Expected SQL for "where", got a value of type ${typeof where}.`,
      `Write for instance { where: "id > 3" }.`,
    );
  const list: readonly unknown[] = Array.isArray(orderBy) ? orderBy : [orderBy];
  const orders = list.map((given) => {
    const order: unknown = typeof given === 'string' ? { column: given } : given;
    checkOptions('view', Object(order) as object, ['column', 'descending']);
    const { column, descending = false } = Object(order) as { column?: unknown; descending?: unknown };
    if (typeof column === 'string' && typeof descending === 'boolean') return { column, descending };
    throw new CatalogError(
      'InvalidInput',
      `Expected a column for "orderBy", got ${JSON.stringify(given) ?? String(given)}.`,
      `Write for instance { orderBy: { column: 'price', descending: true } }.`,
    );
  });
  return {
    where,
    orderBy: orders,
    columns: columns === undefined ? undefined : checkTexts('view', 'column', columns),
    signal,
  };
}
