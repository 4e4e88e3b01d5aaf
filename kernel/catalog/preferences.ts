import { preference } from './contract.ts';
import type { QuerySpec } from './query/querySpec.ts';

/**
 * Parses `Prefer` and `Preference-Applied` (RFC 7240). Returns the value of each preference by its lowercase name; the
 * value is an empty string if the header has none.
 */
export const parsePreferences = (header: string | readonly string[] = []): ReadonlyMap<string, string> =>
  new Map(
    (typeof header === 'string' ? [header] : header)
      .flatMap((line) => line.split(','))
      .map((wish) => {
        const [name = '', value = ''] = wish.split(';')[0]!.split('=', 2);
        return [name.trim().toLowerCase(), value.trim().replace(/^"(.*)"$/, '$1')] as const;
      })
      .filter(([name]) => name !== ''),
  );

/** Returns the preferences that a query needs, for `Prefer` and `Preference-Applied`; `undefined` for none. */
export function queryPreferences({ orderBy, maxBytes, vector }: QuerySpec): string | undefined {
  const needed = [
    ...(orderBy ? [preference.order] : []),
    ...(vector?.more ? [preference.severalVectors] : []),
    ...(maxBytes === undefined ? [] : [`${preference.maxBytes}=${maxBytes}`]),
  ];
  return needed.length > 0 ? needed.join(', ') : undefined;
}
