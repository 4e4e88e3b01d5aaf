import { catalogErrorCodes, kindOfCode, type CatalogErrorKind } from '#shared/errors.ts';

// What both ends of the REST contract need to agree on.

/** The host that a request to the engine process names: it is reached by a path, so the name is a password of sorts. */
export const engineHost = 'lance-engine';

/** The header with the root directory of the catalog, as `encodeURIComponent` of its path. */
export const rootHeader = 'x-lance-root';

/** `k` of a query that wants every row: the contract requires a number, and readers of it take 32 bits. */
export const noLimit = 2_147_483_647;

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
  ConcurrentModification: 409,
  InvalidTableState: 409,
  Throttling: 429,
  ServiceUnavailable: 503,
  Internal: 500,
};

/** The HTTP status that goes with an error; what is not found is 404. */
export const statusOf = (kind: CatalogErrorKind): number => statuses[kind] ?? 404;

/** The kind of an error whose body says nothing, by its status. */
export function kindOfStatus(status: number): CatalogErrorKind {
  if (status === 404) return 'InvalidInput';
  if (status === 409) return 'ConcurrentModification';
  const kinds = Object.values(catalogErrorCodes).map((code) => kindOfCode(code));
  return kinds.find((kind) => statuses[kind] === status) ?? (status >= 500 ? 'ServiceUnavailable' : 'InvalidInput');
}
