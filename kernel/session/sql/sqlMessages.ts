import type { SqliteValue } from './sqlValues.ts';

export type BoundQuery = { text: string; bound: readonly SqliteValue[] };

/** A table as named in a query: the schema is the part before the dot, `main` for the root of the catalog. */
export type TablePlace = { schema: string; name: string };

export const isSamePlace = (one: TablePlace, other: TablePlace): boolean =>
  one.schema === other.schema && one.name === other.name;

/**
 * Requests to the SQLite process, processed in order. The database is empty at first, and `close` deletes it. Rows and
 * fields are Arrow streams.
 */
export type SqlMethods = {
  /** Returns the first undefined table in the query; null if the query can run. */
  missing: [{ text: string }, string | null];
  /** Creates an empty table with the fields of this stream. */
  define: [TablePlace & { fields: Uint8Array }, null];
  /** Returns the columns that the query reads; null if this SQLite can't report them. */
  columns: [{ text: string }, readonly (TablePlace & { column: string })[] | null];
  /** Adds rows with some columns of the table. Returns the size of their text and binary values. */
  insert: [TablePlace & { rows: Uint8Array }, number];
  /** Whether the query returns at least this number of rows from the data read so far. */
  isEnough: [BoundQuery & { wanted: number }, boolean];
  answer: [BoundQuery, Uint8Array];
  /** Returns the bytes of memory that the process still holds. */
  close: [null, number];
};

/** The process sends no requests. */
export type SqlHostMethods = Record<string, never>;
