import type {
  Binary,
  Bool,
  DataType,
  Date_,
  FixedSizeBinary,
  FixedSizeList,
  Float,
  Int,
  Int64,
  LargeBinary,
  LargeUtf8,
  List,
  RecordBatch,
  Timestamp,
  Uint64,
  Utf8,
} from '#arrow';
import type { ComputedFunction } from '#shared/jobs/computedFunction.ts';

/** What becomes of a row that the function throws for, or gives something for that the column can't hold. */
export type OnErrorOption =
  /** It ends the backfill; what was computed stays. */
  | 'fail'
  /** The row is null, and counts as computed. */
  | 'null'
  /** The row stays null, and the next backfill tries it again. */
  | 'skip'
  /** It is tried so many more times, with a growing pause, before it ends the backfill. */
  | { readonly retry: number };

export type UdfOptions<Inputs extends readonly string[], Output extends DataType | string> = {
  /** What people call it: letters, digits, `_`, `.` and `-`. */
  readonly name: string;
  /** The columns that it reads. */
  readonly input: Inputs;
  /** The type of what it gives: `new arrow.Int32()`, or a word such as `'int32'`, `'string'` or `'float[768]'`. */
  readonly output: Output;
  /** Your own word for what has changed; the product goes by the code itself. */
  readonly version?: string | undefined;
  /** `'fail'` when not given. */
  readonly onError?: OnErrorOption | undefined;
};

/**
 * A row: the function's inputs by their names, null where there is no value. What they are is known where the rows are, so
 * say it where it helps: `(row: { text: string }) => …`.
 */
export type UdfRow<Inputs extends readonly string[]> = {
  // oxlint-disable-next-line typescript/no-explicit-any -- the table says it, and there is none yet
  readonly [Name in Inputs[number]]: any;
};

/** What a function gives for a row of a column of this type. */
export type UdfValue<Output extends DataType | string> =
  | null
  | undefined
  | (Output extends string
      ? unknown
      : Output extends Utf8 | LargeUtf8
        ? string
        : Output extends Bool
          ? boolean
          : Output extends Int64 | Uint64
            ? number | bigint
            : Output extends Int | Float
              ? number
              : Output extends Timestamp
                ? Date | bigint
                : Output extends Date_
                  ? Date
                  : Output extends Binary | LargeBinary | FixedSizeBinary
                    ? Uint8Array
                    : Output extends List | FixedSizeList
                      ? ArrayLike<unknown>
                      : unknown);

type Promised<T> = T | PromiseLike<T>;

/** Makes functions that compute columns. */
export type Udf = {
  <const Inputs extends readonly string[], Output extends DataType | string>(
    options: UdfOptions<Inputs, Output> & { readonly takes?: 'row' | undefined },
    compute: (row: UdfRow<Inputs>) => Promised<UdfValue<Output>>,
  ): ComputedFunction;
  /** With `takes: 'batch'` it gets a record batch of its inputs and gives one value a row, as a vector or an array. */
  <const Inputs extends readonly string[], Output extends DataType | string>(
    options: UdfOptions<Inputs, Output> & { readonly takes: 'batch' },
    compute: (batch: RecordBatch) => Promised<Iterable<unknown>>,
  ): ComputedFunction;
};
