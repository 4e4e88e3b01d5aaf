// A function that computes a column, as data. This data is stored on the table, in jobs and in records, and sent over
// pipes.

/** What happens to a row for which the function throws. */
export type OnError =
  /** The first error ends the job; computed rows are kept. */
  | { readonly mode: 'fail' }
  /** The value is null, and counts as computed. */
  | { readonly mode: 'null' }
  /** The value stays null, and the next run tries the row again. */
  | { readonly mode: 'skip' }
  /** The row is retried up to this number of attempts, with a growing pause, before the job ends. */
  | { readonly mode: 'retry'; readonly attempts: number };

/** The forms of a function, for messages. The command line has its own list. */
export const functionForms = 'a SQL expression, a TypeScript file or a Python file';

export type FunctionBody =
  /** An expression in the engine's SQL. */
  | { readonly kind: 'sql'; readonly expression: string }
  /** One ES module that imports only Node's modules; its default export takes a row or a record batch. */
  | { readonly kind: 'typescript'; readonly takes: 'row' | 'batch'; readonly code: string; readonly source: string }
  /** The source of a Python file, and the name of the function in it. */
  | { readonly kind: 'python'; readonly takes: 'row' | 'batch'; readonly code: string; readonly entry: string }
  /** Only the catalog's server knows the function and runs it (runner `rest`). */
  | { readonly kind: 'server' };

/** A function that computes a column, with everything that a runner needs. */
export type ComputedFunction = {
  readonly name: string;
  /** The user's label of the version, such as `2`. The label has no effect. */
  readonly version: string;
  /** SHA-256 in hex of the code, its inputs and its output. Checkpoints and consent are found by this hash. */
  readonly hash: string;
  /** The columns that the function reads, in the order of its arguments. */
  readonly inputs: readonly string[];
  /** A base64 Arrow IPC stream without batches, whose only field is the column with the function's output type. */
  readonly output: string;
  readonly onError: OnError;
} & FunctionBody;

/**
 * Number of rows of a table after a run computed a column, and how many of these rows have no value because the
 * function returned none.
 */
export type Completeness = { readonly rows: number; readonly empty: number };

/** A computed column, as read from the metadata of its field. */
export type ComputedColumn = {
  readonly column: string;
  /** For display: `int32`, `fixed_size_list<float>[768]`. */
  readonly type: string;
  readonly function: ComputedFunction;
  /** `engine`: a computed column of the engine. Only the engine can fill it (`refreshColumn`), a job can't. */
  readonly keptBy: 'table' | 'engine';
  /** The author, as the author has written it. Not verified. */
  readonly author: string;
  /** ISO 8601, UTC. */
  readonly registeredAt: string;
  readonly rows: number;
  /** Rows whose value is not null. */
  readonly filled: number;
  /** Hash of the function that computed the values, if one run computed all of them. */
  readonly valuesHash: string | undefined;
  /** Recorded after the last run over all rows with the function in `valuesHash`. For display only. */
  readonly complete?: Completeness | undefined;
  /** Whether there are values that are older than the function. */
  readonly isStale: boolean;
};
