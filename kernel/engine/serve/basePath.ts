import { decodePart } from '#engine/server/requestBody.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { decodeId, namespacePathProblem, type NamespacePath } from '#shared/names.ts';

/** A URL whose base path can name a namespace: `/at/shop%24eu/v1/table/orders/query`. */
export type BasePath = {
  /** The namespace that is the root for the request; `[]` without a base path. */
  readonly namespacePath: NamespacePath;
  /** The URL after the base path, as received, but with one slash at its start. */
  readonly url: string;
  /** Why the base path names no namespace. Then the request must be refused. */
  readonly problem?: CatalogError;
};

/**
 * Splits a base path off a URL. Never throws: a client without a key must not learn whether the URL is right.
 *
 * The namespace is one segment: its components joined by `$` and percent-encoded, as in other URLs. It is decoded once
 * and split by `$` alone; the parameter `delimiter` has no effect on it. Each component must be an ordinary name, so no
 * slash, `..` or empty component gets through.
 */
export function parseBasePath(received: string): BasePath {
  // Most URLs have no base path. They are recognized without the regular expressions, because each request is parsed
  // twice.
  if (received.startsWith('/v1/')) return { namespacePath: [], url: received };
  const whole = withOneSlash(received);
  const [, segment, rest = ''] = /^\/at\/([^/?]*)(.*)$/s.exec(whole) ?? [];
  if (segment === undefined) return { namespacePath: [], url: whole };
  const url = withOneSlash(rest.startsWith('/') ? rest : `/${rest}`);
  try {
    // An empty segment is not the root: the root is `$`.
    const namespacePath = segment === '' ? [''] : decodeSegment(segment);
    checkRootNamespace(namespacePath);
    const below = namesBefore(url);
    if (below.length > 0) throw slashInBasePath([segment, ...below]);
    return { url, namespacePath };
  } catch (problem) {
    if (!isCatalogError(problem)) throw problem;
    return { url, namespacePath: [], problem };
  }
}

/**
 * Checks the namespace that is the root for a request.
 * @throws CatalogError InvalidInput (13) for an invalid name or too many names
 */
export function checkRootNamespace(path: NamespacePath): void {
  const problem = namespacePathProblem(path);
  if (problem) throw wrongBasePath(problem);
}

function decodeSegment(segment: string): string[] {
  try {
    return decodeId(decodePart(segment));
  } catch (cause) {
    throw isCatalogError(cause) ? wrongBasePath(cause) : cause;
  }
}

const wrongBasePath = (problem: { readonly what: string }): CatalogError =>
  new CatalogError(
    'InvalidInput',
    `The base path of the URL does not name a namespace: ${problem.what}`,
    'Write the names of the namespace with "%24" between them, for instance /at/shop%24eu.',
  );

/**
 * Returns a URL with one slash at its start. A client sends two if the address of its server ends with a slash. Slashes
 * elsewhere are kept, because an empty segment is never a valid name.
 */
const withOneSlash = (url: string): string => url.replace(/^\/{2,}/, '/');

/** Returns the segments before the first `/v1/` of a URL. Takes linear time, because URLs come from any client. */
function namesBefore(url: string): string[] {
  const [path = ''] = url.split('?', 1);
  return path
    .slice(0, Math.max(0, path.indexOf('/v1/')))
    .split('/')
    .filter((name) => name !== '');
}

/** The error for `/at/shop/eu/v1/…`: a slash ends the base path, so it can't separate names. */
const slashInBasePath = (names: readonly string[]): CatalogError =>
  new CatalogError(
    'InvalidInput',
    `The base path "/at/${names.join('/')}" of the URL has "/" between the names of the namespace.`,
    `Write "%24" between them: "/at/${names.join('%24')}".`,
  );
