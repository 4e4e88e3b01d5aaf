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

/** What happens to a row if the function throws, or returns a value that the column can't hold. */
export type OnErrorOption =
  /** The backfill fails; computed rows are kept. */
  | 'fail'
  /** The row becomes null and counts as computed. */
  | 'null'
  /** The row stays null, and the next backfill computes it again. */
  | 'skip'
  /** The row is retried up to this many times, with growing pauses, before the backfill fails. */
  | { readonly retry: number };

export type UdfOptions<Inputs extends readonly string[], Output extends DataType | string> = {
  /** Function name: letters, digits, `_`, `.` and `-`. */
  readonly name: string;
  /** Names of the input columns. */
  readonly input: Inputs;
  /** Type of the result: `new arrow.Int32()`, or a type name such as `'int32'`, `'string'` or `'float[768]'`. */
  readonly output: Output;
  /** Your own version label. Changes are detected by the code, not by this label. */
  readonly version?: string | undefined;
  /** What to do if the function fails for a row. Default: `'fail'`. */
  readonly onError?: OnErrorOption | undefined;
};

/**
 * A row: the inputs of the function by name, null for missing values. The column types are unknown here, so declare
 * them where useful: `(row: { text: string }) => …`.
 */
export type UdfRow<Inputs extends readonly string[]> = {
  // oxlint-disable-next-line typescript/no-explicit-any -- the table defines the type and is not known yet
  readonly [Name in Inputs[number]]: any;
};

/** The value that a function may return for a row, by the type of the column. */
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

/** Creates functions that compute columns. */
export type Udf = {
  <const Inputs extends readonly string[], Output extends DataType | string>(
    options: UdfOptions<Inputs, Output> & { readonly takes?: 'row' | undefined },
    compute: (row: UdfRow<Inputs>) => Promised<UdfValue<Output>>,
  ): ComputedFunction;
  /**
   * With `takes: 'batch'` the function receives a record batch of its inputs and returns one value per row, as a
   * vector or an array.
   */
  <const Inputs extends readonly string[], Output extends DataType | string>(
    options: UdfOptions<Inputs, Output> & { readonly takes: 'batch' },
    compute: (batch: RecordBatch) => Promised<Iterable<unknown>>,
  ): ComputedFunction;
};
