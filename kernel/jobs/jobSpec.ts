/** What is done with rows that a function throws for. */
export type OnError =
  /** The first one ends the job; what was finished stays. */
  | { readonly mode: 'fail' }
  /** The value is null, and counts as computed. */
  | { readonly mode: 'null' }
  /** The value stays null, and the next run tries the row again. */
  | { readonly mode: 'skip' }
  /** Tried again so often before it ends the job. */
  | { readonly mode: 'retry'; readonly attempts: number };

/** A function that computes a column, with all that a runner needs of it. */
export type ComputedFunction = {
  readonly name: string;
  /** The person's own word for it, such as `2`; says nothing to us. */
  readonly version: string;
  /** SHA-256 of the code and of what it takes and gives, in hexadecimal: checkpoints belong to it. */
  readonly hash: string;
  /** Columns that it reads, in the order of its arguments. */
  readonly inputs: readonly string[];
  /** An Arrow IPC stream without a batch, in base64, whose one field is the column: its type is what the function gives. */
  readonly output: string;
  readonly onError: OnError;
} & FunctionBody;

export type FunctionBody =
  /** An expression of the engine's SQL. */
  | { readonly kind: 'sql'; readonly expression: string }
  /** One ES module without imports but of Node; its default export takes a row, or a record batch. */
  | { readonly kind: 'typescript'; readonly takes: 'row' | 'batch'; readonly code: string }
  /** The text of a Python file, and the name of the function in it. */
  | { readonly kind: 'python'; readonly takes: 'row' | 'batch'; readonly code: string; readonly entry: string };

/**
 * One backfill as all runners understand it. On the wire and in files it is JSON with the specification's names in
 * snake_case (`BackfillColumnRequest`).
 */
export type JobSpec = {
  /** Version of this shape. */
  readonly version: 1;
  readonly jobId: string;
  readonly table: {
    /** Directory or object store address of the Lance dataset. */
    readonly uri: string;
    /** Settings of the object store. They may hold secrets: by a pipe or the environment alone, never in a record. */
    readonly storageOptions: Readonly<Record<string, string>>;
  };
  readonly column: string;
  readonly function: ComputedFunction;
  /** SQL that says which rows; those where the column is null when nothing is said. */
  readonly where: string | undefined;
  /** How many compute at once. */
  readonly concurrency: number;
  /** Rows of a task at most; a fragment is one task where nothing is said. */
  readonly taskSize: number | undefined;
  /** Rows after which what was computed is kept. */
  readonly checkpointSize: number;
  /** Fragments after which what was computed is committed. */
  readonly commitGranularity: number;
  /** Only so many fragments. */
  readonly numFrags: number | undefined;
  /** The version of the table that inputs are read at; the latest where nothing is said. */
  readonly readVersion: number | undefined;
};
