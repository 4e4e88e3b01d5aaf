import { type Table, tableFromIPC, tableToIPC } from '#arrow';
import type { RowOptions } from '#catalog/arrow/rowValues.ts';
import type { AnyRow } from '#catalog/query/rowTypes.ts';
import type { Decimal } from '#catalog/values/decimal.ts';
import type { Duration } from '#catalog/values/duration.ts';
import type { Time } from '#catalog/values/time.ts';
import { withOwnGlobals } from '#shared/ownGlobals.ts';

// The types of `sql` in a notebook. The type checker of cells reads the declarations of this file.

// `withOwnGlobals` is needed because Arrow creates a TextDecoder for every message, and a cell may have replaced this
// global.

export const readStream = (stream: Uint8Array): Table => withOwnGlobals(() => tableFromIPC(stream));

export const writeStream = (table: Table): Uint8Array => withOwnGlobals(() => tableToIPC(table, 'stream'));

/**
 * A value in a query. Times and decimals become text, as in a result. A list becomes its elements (`id in (${ids})`).
 */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array | Date | Decimal | Time | Duration;

/** The result of a query: an Arrow table when it is awaited; `toArray()` returns its rows as `query().toArray()` does. */
export type SqlResult = Promise<Table> & {
  toArray(options?: RowOptions): Promise<AnyRow[]>;
};

/** A query over tables of `db`, as a template: `` await sql`select count(*) from products where price < ${most}` ``. */
export type Sql = (parts: TemplateStringsArray, ...values: readonly (SqlValue | readonly SqlValue[])[]) => SqlResult;
