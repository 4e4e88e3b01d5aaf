import type { NamedTable, Naming } from '#shared/catalogConfig.ts';
import { cancellable } from '#processes/calls.ts';
import type { Catalog } from '#catalog/catalog.ts';
import { listNamespaces, listTables, type NameList, walkTables } from './catalogTree.ts';
import { quotedName } from '#shared/sqlTokens.ts';
import { writeSqlName, writeSqlTable } from './sqlNames.ts';

/** A name that can complete the string being typed. */
export type FittingName = {
  /** The name as shown; a table of another namespace with its path, `shop.products`. */
  name: string;
  /** The name as written at this position: quoted for SQL, escaped for the string. */
  text: string;
  /** The text that the typed text is compared with. */
  filter: string;
  kind: 'table' | 'namespace' | 'column';
  /** The type of a column; for a table or namespace its kind and the path of its parent. */
  detail: string;
};

export type FittingNames = {
  names: FittingName[];
  /** Whether more names may fit, which are found when more of the name is typed. */
  isPartial: boolean;
};

/** The part of a catalog that completions need. */
export type NamedCatalog = Pick<Catalog, 'listTables' | 'listNamespaces' | 'describeTable'>;

type SqlNaming = Extract<Naming['what'], { kind: 'sqlAnyTable' | 'sqlTable' }>;

type NamedColumn = { name: string; type: string };

export type NameSources = {
  /** Returns the catalog in a variable such as `db`; `undefined` if the variable holds no catalog. */
  catalog(variable: string): Promise<NamedCatalog | undefined>;
  /** Returns the columns of the table in a variable, if the values of variables are known. */
  columns?(variable: string, signal: AbortSignal): Promise<readonly NamedColumn[] | undefined>;
  /** Returns the names of other catalogs that a query may write before a namespace. */
  otherNames?(): Promise<readonly string[]>;
  /** Returns the other catalog with this name. */
  other?(name: string): Promise<NamedCatalog | undefined>;
  /** How long a completion waits for names. Default: 1,500. Names that arrive later serve the next request. */
  patienceMilliseconds?: number;
};

/** What the user typed of the name, and the signal that ends when the user continues to type. */
export type NameRequest = { typed?: string | undefined; signal?: AbortSignal | undefined };

/** A name of the catalog; `path` also has its namespaces. `catalog` is the name of another catalog. */
type Found = { path: readonly string[]; kind: FittingName['kind']; detail: string; catalog?: string };

/** A list in the cache. `found` grows until `done`. */
type Entry = { at: number; found: NameList<Found>; done: Promise<void> };

const usualPatienceMilliseconds = 1500;
/** After this time a request is cancelled. */
export const limitMilliseconds = 10_000;
/** How long names stay in the cache. Callers clear it when they know of a change. */
const freshMilliseconds = 30_000;
/** After this time a failed request is repeated. Until then, letters typed after a wrong name cause no requests. */
const failedMilliseconds = 3_000;
const maxEntries = 200;
/** Maximum number of names in a result, because a longer list is hard to read. */
const maxNames = 1000;
/** Maximum number of names that are searched if there are more than `maxNames` and a part of the name is typed. */
const maxSearched = 20_000;
/** Maximum number of tables of a query whose columns are read. */
const maxTables = 20;

/**
 * Finds the names of a catalog that complete a string. Caches them for half a minute, because every typed character
 * causes a request.
 */
export class CatalogNames {
  readonly #sources: NameSources;
  readonly #entries = new Map<string, Entry>();

  constructor(sources: NameSources) {
    this.#sources = sources;
  }

  /** Returns matching names; no names if the catalog is slow or fails, because an error would disturb typing. */
  async fitting({ what, quote }: Pick<Naming, 'what' | 'quote'>, request: NameRequest = {}): Promise<FittingNames> {
    const typed = request.typed ?? '';
    const first = await this.#read(what, maxNames, request.signal);
    const isSearched = first.isPartial && first.names.length >= maxNames && typed !== '';
    const { names, isPartial } = isSearched ? await this.#read(what, maxSearched, request.signal) : first;
    const all = names.map(({ path, kind, detail, catalog }): FittingName => {
      // A part of the name that the user has typed already is not written again.
      const isWhole = what.kind === 'sqlAnyTable' && catalog !== undefined;
      const text = (isWhole ? `${writeSqlName(catalog)}.` : '') + writtenAs(what, path, quote);
      // The label is what a query needs, because users also type it from the list.
      const name = what.kind === 'sqlAnyTable' ? text : path.join('.');
      return { name, text, filter: filterOf(what, isWhole ? [catalog, ...path] : path, typed), kind, detail };
    });
    const fitting = isSearched ? all.filter((one) => fits(one, typed)) : all;
    return { names: fitting.slice(0, maxNames), isPartial: isPartial || fitting.length > maxNames };
  }

  /** Clears the cache. Callers do this when variables may hold other catalogs, or catalogs other tables. */
  clear(): void {
    this.#entries.clear();
  }

  async #read(what: Naming['what'], limit: number, signal: AbortSignal | undefined): Promise<NameList<Found>> {
    if (what.kind === 'sqlColumn') return this.#columnsOfAll(what.tables, signal);
    const entry = this.#entryOf(what, limit);
    const patience = this.#sources.patienceMilliseconds ?? usualPatienceMilliseconds;
    await settled(entry.done, Math.min(patience, usualPatienceMilliseconds), signal);
    // A client that waits longer than usual does so only as long as there is nothing to show.
    if (patience > usualPatienceMilliseconds && entry.found.names.length === 0)
      await settled(entry.done, patience - usualPatienceMilliseconds, signal);
    return entry.found;
  }

  #entryOf(what: Naming['what'], limit: number): Entry {
    const key = JSON.stringify([what, limit]);
    const known = this.#entries.get(key);
    if (known && Date.now() - known.at <= freshMilliseconds) return known;
    const found: NameList<Found> = { names: [], isPartial: true };
    const entry = { at: Date.now(), found, done: this.#fill(found, what, limit) };
    this.#entries.set(key, entry);
    entry.done.catch(() => {
      found.isPartial = false;
      entry.at = Date.now() - freshMilliseconds + failedMilliseconds;
    });
    const oldest = this.#entries.keys().next();
    if (this.#entries.size > maxEntries && !oldest.done) this.#entries.delete(oldest.value);
    return entry;
  }

  async #fill(found: NameList<Found>, what: Naming['what'], limit: number): Promise<void> {
    const options = { limit, signal: AbortSignal.timeout(limitMilliseconds) };
    if (what.kind === 'sqlColumn') return;
    if (what.kind === 'column') {
      const columns = (await this.#columns(what.table, options.signal)) ?? [];
      for (const { name, type } of columns) found.names.push({ path: [name], kind: 'column', detail: type });
      found.isPartial = false;
      return;
    }
    const catalog = await this.#sources.catalog(what.catalog);
    if (what.kind === 'sqlAnyTable' || what.kind === 'sqlTable') {
      await this.#fillOfSql(found, what, catalog, options);
      return;
    }
    if (!catalog) {
      found.isPartial = false;
      return;
    }
    await this.#fillFrom(catalog, found, what, options);
  }

  /** Adds the names of a query. A namespace of the catalog comes before another catalog with the same name. */
  async #fillOfSql(
    found: NameList<Found>,
    what: SqlNaming,
    catalog: NamedCatalog | undefined,
    options: { limit: number; signal: AbortSignal },
  ): Promise<void> {
    const [first, ...rest] = what.namespacePath;
    const isPath = what.kind === 'sqlTable' && what.isPath;
    const isFirst = first === undefined && !isPath;
    const own = catalog ? this.#fillFrom(catalog, found, what, options) : undefined;
    // The catalog may not have the namespace, because it is another catalog.
    await own?.catch(() => {});
    const others = isFirst ? ((await this.#sources.otherNames?.()) ?? []) : [];
    for (const name of others) found.names.push({ path: [name], kind: 'namespace', detail: 'catalog' });
    const isNeeded = first !== undefined && !isPath && found.names.length === 0;
    const other = isNeeded ? await this.#sources.other?.(first) : undefined;
    if (!catalog) found.isPartial = false;
    // A failure is reported if there is nothing else, so that the catalog is asked again soon.
    if (!other || !isNeeded) return own;
    const inner: NameList<Found> = { names: [], isPartial: true };
    await this.#fillFrom(other, inner, { ...what, namespacePath: rest }, options);
    for (const each of inner.names) found.names.push({ ...each, catalog: first });
    found.isPartial = inner.isPartial;
  }

  async #fillFrom(
    catalog: NamedCatalog,
    found: NameList<Found>,
    what: Exclude<Naming['what'], { kind: 'column' | 'sqlColumn' }>,
    options: { limit: number; signal: AbortSignal },
  ): Promise<void> {
    if (what.kind === 'anyTable' || what.kind === 'sqlAnyTable') {
      const below = what.kind === 'anyTable' ? [] : what.namespacePath;
      const { isPartial, namespaces } = await walkTables(catalog, below, options, (paths) => {
        for (const path of paths) found.names.push({ path, kind: 'table', detail: 'table' });
      });
      // In a query, namespaces lead to the tables that are not in the list.
      if (isPartial && what.kind === 'sqlAnyTable')
        for (const path of namespaces) found.names.push({ path, kind: 'namespace', detail: 'namespace' });
      found.isPartial = isPartial;
      return;
    }
    const parent = what.kind === 'namespace' || what.kind === 'child' ? what.parent : what.namespacePath;
    const detail = (kind: string) => [kind, ...parent].join(' · ');
    const [tables, namespaces] = await Promise.all([
      what.kind === 'namespace' ? none : listTables(catalog, parent, options),
      what.kind === 'table' ? none : listNamespaces(catalog, parent, options),
    ]);
    for (const name of tables.names) found.names.push({ path: [name], kind: 'table', detail: detail('table') });
    for (const name of namespaces.names)
      found.names.push({ path: [name], kind: 'namespace', detail: detail('namespace') });
    found.isPartial = tables.isPartial || namespaces.isPartial;
  }

  /**
   * Returns the columns of all tables, but each name only once. The completion inserts only the column name, and the
   * user writes the table name in front of it.
   */
  async #columnsOfAll(tables: readonly NamedTable[], signal: AbortSignal | undefined): Promise<NameList<Found>> {
    const lists = await Promise.all(
      tables.slice(0, maxTables).map((table) => this.#read({ kind: 'column', table, isSql: false }, maxNames, signal)),
    );
    const columns = lists.flatMap(({ names }) => names);
    return {
      names: [...new Map(columns.map((column) => [column.path[0], column])).values()],
      isPartial: lists.some(({ isPartial }) => isPartial),
    };
  }

  async #columns(
    table: NamedTable | { variable: string },
    signal: AbortSignal,
  ): Promise<readonly NamedColumn[] | undefined> {
    if ('variable' in table) return this.#sources.columns?.(table.variable, signal);
    const catalog = await this.#sources.catalog(table.catalog);
    const [first, ...rest] = table.namespacePath;
    try {
      if (catalog)
        return (await catalog.describeTable(table.name, { namespacePath: [...table.namespacePath], signal })).columns;
    } catch (error) {
      if (first === undefined || !this.#sources.other) throw error;
    }
    const other = first === undefined ? undefined : await this.#sources.other?.(first);
    return (await other?.describeTable(table.name, { namespacePath: rest, signal }))?.columns;
  }
}

/** Waits until a list is complete, the time has passed, or the user continues to type. */
async function settled(done: Promise<void>, milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  const patience = AbortSignal.timeout(milliseconds);
  await cancellable(done, signal ? AbortSignal.any([signal, patience]) : patience).catch(() => {});
}

const none: NameList<string> = { names: [], isPartial: false };

/** Whether a name fits the text that the user typed of it. */
export const fits = ({ filter }: FittingName, typed: string): boolean =>
  filter.toLowerCase().includes(typed.toLowerCase());

/** Returns the text to compare with the typed text, with the quote and the separator that the user types. */
function filterOf(what: Naming['what'], path: readonly string[], typed: string): string {
  const mark = /^\\?["`]/.exec(typed)?.[0] ?? '';
  const isPath = what.kind === 'sqlTable' && what.isPath;
  const parts = isPath ? [...what.namespacePath, ...path] : path;
  return mark + parts.join(isPath || typed.includes('/') ? '/' : '.');
}

function writtenAs(what: Naming['what'], path: readonly string[], quote: Naming['quote']): string {
  const name = path.at(-1) ?? '';
  switch (what.kind) {
    case 'column':
      return escaped(what.isSql ? sqlName(name) : name, quote);
    case 'sqlColumn':
      return writeSqlName(name);
    case 'sqlAnyTable':
      return writeSqlTable(path);
    case 'sqlTable':
      return what.isPath ? quotedName([...what.namespacePath, name].join('/')) : writeSqlName(name);
    case 'anyTable': {
      const namespaces = path.slice(0, -1).map((part) => `${quote}${escaped(part, quote)}${quote}`);
      const end = namespaces.length > 0 ? `${quote}, [${namespaces.join(', ')}]` : what.isClosed ? quote : '';
      return escaped(name, quote) + end;
    }
    case 'table':
    case 'namespace':
    case 'child':
      return escaped(name, quote);
  }
}

/** Writes a column name for the SQL of tables: in backticks unless the name is a plain word. */
const sqlName = (name: string): string => (/^[a-z_]\w*$/i.test(name) ? name : `\`${name.replaceAll('`', '``')}\``);

/** Escapes a name within a TypeScript string. */
function escaped(name: string, quote: string): string {
  if (quote === '') return name;
  const text = name
    .replaceAll('\\', '\\\\')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r');
  return quote === '`' ? text.replaceAll('${', '\\${') : text;
}
