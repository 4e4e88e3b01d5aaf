import { CatalogError } from '#shared/errors.ts';
import { decodeId, displayPath, idDelimiter } from '#shared/names.ts';
import { operations, type Operation } from '#catalog/contract.ts';
import { columnHandlers } from './columnRoutes.ts';
import { dataHandlers } from './dataRoutes.ts';
import { indexHandlers } from './indexRoutes.ts';
import { jobHandlers } from './jobRoutes.ts';
import { namespaceHandlers } from './namespaceRoutes.ts';
import { optimizeHandlers } from './optimizeRoutes.ts';
import { tableHandlers } from './tableRoutes.ts';
import { versionHandlers } from './versionRoutes.ts';
import { addParameters, type Dialect, remoteOperation } from './remoteDialect.ts';
import { decodePart } from './requestBody.ts';
import type { Handler, Handlers } from './routeTypes.ts';

export type RouteMatch = {
  operation: Operation | undefined;
  dialect: Dialect;
  /** The components of the identifier in the URL; empty for the root, and for routes without one. */
  id: string[];
  indexName: string;
  query: URLSearchParams;
  handler: Handler;
  /** Why the URL is not part of the contract. */
  problem?: CatalogError;
  /** The methods that the URL supports. Set only if it does not support the method of the request. */
  allow?: readonly string[];
};

const handlers: Handlers = {
  ...namespaceHandlers,
  ...tableHandlers,
  ...dataHandlers,
  ...versionHandlers,
  ...indexHandlers,
  ...columnHandlers,
  ...optimizeHandlers,
  ...jobHandlers,
};

/** `isRootOnly`: the URL is only for tables in the root namespace. */
type Route = { method: string; segments: readonly string[]; operation: Operation; isRootOnly: boolean };

// URLs of upstream's service that equal those of the specification for the root namespace.
const aliases: readonly [method: string, path: string, operation: Operation][] = [
  ['GET', '/v1/tables', 'ListTables'],
  ['POST', '/v1/tables/{id}', 'CreateTable'],
];

const segmentsOf = (path: string): string[] => path.split('/').slice(1);

// Routes without placeholders come first, because `/v1/table/version/batch-create` is not about a table "version".
const routes: readonly Route[] = [
  ...Object.entries(operations).map(([name, { method, path }]) => route(method, path, name, false)),
  ...aliases.map(([method, path, operation]) => route(method, path, operation, true)),
].toSorted((a, b) => placeholders(a) - placeholders(b));

function route(method: string, path: string, operation: string, isRootOnly: boolean): Route {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the table are its operations
  return { method, segments: segmentsOf(path), operation: operation as Operation, isRootOnly };
}

/** The routes by the number of their segments. */
const routesOfLength = new Map<number, Route[]>();
for (const one of routes) {
  const { length } = one.segments;
  routesOfLength.set(length, [...(routesOfLength.get(length) ?? []), one]);
}

function placeholders({ segments }: Route): number {
  return segments.filter(isPlaceholder).length;
}

function isPlaceholder(segment: string): boolean {
  return segment.startsWith('{');
}

/**
 * Finds the route of a request. Never throws: an unauthorized client must not learn whether the URL is right, so an
 * error is returned as `problem`.
 *
 * The path is split as received. It is not parsed as a URL, because a URL parser would resolve `.` and `..`, and these
 * are ordinary names here.
 */
export function matchRoute(method: string, url: string): RouteMatch {
  const [path, search] = split(url, '?');
  const query = new URLSearchParams(search);
  const segments = segmentsOf(path);
  // LanceDB's remote client ends its URLs with a slash, so an empty last segment identifies its dialect.
  const isRemote = segments.length > 1 && segments.at(-1) === '';
  if (isRemote) segments.pop();
  const dialect: Dialect = isRemote ? 'lancedb' : 'specification';
  const none = { operation: undefined, dialect, id: [], indexName: '', query, handler: unreachable };
  const candidates = routesOfLength.get(segments.length) ?? [];
  const found = candidates.find((one) => one.method === method && fits(one.segments, segments));
  if (!found) {
    const allow = candidates.filter((one) => fits(one.segments, segments)).map((one) => one.method);
    return allow.length > 0
      ? { ...none, allow, problem: wrongMethod(method, path, allow) }
      : { ...none, problem: noAddress(method, path, segments[0] === 'v1') };
  }
  const named = (placeholder: string) => segments[found.segments.indexOf(placeholder)];
  const operation = isRemote ? remoteOperation(found.operation) : found.operation;
  if (isRemote) addParameters(query, operation);
  try {
    const delimiter = query.get('delimiter') ?? idDelimiter;
    if (delimiter === '') throw new CatalogError('InvalidInput', 'The delimiter is empty.', 'Leave it out for "$".');
    const id = named('{id}') ?? '';
    const indexName = decodePart(named('{index_name}') ?? '');
    const parts = decodeId(decodePart(id), delimiter);
    if (found.isRootOnly && parts.length > 1) throw notInRoot(parts, id, query.get('delimiter'));
    return {
      ...none,
      operation,
      id: parts,
      indexName,
      handler: handlers[operation] ?? notThere(operation),
    };
  } catch (problem) {
    if (problem instanceof CatalogError) return { ...none, operation, problem };
    throw problem;
  }
}

function split(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

/** Whether the segments of a URL are those of a route with as many segments. */
const fits = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.every((part, index) => (isPlaceholder(part) ? segments[index] !== '' : part === segments[index]));

const unreachable: Handler = () => Promise.reject(new Error('There is no handler.'));

/** Returns a handler that refuses an operation of the specification that this server does not support. */
function notThere(operation: Operation): Handler {
  const error = () =>
    new CatalogError('Unsupported', `This server does not support ${operation}.`, 'Use a server that supports it.');
  return () => Promise.reject(error());
}

// `GET /v1/tables` lists the root, and clients of these URLs expect that list to have every table that they create by
// these URLs. So a name that leads out of the root is refused.
function notInRoot(parts: readonly string[], id: string, delimiter: string | null): CatalogError {
  const query = delimiter === null ? '' : `?delimiter=${encodeURIComponent(delimiter)}`;
  return new CatalogError(
    'InvalidInput',
    `Can't create table "${displayPath(parts)}" with POST /v1/tables: that path creates tables only in the root namespace.`,
    `Send it to POST /v1/table/${id}/create${query}.`,
  );
}

const wrongMethod = (method: string, path: string, allow: readonly string[]): CatalogError =>
  new CatalogError('Unsupported', `${path} does not support ${method}.`, `Send ${allow.join(' or ')}.`, {
    status: 405,
  });

// Returns the error for an unknown URL. Below /v1 the URL may be an operation of a later specification that this server
// does not support yet.
const noAddress = (method: string, path: string, isContract: boolean): CatalogError =>
  new CatalogError(
    'Unsupported',
    `This server has no ${method} ${path}.`,
    'See the paths of the Lance Namespace REST specification, which start with /v1/.',
    { status: isContract ? 406 : 404 },
  );
