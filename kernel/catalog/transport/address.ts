import { CatalogError } from '#shared/errors.ts';
import { displayPath, encodeId, idDelimiter } from '#shared/names.ts';
import { operations, type Operation } from '#catalog/contract.ts';
import type { WireRequest } from './request.ts';

/** How a request is addressed, without the server's own base path. */
export type Address = { method: 'GET' | 'POST'; path: string };

/** The path that another dialect has for a request, if it has one; `id` is the identifier, encoded. */
export type OtherPath = (request: WireRequest, id: string) => string | undefined;

/**
 * The address of a server, taken apart; `option` is what it was given as.
 * @throws CatalogError InvalidInput (13) for what is no http(s) address, or holds a password, a query or a fragment
 */
export function parseAddress(option: string, text: unknown): URL {
  const hint = 'Write for instance "https://catalog.example.com", and secrets as headers.';
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    const what = isShowable(text) ? `"${text}"` : `What was given as ${option}`;
    throw new CatalogError('InvalidInput', `${what} is no address of a catalog server.`, hint);
  }
  // Not repeated where it may hold a secret.
  if (url.username || url.password || url.search || url.hash) {
    const held = url.username || url.password ? 'a name or a password' : 'more than a server and a path';
    throw new CatalogError('InvalidInput', `The address given as ${option} holds ${held}.`, hint);
  }
  return url;
}

/** Somebody may have pasted a key where the address belongs: only a short word or what looks like an address is shown. */
const isShowable = (text: unknown): text is string =>
  typeof text === 'string' &&
  text.length < 256 &&
  (/^[a-z]{1,15}$/i.test(text) || (/^[a-z][a-z0-9+.-]*:|[./]/i.test(text) && !text.includes('@')));

/** The address of a request by the specification, or by what the server's dialect has instead. */
export function addressOf(request: WireRequest, delimiter: string = idDelimiter, other?: OtherPath): Address {
  const { method, path: template, subject } = operations[request.operation];
  const { id, delimiter: used } =
    subject === 'none' ? { id: (request.id ?? []).join('/'), delimiter: idDelimiter } : idOf(request, delimiter);
  const encoded = encodePart(id);
  const path =
    other?.(request, encoded) ??
    template.replace('{id}', () => encoded).replace('{index_name}', () => encodePart(request.indexName ?? ''));
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
 * A part of a path. Dots alone are encoded too: servers and proxies on the way take them for steps up the path.
 */
export const encodePart = (part: string): string =>
  /^\.+$/.test(part) ? part.replaceAll('.', '%2E') : encodeURIComponent(part.replaceAll(/\p{Surrogate}/gu, '\ufffd'));

/** What a request is about, as people write it; nothing where the operation is about the whole server. */
export function identifierOf(operation: Operation, id: readonly string[] | undefined): string | undefined {
  return operations[operation].subject === 'none' ? undefined : displayPath(id ?? []);
}
