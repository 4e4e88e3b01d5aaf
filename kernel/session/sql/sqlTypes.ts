import type { Table } from '#arrow';
import type { RowOptions } from '#catalog/arrow/rowValues.ts';
import type { AnyRow } from '#catalog/query/rowTypes.ts';
import type { Decimal } from '#catalog/values/decimal.ts';
import type { Duration } from '#catalog/values/duration.ts';
import type { Time } from '#catalog/values/time.ts';

// The types of `sql` in a notebook. The type checker of cells reads the declarations of this file.

/** A single value in a query. A `Date` is a timestamp in UTC. */
export type SqlScalar = string | number | bigint | boolean | null | Uint8Array | Date | Decimal | Time | Duration;

/** A list in a query: the elements of `in (${ids})`, or a vector. */
export type SqlList = readonly SqlScalar[] | Float32Array | Float64Array;

/** Rows in a query, as a table: `from ${rows}`. */
export type SqlRows = Table | readonly object[];

/** A value in a query. */
export type SqlValue = SqlScalar | SqlList | SqlRows;

/** The result of a query: an Arrow table when it is awaited; `toArray()` returns its rows as `query().toArray()` does. */
export type SqlResult = Promise<Table> & {
  toArray(options?: RowOptions): Promise<AnyRow[]>;
};

/** A query over tables of `db`, as a template: `` await sql`select count(*) from products where price < ${most}` ``. */
export type Sql = (parts: TemplateStringsArray, ...values: readonly SqlValue[]) => SqlResult;
