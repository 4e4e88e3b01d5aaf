import type { RecordBatch, Schema, Table } from '#arrow';
import type { SqlSearch, TableName } from './messages.ts';

/** What a query reads of a table. */
export type ScanRequest = {
  /** At least one column. */
  columns: readonly string[];
  /** A condition in the SQL of tables. The rows may include others, because the engine applies it again. */
  filter?: string | undefined;
  /** The number of first rows that are enough. */
  limit?: number | undefined;
};

/** A table that SQL can read. */
export type SqlTable = {
  /** The name in messages and progress. */
  name: string;
  schema: Schema;
  /** The number of rows, to plan joins; undefined if it is unknown. */
  rows: number | undefined;
  /**
   * Reads batches, which have at least the requested columns, in any order. A reader that stops early ends the scan.
   */
  scan(request: ScanRequest, signal: AbortSignal): AsyncIterable<RecordBatch>;
};

/** Finds the tables of a query. */
export type SqlTables = {
  /** @throws CatalogError TableNotFound (4), with the names of some tables */
  find(name: TableName, signal: AbortSignal): Promise<SqlTable>;
  /** The table of `version('shop.orders', 7)`. */
  atVersion?(name: string, version: number, signal: AbortSignal): Promise<SqlTable>;
  /** The rows of `nearest('shop.products', vector, k := 10)`. */
  nearest?(name: string, search: SqlSearch, signal: AbortSignal): Promise<SqlTable>;
  /** The rows of `search('shop.products', 'red mug', k := 10)`. */
  search?(name: string, text: string, k: number, signal: AbortSignal): Promise<SqlTable>;
};

/** Returns an Arrow table as a table of a query. */
export function arrowTable(name: string, table: Table): SqlTable {
  return {
    name,
    schema: table.schema,
    rows: table.numRows,
    async *scan({ limit = table.numRows }) {
      let rows = 0;
      for (const batch of table.batches) {
        if (rows >= limit) return;
        yield batch;
        rows += batch.numRows;
      }
    },
  };
}
