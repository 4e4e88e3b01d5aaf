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

/** The kind that belongs to a code read from a wire; any other is `Internal`. */
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

/** The HTTP status that goes with an error; what is not found is 404. */
export const statusOf = (kind: CatalogErrorKind): number => statuses[kind] ?? 404;

/** The kind of an error of which only the status is known. */
export function kindOfStatus(status: number): CatalogErrorKind {
  if (status === 404) return 'InvalidInput';
  if (status === 409) return 'ConcurrentModification';
  const kind = Object.values(catalogErrorCodes)
    .map((code) => kindOfCode(code))
    .find((one) => statuses[one] === status);
  return kind ?? (status >= 500 ? 'ServiceUnavailable' : 'InvalidInput');
}

/** What an error is about. */
export type ErrorContext = {
  /** The specification's name of what was asked, for instance `DropTable`. */
  operation?: string | undefined;
  /** What it was asked of, as people write it: `shop/eu/orders`. */
  identifier?: string | undefined;
};

// Kernel, engine, extension and webview are separate bundles, each with its own copy of this class: `instanceof` would
// tell them apart, the brand does not.
const brand = Symbol.for('lance-catalog.CatalogError');

/**
 * Every failure of a catalog. `message` is one sentence that names the thing and what went wrong; `hint` says what to do
 * next and is part of `message` too, so that a place that shows only the message still shows it.
 */
export class CatalogError extends Error {
  readonly kind: CatalogErrorKind;
  readonly code: CatalogErrorCode;
  readonly hint: string;
  /** The HTTP status: what a server answered with, else the one that goes with the kind. */
  readonly status: number;
  /** The specification's name of what was asked; not there for what failed before anything was. */
  operation?: string;
  /** What it was asked of, as people write it. */
  identifier?: string;

  static {
    // Of the class and not of each error: a notebook prints what an error has of its own.
    Object.defineProperty(this.prototype, brand, { value: true });
  }

  constructor(
    kind: CatalogErrorKind,
    what: string,
    hint: string,
    options: ErrorContext & { cause?: unknown; status?: number } = {},
  ) {
    super(hint ? `${what} ${hint}` : what, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'CatalogError';
    this.kind = kind;
    this.code = catalogErrorCodes[kind];
    this.hint = hint;
    this.status = options.status ?? statusOf(kind);
    this.about(options);
  }

  /** Says what it is about, where nobody has yet: the call nearest to the failure knows best. */
  about({ operation, identifier }: ErrorContext): this {
    if (operation !== undefined) this.operation ??= operation;
    if (identifier !== undefined) this.identifier ??= identifier;
    return this;
  }

  /** What crosses a wire: the specification's error body. The cause stays on this side, it may hold local paths. */
  toJSON(): { error: string; code: CatalogErrorCode; detail: string; instance?: string } {
    const what =
      this.hint && this.message.endsWith(this.hint) ? this.message.slice(0, -this.hint.length - 1) : this.message;
    const body = { error: what, code: this.code, detail: this.hint };
    return this.identifier === undefined ? body : { ...body, instance: this.identifier };
  }
}

/** Runs a call; a `CatalogError` that comes of it says what it is about. */
export async function during<T>(context: ErrorContext, call: () => Promise<T>): Promise<T> {
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

/** The text to show for whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** True for the two shapes in which a cancelled call arrives. A cancellation is not an error: nobody is told. */
export const isAbort = (error: unknown): error is Error =>
  error instanceof Error && (error.name === 'AbortError' || ('code' in error && error.code === 'ABORT_ERR'));
