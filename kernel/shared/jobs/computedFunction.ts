// A function that computes a column, as data: stored on the table, in jobs and in records, and sent over pipes.

/** How rows for which a function throws are handled. */
export type OnError =
  /** The first error ends the job; computed rows are kept. */
  | { readonly mode: 'fail' }
  /** The value is null, and counts as computed. */
  | { readonly mode: 'null' }
  /** The value stays null, and the next run tries the row again. */
  | { readonly mode: 'skip' }
  /** Retried up to this number of attempts, with a growing pause, before the job ends. */
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
  /** Known to the catalog's server only, which runs it: runner `rest`. */
  | { readonly kind: 'server' };

/** A function that computes a column, with everything that a runner needs. */
export type ComputedFunction = {
  readonly name: string;
  /** The user's label, such as `2`; has no effect. */
  readonly version: string;
  /** SHA-256 in hex of the code, its inputs and its output: the key of checkpoints and consent. */
  readonly hash: string;
  /** Columns that it reads, in the order of its arguments. */
  readonly inputs: readonly string[];
  /** A base64 Arrow IPC stream without batches, whose only field is the column with the function's output type. */
  readonly output: string;
  readonly onError: OnError;
} & FunctionBody;

/** A computed column, as read from the metadata of its field. */
export type ComputedColumn = {
  readonly column: string;
  /** For display: `int32`, `fixed_size_list<float>[768]`. */
  readonly type: string;
  readonly function: ComputedFunction;
  /** `engine`: a computed column of the engine, which only the engine can fill (`refreshColumn`), not a job. */
  readonly keptBy: 'table' | 'engine';
  /** The author's own claim, not verified. */
  readonly author: string;
  /** ISO 8601, UTC. */
  readonly registeredAt: string;
  readonly rows: number;
  /** Rows whose value is not null. */
  readonly filled: number;
  /** Hash of the function that computed the values, if one run computed all of them. */
  readonly valuesHash: string | undefined;
  /** Whether there are values, older than the function. */
  readonly isStale: boolean;
};
