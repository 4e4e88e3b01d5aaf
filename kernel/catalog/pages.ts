import { CatalogError } from '#shared/errors.ts';

const circle = () =>
  new CatalogError(
    'Internal',
    "Can't read the list: the catalog sent the same page twice.",
    'Report this to the administrator of the catalog.',
  );

/**
 * Reads all pages of a list; `read` returns the token of the next page.
 * @throws CatalogError Internal (18), or the error of `circular`, if a token is repeated: the list would never end
 */
export async function eachPage(
  read: (pageToken: string | undefined) => Promise<string | undefined>,
  circular: () => CatalogError = circle,
): Promise<void> {
  const seen = new Set<string>();
  let pageToken: string | undefined;
  do {
    pageToken = (await read(pageToken)) || undefined;
    if (pageToken !== undefined && seen.has(pageToken)) throw circular();
    if (pageToken !== undefined) seen.add(pageToken);
  } while (pageToken !== undefined);
}

/** Returns the names from all pages of a list. @throws CatalogError as `eachPage` does */
export async function allPages(
  read: (pageToken: string | undefined) => Promise<{ names: readonly string[]; pageToken?: string | undefined }>,
): Promise<string[]> {
  const names: string[] = [];
  await eachPage(async (pageToken) => {
    const page = await read(pageToken);
    names.push(...page.names);
    return page.pageToken;
  });
  return names;
}
