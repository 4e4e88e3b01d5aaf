// A function that computes a column, as data: it is kept on the table, in jobs and in records, and crosses pipes.

/** What is done with rows that a function throws for. */
export type OnError =
  /** The first one ends the job; what was finished stays. */
  | { readonly mode: 'fail' }
  /** The value is null, and counts as computed. */
  | { readonly mode: 'null' }
  /** The value stays null, and the next run tries the row again. */
  | { readonly mode: 'skip' }
  /** Tried again so often, with a growing pause, before it ends the job. */
  | { readonly mode: 'retry'; readonly attempts: number };

/** The forms in which a person gives a function, in words. A terminal has its own for them. */
export const functionForms = 'a SQL expression, a TypeScript file or a Python file';

export type FunctionBody =
  /** An expression of the engine's SQL. */
  | { readonly kind: 'sql'; readonly expression: string }
  /** One ES module without imports but of Node; its default export takes a row, or a record batch. */
  | { readonly kind: 'typescript'; readonly takes: 'row' | 'batch'; readonly code: string; readonly source: string }
  /** The text of a Python file, and the name of the function in it. */
  | { readonly kind: 'python'; readonly takes: 'row' | 'batch'; readonly code: string; readonly entry: string }
  /** The server of the catalog has it and alone can run it: runner `rest`. */
  | { readonly kind: 'server' };

/** A function that computes a column, with all that a runner needs of it. */
export type ComputedFunction = {
  readonly name: string;
  /** The person's own word for it, such as `2`; says nothing to us. */
  readonly version: string;
  /** SHA-256 of the code and of what it takes and gives, in hexadecimal: checkpoints and consent belong to it. */
  readonly hash: string;
  /** Columns that it reads, in the order of its arguments. */
  readonly inputs: readonly string[];
  /** An Arrow IPC stream without a batch, in base64, whose one field is the column: its type is what the function gives. */
  readonly output: string;
  readonly onError: OnError;
} & FunctionBody;

/** What a table's field says of the function that computes it, read from its metadata. */
export type ComputedColumn = {
  readonly column: string;
  /** As people read it: `int32`, `fixed_size_list<float>[768]`. */
  readonly type: string;
  readonly function: ComputedFunction;
  /** `engine`: a computed column of the engine's own, which it fills itself (`refreshColumn`), and no job can. */
  readonly keptBy: 'table' | 'engine';
  /** Who registered it, in their own words: nobody vouches for it. */
  readonly author: string;
  /** ISO 8601, UTC. */
  readonly registeredAt: string;
  readonly rows: number;
  /** Rows whose value is not null. */
  readonly filled: number;
  /** Hash of the function that made the values, where one run has made all of them. */
  readonly valuesHash: string | undefined;
  /** Whether there are values, and the function is newer than they are. */
  readonly isStale: boolean;
};
