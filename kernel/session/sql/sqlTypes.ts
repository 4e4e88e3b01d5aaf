import { type Table, tableFromIPC, tableToIPC } from '#arrow';
import { withOwnGlobals } from '#shared/ownGlobals.ts';

// The types of `sql` in a notebook. The type checker of cells reads the declarations of this file.

// `withOwnGlobals` is needed because Arrow creates a TextDecoder for every message, and a cell may have replaced this
// global.

export const readStream = (stream: Uint8Array): Table => withOwnGlobals(() => tableFromIPC(stream));

export const writeStream = (table: Table): Uint8Array => withOwnGlobals(() => tableToIPC(table, 'stream'));

/** A value in a query. A Date becomes UTC text, a list its elements (`id in (${ids})`). */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array | Date;

/** A query over tables of `db`, as a template: `` await sql`select count(*) from products where price < ${most}` ``. */
export type Sql = (
  parts: TemplateStringsArray,
  ...values: readonly (SqlValue | readonly SqlValue[])[]
) => Promise<Table>;
