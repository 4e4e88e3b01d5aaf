// What a running job tells, in the order in which it happens. The Python driver prints an event as a line, `@@` and JSON in
// snake_case; records keep them as JSON lines in the same form.

/** A row that the function threw for. */
export type RowError = {
  readonly fragment: number;
  /** Place of the row in its fragment, deleted rows counted. */
  readonly row: number;
  readonly message: string;
  /** Its inputs as text, cut short. */
  readonly inputs: Readonly<Record<string, string>>;
};

export type JobEvent = {
  /** Milliseconds since 1970. */
  readonly at: number;
} & (
  | {
      /**
       * What there is to do, as the runner found it: fragments that are not in the table yet, finished ones among them, and
       * their rows, reused ones among them. Told again, with all of that in it, where rows came meanwhile.
       */
      readonly kind: 'planned';
      readonly readVersion: number;
      readonly fragments: number;
      readonly rows: number;
      /** Of an earlier run: fragments in the table already, those finished but not yet committed, rows of half-done ones. */
      readonly committedFragments: number;
      readonly checkpointedFragments: number;
      readonly reusedRows: number;
    }
  /** Workers that are up, of those wanted; `waitingFor` says what keeps the others. */
  | { readonly kind: 'workers'; readonly ready: number; readonly wanted: number; readonly waitingFor?: string }
  /** Totals since this run began; at least every half second while there is any. */
  | {
      readonly kind: 'progress';
      readonly rows: number;
      readonly errors: number;
      /** Seconds of all workers in the function, in reading, and in writing. */
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
  /** Rows that the function threw for; a few of them as samples. */
  | { readonly kind: 'errors'; readonly count: number; readonly samples: readonly RowError[] }
  | {
      readonly kind: 'committed';
      readonly fragments: readonly number[];
      readonly version: number;
      readonly milliseconds: number;
    }
  /** Somebody else changed the table; the fragments named have to be computed again, the others were committed anew. */
  | {
      readonly kind: 'conflict';
      readonly attempt: number;
      readonly dropped: readonly number[];
      readonly reason: string;
    }
  /** A worker or its child was started again. */
  | { readonly kind: 'restarted'; readonly what: 'function' | 'worker' | 'connection'; readonly reason: string }
  /** Something that a person should know and that ends nothing. */
  | { readonly kind: 'notice'; readonly text: string }
  | {
      readonly kind: 'succeeded';
      readonly rows: number;
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
