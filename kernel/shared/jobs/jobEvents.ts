// Events of a running job, in order. The Python driver prints an event as a line: `@@`, then JSON in snake_case. Job
// folders store events as lines of the same JSON.

/** A row for which the function threw. */
export type RowError = {
  readonly fragment: number;
  /** Offset of the row in its fragment, deleted rows included. */
  readonly row: number;
  readonly message: string;
  /** The inputs of the row as text, truncated. */
  readonly inputs: Readonly<Record<string, string>>;
};

export type JobEvent = {
  /** Milliseconds since 1970. */
  readonly at: number;
} & (
  | {
      /**
       * The work that the runner found: the fragments that are not in the table yet, and their rows. These include
       * fragments that an earlier run has finished, and rows whose results are reused. The event is sent again with new
       * totals if rows are added.
       */
      readonly kind: 'planned';
      readonly readVersion: number;
      readonly fragments: number;
      readonly rows: number;
      /**
       * What an earlier run has done: fragments already in the table, fragments finished but not committed, and rows of
       * partly finished fragments.
       */
      readonly committedFragments: number;
      readonly checkpointedFragments: number;
      readonly reusedRows: number;
      /** Whether computed rows are written to the table in a separate step, which events of kind `writing` start. */
      readonly writesBack?: boolean;
    }
  /** The number of ready workers, and how many are wanted. `waitingFor` says what the missing workers wait for. */
  | { readonly kind: 'workers'; readonly ready: number; readonly wanted: number; readonly waitingFor?: string }
  /** Totals since the start of this run; sent at least every half second while there is progress. */
  | {
      readonly kind: 'progress';
      readonly rows: number;
      readonly errors: number;
      /** Seconds that all workers together spent in the function, on reading, and on writing. */
      readonly computeSeconds: number;
      readonly readSeconds: number;
      readonly writeSeconds: number;
    }
  | {
      readonly kind: 'fragment';
      readonly fragment: number;
      readonly computedRows: number;
      readonly reusedRows: number;
      readonly bytesWritten: number;
      readonly seconds: number;
    }
  /** The runner starts to write this number of computed rows to the table. The step ends with `committed`. */
  | { readonly kind: 'writing'; readonly rows: number }
  /** Number of rows for which the function threw, with a few samples. */
  | { readonly kind: 'errors'; readonly count: number; readonly samples: readonly RowError[] }
  | {
      readonly kind: 'committed';
      readonly fragments: readonly number[];
      readonly version: number;
      readonly milliseconds: number;
      /** Rows that were written, if the runner writes rows in a separate step. */
      readonly rows?: number;
    }
  /**
   * Another client changed the table; the dropped fragments must be computed again, and the other fragments were
   * committed again.
   */
  | {
      readonly kind: 'conflict';
      readonly attempt: number;
      readonly dropped: readonly number[];
      readonly reason: string;
    }
  /** The process of the function, a worker, or the connection to a cluster or server was restarted. */
  | { readonly kind: 'restarted'; readonly what: 'function' | 'worker' | 'connection'; readonly reason: string }
  /** A message for the user. The job continues. */
  | { readonly kind: 'notice'; readonly text: string }
  | {
      readonly kind: 'succeeded';
      /** Computed and reused rows. */
      readonly rows: number;
      /** Rows that an earlier run had computed. Default: as planned. */
      readonly reusedRows?: number;
      readonly errors: number;
      /** Rows left null on purpose, for the next run. */
      readonly skipped: number;
      readonly bytesWritten: number;
      readonly version: number;
    }
  | { readonly kind: 'failed'; readonly code: string; readonly message: string; readonly hint: string }
  | { readonly kind: 'cancelled' }
);

export type JobEventKind = JobEvent['kind'];
