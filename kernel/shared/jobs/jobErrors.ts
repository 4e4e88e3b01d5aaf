import { ProductError } from '#shared/errors.ts';

/** Every kind of backfill failure, and whether a retry may succeed without any action of the user. */
const kinds = {
  RequestInvalid: { transient: false },
  ColumnMissing: { transient: false },
  /** The column has no function, and the request names none. */
  FunctionMissing: { transient: false },
  FunctionInvalid: { transient: false },
  /** The function closes over a variable, or needs something that can't be sent. */
  FunctionNotPortable: { transient: false },
  /** The function was found on a table, and the user has not accepted it on this machine. */
  FunctionNotAccepted: { transient: false },
  /** The function threw, or returned a value that does not match the column. */
  FunctionFailed: { transient: false },
  /** The process of the function crashed repeatedly. */
  FunctionCrashed: { transient: true },
  RunnerUnavailable: { transient: false },
  PythonMissing: { transient: false },
  NodeMissing: { transient: false },
  KeyMissing: { transient: false },
  KeyNotUnique: { transient: false },
  /** Another job computes the same column. */
  Busy: { transient: true },
  /** The table changed, so the computed values no longer match it. */
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

const brand = Symbol.for('lance-catalog.JobError');

/** A failure of a backfill. */
export class JobError extends ProductError<JobErrorKind> {
  static {
    // The brand is on the prototype, because a notebook prints an error's own properties.
    Object.defineProperty(this.prototype, brand, { value: true });
  }

  constructor(kind: JobErrorKind, what: string, hint: string, options: { readonly cause?: unknown } = {}) {
    super('JobError', kind, what, hint, options);
  }

  /** Whether the same job may succeed if it runs again. */
  get isTransient(): boolean {
    return kinds[this.kind].transient;
  }
}

export const isJobError = (error: unknown): error is JobError =>
  typeof error === 'object' && error !== null && brand in error;
