/** The error codes of the Lance Namespace specification ("Error Response", codes 0-21). */
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
} as const;

export type CatalogErrorKind = keyof typeof catalogErrorCodes;
export type CatalogErrorCode = (typeof catalogErrorCodes)[CatalogErrorKind];

const kinds = Object.fromEntries(Object.entries(catalogErrorCodes).map(([kind, code]) => [code, kind])) as Record<
  number,
  CatalogErrorKind
>;

/** The kind that belongs to a code read from a wire; anything outside 0-21 is `Internal`. */
export const kindOfCode = (code: unknown): CatalogErrorKind =>
  typeof code === 'number' ? (kinds[code] ?? 'Internal') : 'Internal';

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
  readonly [brand] = true;

  constructor(kind: CatalogErrorKind, what: string, hint: string, options?: { cause?: unknown }) {
    super(hint ? `${what} ${hint}` : what, options);
    this.name = 'CatalogError';
    this.kind = kind;
    this.code = catalogErrorCodes[kind];
    this.hint = hint;
  }

  /** What crosses a wire: the specification's error body. The cause stays on this side, it may hold local paths. */
  toJSON(): { error: string; code: CatalogErrorCode; detail: string } {
    const what =
      this.hint && this.message.endsWith(this.hint) ? this.message.slice(0, -this.hint.length - 1) : this.message;
    return { error: what, code: this.code, detail: this.hint };
  }
}

export function isCatalogError(error: unknown, kind?: CatalogErrorKind): error is CatalogError {
  return (
    typeof error === 'object' && error !== null && brand in error && (!kind || (error as CatalogError).kind === kind)
  );
}

/** The text to show for whatever was thrown. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** True for the two shapes in which a cancelled call arrives. A cancellation is not an error: nobody is told. */
export const isAbort = (error: unknown): error is Error =>
  error instanceof Error && (error.name === 'AbortError' || ('code' in error && error.code === 'ABORT_ERR'));
