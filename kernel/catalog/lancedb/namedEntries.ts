import { inspect } from 'node:util';

/** Entries by name: a `Map` whose entries are also its properties, as in LanceDB's package. */
export type NamedEntries<T> = Map<string, T> & { readonly [name: string]: T };

/**
 * Returns a map whose entries are also properties: `list.get('v1')` and `list.v1`. An entry that is named like a method
 * of `Map` gets no property.
 */
export function namedEntries<T>(entries: Iterable<readonly [string, T]>): NamedEntries<T> {
  const map = new Map(entries);
  for (const [name, value] of map) {
    if (!(name in map)) Object.defineProperty(map, name, { value, enumerable: true, configurable: true });
  }
  // Without this method, an output would show each entry twice.
  Object.defineProperty(map, inspect.custom, { value: () => new Map(map) });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its properties were just defined
  return map as NamedEntries<T>;
}
