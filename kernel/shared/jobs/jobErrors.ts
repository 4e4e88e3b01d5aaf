import { withHint } from '#shared/withHint.ts';

/** Every way in which a backfill fails, and whether running it again may help without anybody doing something. */
const kinds = {
  RequestInvalid: { transient: false },
  ColumnMissing: { transient: false },
  /** The column has no function, and none was given. */
  FunctionMissing: { transient: false },
  FunctionInvalid: { transient: false },
  /** It closes over a variable, or needs what cannot travel. */
  FunctionNotPortable: { transient: false },
  /** Found on a table, and not accepted on this machine. */
  FunctionNotAccepted: { transient: false },
  /** It threw, or gave a value that does not fit the column. */
  FunctionFailed: { transient: false },
  /** What ran it died again and again. */
  FunctionCrashed: { transient: true },
  RunnerUnavailable: { transient: false },
  PythonMissing: { transient: false },
  NodeMissing: { transient: false },
  KeyMissing: { transient: false },
  KeyNotUnique: { transient: false },
  /** Another job is at the same column. */
  Busy: { transient: true },
  /** The table changed in a way that what was computed no longer fits. */
  TableChanged: { transient: true },
  StorageFull: { transient: false },
  StorageFailed: { transient: true },
  RayUnreachable: { transient: true },
  RayRefused: { transient: false },
  RayTooOld: { transient: false },
  RayJobFailed: { transient: false },
  ClusterNotReady: { transient: true },
  ServerRefused: { transient: false },
  JobMissing: { transient: false },
  JobRunning: { transient: false },
  Aborted: { transient: false },
  Internal: { transient: false },
} as const satisfies Record<string, { readonly transient: boolean }>;

export type JobErrorKind = keyof typeof kinds;

export const jobErrorKinds: readonly string[] = Object.keys(kinds);

export const isJobErrorKind = (value: unknown): value is JobErrorKind =>
  typeof value === 'string' && Object.hasOwn(kinds, value);

// Editor, kernel and command line are bundles of their own: `instanceof` would tell their copies of the class apart.
const brand = Symbol.for('lance-catalog.JobError');

/**
 * Every failure of a backfill. `message` is one sentence that names the thing and what is wrong; `hint` says what to do next
 * and is part of `message` too, so that a place that shows only the message still shows it.
 */
export class JobError extends Error {
  readonly kind: JobErrorKind;
  /** What is wrong, without what to do. */
  readonly what: string;
  readonly hint: string;

  static {
    // Of the class and not of each error: a notebook prints what an error has of its own.
    Object.defineProperty(this.prototype, brand, { value: true });
  }

  constructor(kind: JobErrorKind, what: string, hint: string, options: { readonly cause?: unknown } = {}) {
    super(withHint(what, hint), 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'JobError';
    this.kind = kind;
    this.what = what;
    this.hint = hint;
  }

  /** Whether the same job may succeed when it is run again. */
  get isTransient(): boolean {
    return kinds[this.kind].transient;
  }
}

export const isJobError = (error: unknown): error is JobError =>
  typeof error === 'object' && error !== null && brand in error;
