import { decodePart } from '#engine/server/requestBody.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { checkName, decodeId, type NamespacePath } from '#shared/names.ts';

/** A URL whose base path can name a namespace: `/at/shop%24eu/v1/table/orders/query`. */
export type BasePath = {
  /** The namespace that is the root for the request; `[]` without a base path. */
  readonly namespacePath: NamespacePath;
  /** The URL after the base path, as received. */
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
export function parseBasePath(url: string): BasePath {
  const [, segment, rest = ''] = /^\/at\/([^/?]*)(.*)$/s.exec(url) ?? [];
  if (segment === undefined) return { namespacePath: [], url };
  const tail = { url: rest.startsWith('/') ? rest : `/${rest}` };
  try {
    // An empty segment is not the root: the root is `$`.
    if (segment === '') checkName('namespace', segment);
    const namespacePath = decodeId(decodePart(segment));
    for (const name of namespacePath) checkName('namespace', name);
    return { ...tail, namespacePath };
  } catch (cause) {
    if (!isCatalogError(cause)) throw cause;
    return { ...tail, namespacePath: [], problem: wrongBasePath(cause) };
  }
}

const wrongBasePath = (cause: CatalogError): CatalogError =>
  new CatalogError(
    'InvalidInput',
    `The base path of the URL does not name a namespace: ${cause.what}`,
    'Write the names of the namespace with "%24" between them, for instance /at/shop%24eu.',
    { cause },
  );
