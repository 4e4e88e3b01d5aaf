import type { NamedTable, Naming } from '#shared/catalogConfig.ts';
import { cancellable } from '#processes/calls.ts';
import type { Catalog } from './catalog.ts';

/** A name that fits where it is being written. */
export type FittingName = {
  name: string;
  /** As it is written there: quoted for SQL, escaped for the string. */
  text: string;
  kind: 'table' | 'namespace' | 'column';
  /** A column's type, or where a table is. */
  detail: string;
};

/** What names are asked of. */
export type NamedCatalog = Pick<Catalog, 'listTables' | 'listNamespaces' | 'describeTable'>;

type NamedColumn = { name: string; type: string };

export type NameSources = {
  /** The catalog behind a variable such as `db`; `undefined` when that is none. */
  catalog(variable: string): Promise<NamedCatalog | undefined>;
  /** Columns of the table that a variable holds, where values of variables are known. */
  columns?(variable: string, signal: AbortSignal): Promise<readonly NamedColumn[] | undefined>;
  /** How long who types is to wait for them; 1,500 when it is not said. What comes later serves the next question. */
  patienceMilliseconds?: number;
};

type Entry = { at: number; names: Promise<Omit<FittingName, 'text'>[]> };

const usualPatienceMilliseconds = 1500;
/** Then the question is given up. */
export const limitMilliseconds = 10_000;
/** How long names are taken to be what they were. */
const freshMilliseconds = 10_000;
const maxEntries = 50;
/** More in one list is more than anybody reads; the first page of a catalog has no more. */
const maxNames = 1000;

/** Says which names of a catalog fit in a string. Remembers them for a few seconds: one is asked for at every letter. */
export class CatalogNames {
  readonly #sources: NameSources;
  readonly #entries = new Map<string, Entry>();

  constructor(sources: NameSources) {
    this.#sources = sources;
  }

  /** Names that fit; none when the catalog is slow, fails or knows none: nobody who types wants to be told. */
  async fitting({ what, quote }: Pick<Naming, 'what' | 'quote'>, signal?: AbortSignal): Promise<FittingName[]> {
    const key = JSON.stringify(what);
    let entry = this.#entries.get(key);
    if (!entry || Date.now() - entry.at > freshMilliseconds) {
      entry = { at: Date.now(), names: this.#ask(what) };
      this.#entries.set(key, entry);
      // What failed is asked again.
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

  /** Forgets what was read; to be called when variables may stand for other catalogs. */
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

  /** What several have is one name: which of them is meant is written before it. */
  async #columnsOfAll(tables: readonly NamedTable[], signal: AbortSignal): Promise<Omit<FittingName, 'text'>[]> {
    const all = await Promise.all(tables.map((table) => this.#columns(table, signal).catch(() => [])));
    return [...new Map(all.flat().map((column) => [column.name, column])).values()];
  }

  async #describe({ catalog, name, namespacePath }: NamedTable, signal: AbortSignal) {
    const found = await this.#sources.catalog(catalog);
    return found?.describeTable(name, { namespacePath: [...namespacePath], signal });
  }
}

/** A name as it is written where it is asked for. */
function writtenAs(what: Naming['what'], name: string): string {
  if (what.kind === 'column') return what.isSql ? sqlName(name) : name;
  if (what.kind === 'sqlColumn') return queryName(name);
  if (what.kind !== 'sqlTable') return name;
  return what.isPath ? `"${[...what.namespacePath, name].join('/').replaceAll('"', '""')}"` : queryName(name);
}

/** Words of SQL that are common as names, and can't stand there without quotes. */
const reserved: ReadonlySet<string> = new Set(
  'all and as between by case check default delete desc distinct exists from group having in index insert into is join limit not null on or order select set table then to union unique update using values when where'.split(
    ' ',
  ),
);

/** A name in a query of SQLite. */
const queryName = (name: string): string =>
  /^[a-z_]\w*$/i.test(name) && !reserved.has(name.toLowerCase()) ? name : `"${name.replaceAll('"', '""')}"`;

/** A column in SQL: in backticks unless it is a plain word. */
const sqlName = (name: string): string => (/^[a-z_]\w*$/i.test(name) ? name : `\`${name.replaceAll('`', '``')}\``);

/** A name within a string of TypeScript. */
function escaped(name: string, quote: string): string {
  if (quote === '') return name;
  const text = name.replaceAll('\\', '\\\\').replaceAll(quote, `\\${quote}`).replaceAll('\n', '\\n');
  return quote === '`' ? text.replaceAll('${', '\\${') : text;
}
