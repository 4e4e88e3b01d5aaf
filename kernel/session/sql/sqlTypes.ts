import { type Table, tableFromIPC, tableToIPC } from '#arrow';
import { withOwnGlobals } from '#shared/ownGlobals.ts';

// What a notebook sees of `sql`. The declarations of this file are part of what cells are checked against, so it needs
// nothing else.

// Arrow's library makes a TextDecoder for every message, of which a cell may have made something else.

/** The table of a stream of Arrow. */
export const readStream = (stream: Uint8Array): Table => withOwnGlobals(() => tableFromIPC(stream));

/** A table as a stream of Arrow. */
export const writeStream = (table: Table): Uint8Array => withOwnGlobals(() => tableToIPC(table, 'stream'));

/** A value within a query: dates count as UTC text, lists as their elements (`id in (${ids})`). */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array | Date;

/** A query over tables of `db`, as a template: `` await sql`select count(*) from products where price < ${most}` ``. */
export type Sql = (
  parts: TemplateStringsArray,
  ...values: readonly (SqlValue | readonly SqlValue[])[]
) => Promise<Table>;
