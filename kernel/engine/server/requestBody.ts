import { CatalogError } from '#shared/errors.ts';
import { isRecord } from '#shared/records.ts';
import {
  type Check,
  ensureShape,
  isBoolean,
  isCount,
  isFiniteNumber,
  isString,
  listOf,
  mapOf,
  nullable,
} from '#shared/shape.ts';

// Fields of requests are checked here before they are used: a wrong type is refused. In JSON, `null` means the same
// as a missing field.

export type Json = Record<string, unknown>;

/** @throws CatalogError InvalidInput (13), always */
export function invalidRequestField(field: string, wanted: string): never {
  throw new CatalogError(
    'InvalidInput',
    `Expected ${wanted} for the field "${field}" of the request.`,
    'Correct the request.',
  );
}

/** @throws CatalogError InvalidInput (13), always */
export function missing(field: string): never {
  throw new CatalogError('InvalidInput', `The field "${field}" of the request is missing.`, 'Correct the request.');
}

/** @throws CatalogError Unsupported (0), always; `hint` names an alternative */
export function unsupportedByServer(what: string, hint: string): never {
  throw new CatalogError('Unsupported', `This server does not support ${what}.`, hint);
}

/** Reads an optional field. @throws CatalogError InvalidInput (13) for a value that the check rejects */
function readField<T>(body: Json, field: string, check: Check<T>, wanted: string): T | undefined {
  const value = body[field];
  // Most fields of most requests are missing.
  if (value === undefined || value === null) return undefined;
  return ensureShape(value, check, () => invalidRequestField(field, wanted));
}

export const optionalString = (body: Json, field: string): string | undefined =>
  readField(body, field, isString, 'a string');

export function requiredString(body: Json, field: string): string {
  const value = optionalString(body, field) ?? missing(field);
  return value === '' ? invalidRequestField(field, 'a non-empty string') : value;
}

export const count = (body: Json, field: string): number | undefined =>
  readField(body, field, isCount, 'a whole number from 0');

export const requiredCount = (body: Json, field: string): number => count(body, field) ?? missing(field);

export const optionalNumber = (body: Json, field: string): number | undefined =>
  readField(body, field, isFiniteNumber, 'a number');

export const optionalBoolean = (body: Json, field: string): boolean | undefined =>
  readField(body, field, isBoolean, 'true or false');

export const textList = (body: Json, field: string): string[] | undefined =>
  readField(body, field, listOf(isString), 'a list of strings');

export const objectList = (body: Json, field: string): Json[] =>
  ensureShape(body[field], listOf(isRecord), () => invalidRequestField(field, 'a list of objects'));

export function textMap(body: Json, field: string): Record<string, string> | undefined {
  const value = object(body, field);
  return value && allTexts(value, field);
}

/** Returns a map whose values are all strings. */
export const allTexts = (value: Json, field: string): Record<string, string> =>
  ensureShape(value, mapOf(isString), () => invalidRequestField(field, 'a map of strings'));

/** Returns a map whose values are strings or `null`. */
export const textsOrNull = (value: Json, field: string): Record<string, string | null> =>
  ensureShape(value, mapOf(nullable(isString)), () => invalidRequestField(field, 'a map of strings'));

export const object = (body: Json, field: string): Json | undefined => readField(body, field, isRecord, 'an object');

const plain = (word: string): string => word.replaceAll('_', '').toLowerCase();

/** Finds a choice; to the specification `ExistOk`, `EXIST_OK` and `exist_ok` are the same. */
export function choice<const T extends string>(
  value: string | undefined,
  field: string,
  choices: readonly T[],
): T | undefined {
  if (value === undefined) return undefined;
  return (
    choices.find((one) => plain(one) === plain(value)) ?? invalidRequestField(field, `one of ${choices.join(', ')}`)
  );
}

/** Returns a `true` or `false` of the query string. */
export function queryFlag(query: URLSearchParams, field: string): boolean | undefined {
  const word = choice(query.get(field) ?? undefined, field, ['true', 'false']);
  return word && word === 'true';
}

/** Returns a string of the query string; an empty one counts as missing. */
export const queryText = (query: URLSearchParams, field: string): string | undefined => query.get(field) || undefined;

/**
 * Checks the identifier in a body, which by the specification may repeat the identifier in the URL. Another identifier
 * is an error of the client. DuckDB's Lance extension repeats the identifier as one string, joined as in the URL. That
 * form is accepted: after a refusal the extension assumes that the table does not exist, and writes to a table of that
 * name in the root.
 * @param id the components in the URL, none of which is empty or contains the delimiter
 */
export function checkId(body: Json, id: readonly string[], delimiter: string): void {
  const given = textList(body, 'id');
  if (!given || (given.length === id.length && given.every((part, index) => part === id[index]))) return;
  if (given.length === 1 && given[0] === id.join(delimiter)) return;
  throw new CatalogError(
    'InvalidInput',
    'The request body names another object than the URL.',
    'Name the same object in both.',
  );
}

/**
 * Checks the common fields of a body: the identity (this server uses the headers instead) and a context, which is
 * ignored.
 */
export function checkEnvelope(body: Json): void {
  const identity = object(body, 'identity');
  if (identity) for (const field of ['api_key', 'auth_token']) optionalString(identity, field);
  textMap(body, 'context');
}

/** @throws CatalogError InvalidInput (13) for invalid percent encoding */
export function decodePart(encoded: string): string {
  try {
    return decodeURIComponent(encoded);
  } catch (cause) {
    throw new CatalogError('InvalidInput', `"${encoded}" is not percent-encoded text.`, 'Encode it as a URL part.', {
      cause,
    });
  }
}

/** Default number of entries in a page of a list that the engine returns as a whole. */
const mostEntries = 1000;

/**
 * Returns one page of a sorted list. The token is the last key of a page. So entries that are added or removed between
 * two pages do not shift the others, even if the entry with that key is removed.
 * @throws CatalogError InvalidInput (13) if the limit is not an integer of at least 1
 */
export function pageOfList<T>(
  list: readonly T[],
  keyOf: (entry: T) => string,
  { limit, pageToken }: { limit: number | undefined; pageToken: string | undefined },
): { entries: T[]; page_token?: string } {
  const most = limit ?? mostEntries;
  if (!Number.isInteger(most) || most < 1) invalidRequestField('limit', 'a whole number from 1');
  const left = pageToken === undefined ? list : list.filter((entry) => keyOf(entry) > pageToken);
  const entries = left.slice(0, most);
  return most >= left.length ? { entries } : { entries, page_token: keyOf(entries.at(-1)!) };
}

export function pageInQuery(query: URLSearchParams): { limit: number | undefined; pageToken: string | undefined } {
  const limit = queryText(query, 'limit');
  return { limit: limit === undefined ? undefined : Number(limit), pageToken: queryText(query, 'page_token') };
}
