import type { NamedTable, Naming } from '#shared/catalogConfig.ts';
import { cancellable } from '#processes/calls.ts';
import type { Catalog } from './catalog.ts';

/** A name that can complete the string being typed. */
export type FittingName = {
  name: string;
  /** The name as written at this position: quoted for SQL, escaped for the string. */
  text: string;
  kind: 'table' | 'namespace' | 'column';
  /** The type of a column; for a table or namespace its kind and the path of its parent. */
  detail: string;
};

/** The part of a catalog that completions need. */
export type NamedCatalog = Pick<Catalog, 'listTables' | 'listNamespaces' | 'describeTable'>;

type NamedColumn = { name: string; type: string };

export type NameSources = {
  /** Returns the catalog in a variable such as `db`; `undefined` if the variable holds no catalog. */
  catalog(variable: string): Promise<NamedCatalog | undefined>;
  /** Returns the columns of the table in a variable, if the values of variables are known. */
  columns?(variable: string, signal: AbortSignal): Promise<readonly NamedColumn[] | undefined>;
  /** How long a completion waits for names. Default: 1,500. Names that arrive later serve the next request. */
  patienceMilliseconds?: number;
};

type Entry = { at: number; names: Promise<Omit<FittingName, 'text'>[]> };

const usualPatienceMilliseconds = 1500;
/** After this time a request is cancelled. */
export const limitMilliseconds = 10_000;
/** How long names stay in the cache. */
const freshMilliseconds = 10_000;
const maxEntries = 50;
/**
 * Maximum number of names in a list. A longer list is hard to read, and a catalog returns at most this many names a
 * page.
 */
const maxNames = 1000;

/**
 * Finds the names of a catalog that complete a string. Caches them for a few seconds, because every typed character
 * causes a request.
 */
export class CatalogNames {
  readonly #sources: NameSources;
  readonly #entries = new Map<string, Entry>();

  constructor(sources: NameSources) {
    this.#sources = sources;
  }

  /** Returns matching names; an empty list if the catalog is slow or fails, because an error would disturb typing. */
  async fitting({ what, quote }: Pick<Naming, 'what' | 'quote'>, signal?: AbortSignal): Promise<FittingName[]> {
    const key = JSON.stringify(what);
    let entry = this.#entries.get(key);
    if (!entry || Date.now() - entry.at > freshMilliseconds) {
      entry = { at: Date.now(), names: this.#ask(what) };
      this.#entries.set(key, entry);
      // A failed request is removed from the cache, so the next call repeats the request.
      entry.names.catch(() => this.#entries.delete(key));
      const oldest = this.#entries.keys().next();
      if (this.#entries.size > maxEntries && !oldest.done) this.#entries.delete(oldest.value);
    }
    const patience = AbortSignal.timeout(this.#sources.patienceMilliseconds ?? usualPatienceMilliseconds);
    const found = await cancellable(entry.names, signal ? AbortSignal.any([signal, patience]) : patience).catch(
      () => [],
    );
    return found.map((one) => ({ ...one, text: escaped(writtenAs(what, one.name), quote) }));
  }

  /** Clears the cache. Callers do this when variables may hold other catalogs. */
  clear(): void {
    this.#entries.clear();
  }

  async #ask(what: Naming['what']): Promise<Omit<FittingName, 'text'>[]> {
    const options = { limit: maxNames, signal: AbortSignal.timeout(limitMilliseconds) };
    if (what.kind === 'column') return this.#columns(what.table, options.signal);
    if (what.kind === 'sqlColumn') return this.#columnsOfAll(what.tables, options.signal);
    const catalog = await this.#sources.catalog(what.catalog);
    if (!catalog) return [];
    if (what.kind === 'table') {
      const { tables } = await catalog.listTables(what.namespacePath, options);
      return tables.map((name) => ({ name, kind: 'table', detail: ['table', ...what.namespacePath].join(' · ') }));
    }
    const parent = what.kind === 'namespace' ? what.parent : what.namespacePath;
    const { namespaces } = await catalog.listNamespaces(parent, options);
    const detail = (kind: string) => [kind, ...parent].join(' · ');
    const found = namespaces.map((name) => ({ name, kind: 'namespace', detail: detail('namespace') }) as const);
    if (what.kind === 'namespace') return found;
    const { tables } = await catalog.listTables(parent, options);
    return [...tables.map((name) => ({ name, kind: 'table', detail: detail('table') }) as const), ...found];
  }

  async #columns(table: NamedTable | { variable: string }, signal: AbortSignal): Promise<Omit<FittingName, 'text'>[]> {
    const columns =
      'variable' in table
        ? await this.#sources.columns?.(table.variable, signal)
        : (await this.#describe(table, signal))?.columns;
    return (columns ?? []).map(({ name, type }) => ({ name, kind: 'column', detail: type }));
  }

  /**
   * Returns the columns of all tables, but each name only once. The completion inserts only the column name, and the
   * user writes the table name in front of it.
   */
  async #columnsOfAll(tables: readonly NamedTable[], signal: AbortSignal): Promise<Omit<FittingName, 'text'>[]> {
    const all = await Promise.all(tables.map((table) => this.#columns(table, signal).catch(() => [])));
    return [...new Map(all.flat().map((column) => [column.name, column])).values()];
  }

  async #describe({ catalog, name, namespacePath }: NamedTable, signal: AbortSignal) {
    const found = await this.#sources.catalog(catalog);
    return found?.describeTable(name, { namespacePath: [...namespacePath], signal });
  }
}

function writtenAs(what: Naming['what'], name: string): string {
  if (what.kind === 'column') return what.isSql ? sqlName(name) : name;
  if (what.kind === 'sqlColumn') return queryName(name);
  if (what.kind !== 'sqlTable') return name;
  return what.isPath ? `"${[...what.namespacePath, name].join('/').replaceAll('"', '""')}"` : queryName(name);
}

/** SQL keywords that are common as names and need quotes. */
const reserved: ReadonlySet<string> = new Set(
  'all and as between by case check default delete desc distinct exists from group having in index insert into is join limit not null on or order select set table then to union unique update using values when where'.split(
    ' ',
  ),
);

/** Writes a name for a SQLite query. */
const queryName = (name: string): string =>
  /^[a-z_]\w*$/i.test(name) && !reserved.has(name.toLowerCase()) ? name : `"${name.replaceAll('"', '""')}"`;

/** Writes a column name for SQL: in backticks unless the name is a plain word. */
const sqlName = (name: string): string => (/^[a-z_]\w*$/i.test(name) ? name : `\`${name.replaceAll('`', '``')}\``);

/** Escapes a name within a TypeScript string. */
function escaped(name: string, quote: string): string {
  if (quote === '') return name;
  const text = name.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`).replaceAll('\n', '\\n');
  return quote === '`' ? text.replaceAll('${', '\\${') : text;
}
