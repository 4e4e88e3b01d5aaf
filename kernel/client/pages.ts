import { CatalogError } from '#shared/errors.ts';

/**
 * Reads a list to its end, page by page.
 * @throws CatalogError Internal (18) when a page gives a token that was given before, which would never end
 */
export async function allPages(
  read: (pageToken: string | undefined) => Promise<{ names: readonly string[]; pageToken?: string | undefined }>,
): Promise<string[]> {
  const names: string[] = [];
  const seen = new Set<string>();
  let pageToken: string | undefined;
  do {
    const page = await read(pageToken);
    names.push(...page.names);
    pageToken = page.pageToken;
    if (pageToken !== undefined && seen.has(pageToken)) {
      throw new CatalogError(
        'Internal',
        'A list goes in circles: the same page came twice.',
        'Report it to the catalog.',
      );
    }
    if (pageToken !== undefined) seen.add(pageToken);
  } while (pageToken !== undefined);
  return names;
}
