import type { RecordBatch, Table as ArrowTable } from '#arrow';

/** Rows as objects, or an Arrow table made by any copy of apache-arrow. */
export type TableData = readonly Record<string, unknown>[] | ArrowTable;

/** Record batches of one schema as they come, of any copy of apache-arrow: a query's result, a reader, a generator. */
export type BatchSource = AsyncIterable<RecordBatch>;

/** What tables are made of and added to. */
export type TableSource = TableData | BatchSource;
