// What a notebook sees of `sql`. The declarations of this file are part of what cells are checked against, so it needs
// nothing else.
import type { Table } from '#arrow';

/** A value within a query: dates count as UTC text, lists as their elements (`id in (${ids})`). */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array | Date;

/** A query over tables of `db`, as a template: `` await sql`select count(*) from products where price < ${most}` ``. */
export type Sql = (
  parts: TemplateStringsArray,
  ...values: readonly (SqlValue | readonly SqlValue[])[]
) => Promise<Table>;
