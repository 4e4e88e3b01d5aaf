import { CatalogError } from '#shared/errors.ts';

/** Maximum pages of a list, and maximum entries of all its pages together. */
export const maxPages = 10_000;
const maxEntries = 1_000_000;
/** Maximum consecutive pages without an entry; servers that filter after paging send such pages. */
const maxEmptyPages = 1000;

/** Why the client stops reading a list, as the end of the sentence "the catalog sent …". */
export type PageProblem =
  | 'the same page of a list twice'
  | 'a page of a list without new entries'
  | `more than ${number} pages of a list`
  | `a list of more than ${number} entries`;

const listError = (problem: PageProblem): CatalogError =>
  new CatalogError(
    'Internal',
    `Can't read the list: the catalog sent ${problem}.`,
    'Report this to the administrator of the catalog.',
  );

/** Checks the pages of one list, so that a server can't keep a client reading forever. */
export class PageCheck {
  readonly #failure: (problem: PageProblem) => CatalogError;
  readonly #tokens = new Set<string>();
  readonly #keys = new Set<string>();
  #pages = 0;
  #empty = 0;

  constructor(failure: (problem: PageProblem) => CatalogError = listError) {
    this.#failure = failure;
  }

  /**
   * Checks a page that was read, and returns the token of the next page.
   * @param keys identify the entries of the page
   * @param next the token of the next page; an empty string counts as no token
   * @throws CatalogError Internal (18) if the list would never end
   */
  next(keys: Iterable<string>, next: string | undefined): string | undefined {
    let count = 0;
    const known = this.#keys.size;
    for (const key of keys) {
      count += 1;
      this.#keys.add(key);
    }
    if (this.#keys.size > maxEntries) throw this.#failure(`a list of more than ${maxEntries} entries`);
    if (next === undefined || next === '') return undefined;
    if (this.#tokens.has(next)) throw this.#failure('the same page of a list twice');
    this.#tokens.add(next);
    this.#empty = count === 0 ? this.#empty + 1 : 0;
    const isNothingNew = count > 0 && this.#keys.size === known;
    if (isNothingNew || this.#empty >= maxEmptyPages) throw this.#failure('a page of a list without new entries');
    this.#pages += 1;
    if (this.#pages >= maxPages) throw this.#failure(`more than ${maxPages} pages of a list`);
    return next;
  }
}

/** A page of a list: the keys that identify its entries, and the token of the next page. */
export type ListPage = { readonly keys: Iterable<string>; readonly pageToken: string | undefined };

/**
 * Reads all pages of a list.
 * @param failure the error for a list that would never end
 * @throws CatalogError Internal (18), or `failure`, if a token is repeated, a page has nothing new, or the list has
 * 10,000 pages or more than 1,000,000 entries
 */
export async function eachPage(
  read: (pageToken: string | undefined) => Promise<ListPage>,
  failure?: (problem: PageProblem) => CatalogError,
): Promise<void> {
  const check = new PageCheck(failure);
  let pageToken: string | undefined;
  do {
    const page = await read(pageToken);
    pageToken = check.next(page.keys, page.pageToken);
  } while (pageToken !== undefined);
}

type NamesPage = { readonly names: readonly string[]; readonly pageToken?: string | undefined };

/** Yields the names of each page of a list as it arrives. @throws CatalogError as `eachPage` does */
export async function* namePages(
  read: (pageToken: string | undefined) => Promise<NamesPage>,
): AsyncGenerator<readonly string[], void, undefined> {
  const check = new PageCheck();
  let pageToken: string | undefined;
  do {
    const page = await read(pageToken);
    pageToken = check.next(page.names, page.pageToken);
    yield page.names;
  } while (pageToken !== undefined);
}

/** Returns the names from all pages of a list. @throws CatalogError as `eachPage` does */
export async function allPages(read: (pageToken: string | undefined) => Promise<NamesPage>): Promise<string[]> {
  const names: string[] = [];
  for await (const page of namePages(read)) names.push(...page);
  return names;
}
