import { CatalogError } from '#shared/errors.ts';
import { displayPath, encodeId, idDelimiter } from '#shared/names.ts';
import { operations, type Operation } from '#catalog/contract.ts';
import type { WireRequest } from './request.ts';

/** Method and path of a request, without the base path of the server. */
export type Address = { method: 'GET' | 'POST'; path: string };

/**
 * Returns the path of a request in another dialect if it differs from the specification's path; `id` is the encoded
 * identifier.
 */
export type OtherPath = (request: WireRequest, id: string) => string | undefined;

/**
 * Parses the URL of a server.
 * @param option name of the option, for errors
 * @throws CatalogError InvalidInput (13) if `text` is not an http(s) URL, or has a password, a query or a fragment
 */
export function parseAddress(option: string, text: unknown): URL {
  const hint = 'Use for instance "https://catalog.example.com", and pass secrets as headers.';
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    const what = isShowable(text) ? `"${text}"` : `The value of "${option}"`;
    throw new CatalogError('InvalidInput', `${what} is not the URL of a catalog server.`, hint);
  }
  // The message omits the URL, which may contain a secret.
  if (url.username || url.password || url.search || url.hash) {
    const held = url.username || url.password ? 'a user name or a password' : 'more than a server and a path';
    throw new CatalogError('InvalidInput', `The URL in "${option}" contains ${held}.`, hint);
  }
  return url;
}

/**
 * Users may paste a key instead of the URL, so messages show a wrong value only if it is a short word or looks like a
 * URL.
 */
const isShowable = (text: unknown): text is string =>
  typeof text === 'string' &&
  text.length < 256 &&
  (/^[a-z]{1,15}$/i.test(text) || (/^[a-z][a-z0-9+.-]*:|[./]/i.test(text) && !text.includes('@')));

/** Returns the address of a request as in the specification, or as in the server's dialect. */
export function addressOf(request: WireRequest, delimiter: string = idDelimiter, other?: OtherPath): Address {
  const { method, path: template, subject } = operations[request.operation];
  const { id, delimiter: used } =
    subject === 'none' ? { id: (request.id ?? []).join('/'), delimiter: idDelimiter } : idOf(request, delimiter);
  const encoded = encodePart(id);
  const path =
    other?.(request, encoded) ??
    (request.withoutId ? template.replace('/{id}', '') : template)
      .replace('{id}', () => encoded)
      .replace('{index_name}', () => encodePart(request.indexName ?? ''));
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(request.query ?? {})) {
    if (typeof value === 'object') for (const one of value) search.append(key, one);
    else if (value !== undefined) search.set(key, String(value));
  }
  if (used !== idDelimiter && path.includes(encoded)) search.set('delimiter', used);
  return { method, path: search.size > 0 ? `${path}?${search.toString()}` : path };
}

const idOf = ({ id = [] }: WireRequest, delimiter: string) => encodeId(id, undefined, delimiter);

/**
 * Encodes a path segment. A segment that consists only of dots is encoded too, because servers and proxies would treat
 * it as relative.
 */
export const encodePart = (part: string): string =>
  /^\.+$/.test(part) ? part.replaceAll('.', '%2E') : encodeURIComponent(part.replaceAll(/\p{Surrogate}/gu, '\ufffd'));

/** The object of a request as shown to users; `undefined` if the operation is about the whole server. */
export function identifierOf(operation: Operation, id: readonly string[] | undefined): string | undefined {
  return operations[operation].subject === 'none' ? undefined : displayPath(id ?? []);
}
