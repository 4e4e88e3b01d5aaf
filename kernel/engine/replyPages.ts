import { queryText, wrong } from './requests.ts';

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
