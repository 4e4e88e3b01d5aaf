// The two channels between the process that asks and the process of the engine.
//
// 1. Requests to the engine travel over the IPC channel of Node (`EngineMethods`).
// 2. While a query runs, the engine pulls batches of tables over two pipes. Its callbacks are synchronous, so its main
//    thread blocks until the reply is there. A request is a line of JSON; a reply is a `PullHeader` and its two parts.

/** A value of a query's parameter in a form that both processes share. Integers of any size are bigint. */
export type Parameter =
  | { type: 'null' }
  | { type: 'boolean'; value: boolean }
  | { type: 'integer'; value: bigint }
  | { type: 'double'; value: number }
  | { type: 'text'; value: string }
  | { type: 'bytes'; value: Uint8Array }
  | { type: 'decimal'; unscaled: bigint; scale: number }
  /** A time of the day, in microseconds. */
  | { type: 'time'; micros: bigint }
  /** A moment in UTC. */
  | { type: 'timestamp'; micros: bigint }
  | { type: 'timestampNs'; nanos: bigint }
  | { type: 'interval'; micros: bigint }
  /** A list of integers, or a list of numbers that are not all integers. */
  | { type: 'integers'; value: readonly bigint[] }
  | { type: 'doubles'; value: readonly number[] }
  | { type: 'floats'; value: Float32Array }
  | { type: 'texts'; value: readonly string[] };

/** The name of a table as a query writes it; empty parts are absent in the query. */
export type TableName = { catalog: string; schema: string; name: string };

/** A search by vector: `nearest('shop.products', vector, k := 10, distance_type := 'cosine')`. */
export type SqlSearch = {
  vector: readonly number[];
  k: number;
  column?: string;
  distanceType?: string;
  /** A condition in the SQL of tables, applied before the search. */
  filter?: string;
  useIndex?: boolean;
  refineFactor?: number;
  version?: number;
};

/** What a scan reads: a table that the query names, by its number, or a table function with its arguments. */
export type ScanSource =
  | { kind: 'table'; table: number }
  | { kind: 'version'; name: string; version: number }
  | { kind: 'nearest'; name: string; search: SqlSearch }
  | { kind: 'search'; name: string; text: string; k: number };

/** Requests to the engine, one query at a time. Schemas and batches are Arrow streams. */
export type EngineMethods = {
  /** Returns the syntax tree of a query as JSON; null if the engine has none for this statement. */
  parse: [{ text: string }, string | null];
  /** Starts a query, with a view for each table that it names. Returns the columns of its result. */
  start: [{ text: string; parameters: readonly Parameter[]; views: readonly TableName[] }, Uint8Array];
  /** Returns the next batch of the result; null after the last one. */
  next: [null, Uint8Array | null];
  /** Ends the query and deletes its views. Returns the bytes of memory that the process still holds. */
  close: [null, number];
};

/** The engine sends no requests over the IPC channel. */
export type EngineHostMethods = Record<string, never>;

/** Requests of the engine while a query runs. */
export type PullRequest =
  /** Replies with the columns of a source (binary) and `PullDescription` (JSON). */
  | { describe: ScanSource }
  /** Starts a scan of these columns. Replies with `PullScan`. */
  | { open: ScanSource; columns: readonly string[] }
  /** Replies with the next batches of a scan; with no bytes after the last one. */
  | { next: number };

export type PullDescription = { rows: number | null };
/** The number of the scan; with `rows`, there is nothing to read because only the number of rows matters. */
export type PullScan = { scan: number; rows: number | null };

/** An error reply. The host keeps the error itself and reports it instead of the engine's. */
export type PullFailure = { failure: string };

/** Bytes of a reply's header: the lengths of its JSON and of its binary part, as unsigned 32-bit integers. */
export const pullHeaderBytes = 8;

/** Error codes of the engine's process beside the kinds of `CatalogError`: the message is the engine's JSON. */
export const engineErrorCode = 'engine';

/** File descriptors of the pipes in the engine's process. */
export const requestPipe = 3;
export const replyPipe = 4;
