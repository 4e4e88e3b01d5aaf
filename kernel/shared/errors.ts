/** The error codes of the Lance Namespace specification ("Error Response", codes 0-23). */
export const catalogErrorCodes = {
  Unsupported: 0,
  NamespaceNotFound: 1,
  NamespaceAlreadyExists: 2,
  NamespaceNotEmpty: 3,
  TableNotFound: 4,
  TableAlreadyExists: 5,
  IndexNotFound: 6,
  IndexAlreadyExists: 7,
  TagNotFound: 8,
  TagAlreadyExists: 9,
  TransactionNotFound: 10,
  VersionNotFound: 11,
  ColumnNotFound: 12,
  InvalidInput: 13,
  ConcurrentModification: 14,
  PermissionDenied: 15,
  Unauthenticated: 16,
  ServiceUnavailable: 17,
  Internal: 18,
  InvalidTableState: 19,
  SchemaValidation: 20,
  Throttling: 21,
  BranchNotFound: 22,
  BranchAlreadyExists: 23,
} as const;

export type CatalogErrorKind = keyof typeof catalogErrorCodes;
export type CatalogErrorCode = (typeof catalogErrorCodes)[CatalogErrorKind];

export const isCatalogErrorKind = (value: string): value is CatalogErrorKind => Object.hasOwn(catalogErrorCodes, value);

const kinds = Object.fromEntries(Object.entries(catalogErrorCodes).map(([kind, code]) => [code, kind])) as Record<
  number,
  CatalogErrorKind
>;

/** Returns the kind of a code that a server or another process sent; `Internal` for an unknown code. */
export const kindOfCode = (code: unknown): CatalogErrorKind =>
  typeof code === 'number' ? (kinds[code] ?? 'Internal') : 'Internal';

const statuses: Partial<Record<CatalogErrorKind, number>> = {
  Unsupported: 406,
  InvalidInput: 400,
  SchemaValidation: 400,
  Unauthenticated: 401,
  PermissionDenied: 403,
  NamespaceAlreadyExists: 409,
  NamespaceNotEmpty: 409,
  TableAlreadyExists: 409,
  IndexAlreadyExists: 409,
  TagAlreadyExists: 409,
  BranchAlreadyExists: 409,
  ConcurrentModification: 409,
  InvalidTableState: 409,
  Throttling: 429,
  ServiceUnavailable: 503,
  Internal: 500,
};

/** Returns the HTTP status of a kind; the "not found" kinds are 404. */
export const statusOf = (kind: CatalogErrorKind): number => statuses[kind] ?? 404;

/** Returns the kind for an error with only an HTTP status. */
export function kindOfStatus(status: number): CatalogErrorKind {
  if (status === 404) return 'InvalidInput';
  if (status === 409) return 'ConcurrentModification';
  const kind = Object.values(catalogErrorCodes)
    .map((code) => kindOfCode(code))
    .find((one) => statuses[one] === status);
  return kind ?? (status >= 500 ? 'ServiceUnavailable' : 'InvalidInput');
}

/** The operation and the object of an error. */
export type ErrorContext = {
  /** The specification's name of the operation, for example `DropTable`. */
  operation?: string | undefined;
  /** Path of the object: `shop/eu/orders`. */
  identifier?: string | undefined;
};

/** The end of a sentence, also inside quotes or brackets, or of a list of lines. */
const ended = /[.!?…:]["'”’»)\]]*\s*$|\n$/;

/**
 * Joins a problem and its next step as two sentences. The problem often ends with a message of other software, which
 * seldom has a final period.
 */
export function withHint(what: string, hint: string): string {
  if (hint === '') return what;
  return `${what}${ended.test(what) ? '' : '.'} ${hint}`;
}

/**
 * A failure that users see. `message` names the thing and what went wrong, and ends with `hint`, the next step, so that
 * the user sees the next step even if only the message is shown. Editor, kernel and command line are separate bundles
 * with their own copies of each class, so a class is recognized by its brand on the prototype, not by `instanceof`.
 */
export abstract class ProductError<Kind extends string> extends Error {
  readonly kind: Kind;
  readonly hint: string;
  readonly #what: string;

  constructor(name: string, kind: Kind, what: string, hint: string, options: { readonly cause?: unknown }) {
    super(withHint(what, hint), 'cause' in options ? { cause: options.cause } : undefined);
    this.name = name;
    this.kind = kind;
    this.hint = hint;
    this.#what = what;
  }

  /** What went wrong, without the next step. */
  get what(): string {
    return this.#what;
  }
}

const brand = Symbol.for('lance-catalog.CatalogError');

/** A failure of a catalog. */
export class CatalogError extends ProductError<CatalogErrorKind> {
  readonly code: CatalogErrorCode;
  /** HTTP status of the response, else the status of the kind. */
  readonly status: number;
  /** The specification's name of the operation; absent if the error came before any operation. */
  operation?: string;
  /** Path of the object. */
  identifier?: string;

  static {
    // The brand is on the prototype, because a notebook prints an error's own properties.
    Object.defineProperty(this.prototype, brand, { value: true });
  }

  constructor(
    kind: CatalogErrorKind,
    what: string,
    hint: string,
    options: ErrorContext & { cause?: unknown; status?: number } = {},
  ) {
    super('CatalogError', kind, what, hint, options);
    this.code = catalogErrorCodes[kind];
    this.status = options.status ?? statusOf(kind);
    this.about(options);
  }

  /** Adds missing context. Existing context is kept, because it was set by the call that is nearest to the failure. */
  about({ operation, identifier }: ErrorContext): this {
    if (operation !== undefined) this.operation ??= operation;
    if (identifier !== undefined) this.identifier ??= identifier;
    return this;
  }

  /**
   * Returns the error body of the specification, to send to a client. The cause is omitted, because it may contain
   * local paths.
   */
  toJSON(): { error: string; code: CatalogErrorCode; detail: string; instance?: string } {
    const body = { error: this.what, code: this.code, detail: this.hint };
    return this.identifier === undefined ? body : { ...body, instance: this.identifier };
  }
}

/** Runs a call, and adds the context to its `CatalogError`, if any. */
export async function withErrorContext<T>(context: ErrorContext, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw isCatalogError(error) ? error.about(context) : error;
  }
}

export function isCatalogError(error: unknown, kind?: CatalogErrorKind): error is CatalogError {
  return (
    typeof error === 'object' && error !== null && brand in error && (!kind || ('kind' in error && error.kind === kind))
  );
}

/** Returns the message of any thrown value. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Whether an error is a cancellation, in either of its two shapes. A cancellation is not a failure, so it is not
 * reported.
 */
export const isAbort = (error: unknown): error is Error =>
  error instanceof Error && (error.name === 'AbortError' || ('code' in error && error.code === 'ABORT_ERR'));
