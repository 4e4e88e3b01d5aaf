import type { Stored } from './sqlValues.ts';

/** A query with the values of its question marks. */
export type BoundQuery = { text: string; bound: readonly Stored[] };

/** A table as a query names it: the schema is `main` for the root of the catalog, else what stands before the dot. */
export type TablePlace = { schema: string; name: string };

export const isSamePlace = (one: TablePlace, other: TablePlace): boolean =>
  one.schema === other.schema && one.name === other.name;

/**
 * What the process of SQLite is asked, one thing after the other. Its database begins empty, and is gone with `close`.
 * Rows and fields are streams of Arrow.
 */
export type SqlMethods = {
  /** Which table the query names that is not there; null when it can be run. */
  missing: [{ text: string }, string | null];
  /** Makes an empty table with the fields of this stream. */
  define: [TablePlace & { fields: Uint8Array }, null];
  /** The columns that the query reads; null where this SQLite can't tell. */
  columns: [{ text: string }, readonly (TablePlace & { column: string })[] | null];
  /** Adds rows, of some columns of the table. Gives the bytes of text and binary values in them. */
  insert: [TablePlace & { rows: Uint8Array }, number];
  /** Whether the query gives so many rows of what is there. */
  isEnough: [BoundQuery & { wanted: number }, boolean];
  /** The rows of the query. */
  answer: [BoundQuery, Uint8Array];
  /** Gives the bytes of memory that the process holds from then on. */
  close: [null, number];
};

/** What that process asks: nothing. */
export type SqlHostMethods = Record<string, never>;
