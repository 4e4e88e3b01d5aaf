import { CatalogError } from '#shared/errors.ts';

const circle = () =>
  new CatalogError('Internal', 'A list goes in circles: the same page came twice.', 'Report it to the catalog.');

/**
 * Reads a list to its end; `read` gives the token of the page behind the one it read.
 * @throws CatalogError Internal (18), or what `circular` makes, when a page gives a token that was given before, which
 * would never end
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

/** The names of a list that comes in pages. @throws CatalogError as `eachPage` does */
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
