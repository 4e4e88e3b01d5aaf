import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';

// What comes in a request is checked here before anything acts on it: a field of the wrong type is refused. In JSON,
// `null` is the same as not there.

export type Json = Record<string, unknown>;

/** @throws CatalogError InvalidInput (13), always */
export function wrong(field: string, wanted: string): never {
  throw new CatalogError(
    'InvalidInput',
    `The field "${field}" of the request is not ${wanted}.`,
    'Correct the request.',
  );
}

/** @throws CatalogError Unsupported (0), always; `hint` says what to do instead */
export function notOffered(what: string, hint: string): never {
  throw new CatalogError('Unsupported', `This server does not offer ${what}.`, hint);
}

export function text(body: Json, field: string): string | undefined {
  const value = body[field] ?? undefined;
  return value === undefined || typeof value === 'string' ? value : wrong(field, 'text');
}

export function requiredText(body: Json, field: string): string {
  const value = text(body, field) ?? wrong(field, 'there');
  return value === '' ? wrong(field, 'a text of some characters') : value;
}

export function count(body: Json, field: string): number | undefined {
  const value = body[field] ?? undefined;
  if (value === undefined) return undefined;
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
    ? value
    : wrong(field, 'a whole number from 0');
}

export function requiredCount(body: Json, field: string): number {
  return count(body, field) ?? wrong(field, 'there');
}

export function numeral(body: Json, field: string): number | undefined {
  const value = body[field] ?? undefined;
  return value === undefined || typeof value === 'number' ? value : wrong(field, 'a number');
}

export function flag(body: Json, field: string): boolean | undefined {
  const value = body[field] ?? undefined;
  return value === undefined || typeof value === 'boolean' ? value : wrong(field, 'true or false');
}

export function textList(body: Json, field: string): string[] | undefined {
  const value = body[field] ?? undefined;
  if (value === undefined) return undefined;
  return Array.isArray(value) && value.every((item): item is string => typeof item === 'string')
    ? value
    : wrong(field, 'a list of texts');
}

export function objectList(body: Json, field: string): Json[] {
  const value = body[field] ?? undefined;
  return Array.isArray(value) && value.every(isRecord) ? value : wrong(field, 'a list of objects');
}

export function textMap(body: Json, field: string): Record<string, string> | undefined {
  const value = object(body, field);
  return value && allTexts(value, field);
}

/** A map of which all values are texts, or all are texts or `null`. */
export function allTexts(value: Json, field: string): Record<string, string>;
export function allTexts(value: Json, field: string, orNull: true): Record<string, string | null>;
export function allTexts(value: Json, field: string, orNull = false): Record<string, string | null> {
  const fits = (entry: [string, unknown]): entry is [string, string | null] =>
    typeof entry[1] === 'string' || (orNull && entry[1] === null);
  const entries = Object.entries(value);
  return entries.every(fits) ? Object.fromEntries(entries) : wrong(field, 'a map of texts');
}

export function object(body: Json, field: string): Json | undefined {
  const value = body[field] ?? undefined;
  if (value === undefined) return undefined;
  return isRecord(value) ? value : wrong(field, 'an object');
}

const plain = (word: string): string => word.replaceAll('_', '').toLowerCase();

/** `ExistOk`, `EXIST_OK` and `exist_ok` are the same word to the specification. */
export function choice<const T extends string>(
  value: string | undefined,
  field: string,
  choices: readonly T[],
): T | undefined {
  if (value === undefined) return undefined;
  return choices.find((one) => plain(one) === plain(value)) ?? wrong(field, `one of ${choices.join(', ')}`);
}

/** `true` and `false` in an address. */
export function queryFlag(query: URLSearchParams, field: string): boolean | undefined {
  const word = choice(query.get(field) ?? undefined, field, ['true', 'false']);
  return word && word === 'true';
}

/** Text in an address; an empty one is none. */
export const queryText = (query: URLSearchParams, field: string): string | undefined => query.get(field) || undefined;

/** The specification lets a body repeat the identifier; a different one is a confused client. */
export function checkId(body: Json, id: readonly string[]): void {
  const given = textList(body, 'id');
  if (!given || (given.length === id.length && given.every((part, index) => part === id[index]))) return;
  throw new CatalogError('InvalidInput', 'The request body names another object than the address.', 'Name one object.');
}

/** What every body may carry: who asks (headers decide that here), and context that this server has no use for. */
export function checkEnvelope(body: Json): void {
  const identity = object(body, 'identity');
  if (identity) for (const field of ['api_key', 'auth_token']) text(identity, field);
  textMap(body, 'context');
}

/** @throws CatalogError InvalidInput (13) for percent signs that stand for nothing */
export function decodePart(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch (cause) {
    throw new CatalogError('InvalidInput', `"${encoded}" is not percent-encoded text.`, 'Encode it as a URL part.', {
      cause,
    });
  }
}

/** Entries in a page of a list that the engine gives as a whole, unless fewer are asked for. */
const mostEntries = 1000;

/**
 * One page of a list whose keys are in order; the token of a page is its last key, so that entries which come and go
 * between two pages move no other, the one of that key among them. `isBehind` tells the order, by characters if not given.
 * @throws CatalogError InvalidInput (13) for a limit that is no whole number from 1
 */
export function pageOfList<T>(
  list: readonly T[],
  keyOf: (entry: T) => string,
  { limit, pageToken }: { limit: number | undefined; pageToken: string | undefined },
  isBehind: (key: string, token: string) => boolean = (key, token) => key > token,
): { entries: T[]; page_token?: string } {
  const most = limit ?? mostEntries;
  if (!Number.isInteger(most) || most < 1) wrong('limit', 'a whole number from 1');
  const left = pageToken === undefined ? list : list.filter((entry) => isBehind(keyOf(entry), pageToken));
  const entries = left.slice(0, most);
  return most >= left.length ? { entries } : { entries, page_token: keyOf(entries.at(-1)!) };
}

/** The page that an address asks for. */
export function pageInQuery(query: URLSearchParams): { limit: number | undefined; pageToken: string | undefined } {
  const limit = queryText(query, 'limit');
  return { limit: limit === undefined ? undefined : Number(limit), pageToken: queryText(query, 'page_token') };
}
