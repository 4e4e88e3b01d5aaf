import { CatalogNames, type NamedCatalog, type NameSources } from '#client/catalogNames.ts';
import type { Schema } from '#arrow';
import type { CallOptions } from '#client/callOptions.ts';

type LiveTable = { schema(options?: CallOptions): Promise<Schema> };

const has = (value: unknown, methods: readonly string[]): boolean =>
  typeof value === 'object' &&
  value !== null &&
  methods.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');

const isCatalog = (value: unknown): value is NamedCatalog =>
  has(value, ['listTables', 'listNamespaces', 'describeTable']);
const isTable = (value: unknown): value is LiveTable => has(value, ['schema', 'query', 'countRows']);

/**
 * Names for what is written in cells, by what its variables hold now: tables of `db` and of other catalogs that cells
 * connected to, and columns of tables that they opened.
 * @param variables of the notebook, as they are when somebody asks
 */
export function liveNames(variables: Readonly<Record<string, unknown>>): CatalogNames {
  const valueOf = (name: string): unknown => (Object.hasOwn(variables, name) ? variables[name] : undefined);
  const sources: NameSources = {
    catalog: async (name) => {
      const value = valueOf(name);
      return isCatalog(value) ? value : undefined;
    },
    columns: async (name, signal) => {
      const value = valueOf(name);
      if (!isTable(value)) return undefined;
      const { fields } = await value.schema({ signal });
      return fields.map((field) => ({ name: field.name, type: String(field.type) }));
    },
  };
  return new CatalogNames(sources);
}
