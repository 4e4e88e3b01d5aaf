import type { RecordBatch } from '#arrow';
import type { Catalog } from '#catalog/catalog.ts';
import { writeSqlTable } from '#catalog/names/sqlNames.ts';
import { checkChoice } from '#catalog/arguments/options.ts';
import type { Query } from '#catalog/query/query.ts';
import { plainName, tokensOf } from '#shared/sqlTokens.ts';
import type { Table } from '#catalog/table/table.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { namesText } from '#shared/format/markup.ts';
import { nearestName } from '#shared/names.ts';
import { nextSteps, nextStepIn } from '#shared/nextSteps.ts';
import { definedEntries } from '#shared/records.ts';
import { distanceTypes } from '#shared/vectorTypes.ts';
import type { TableName } from './messages.ts';
import { hintsFor, type SqlCaller } from './sqlHints.ts';
import type { SqlTable, SqlTables } from './sqlTable.ts';
import { writtenName } from './statement.ts';

/** Where the tables of a query are. */
export type CatalogTablesOptions = {
  /** The default catalog. A name that it has is never looked up elsewhere. */
  catalog: Catalog;
  /** Returns the catalog with this name, as in `company.shop.orders` or `company.orders`. */
  otherCatalog?: ((name: string, signal: AbortSignal) => Promise<Catalog | undefined>) | undefined;
  /** Returns the names that `otherCatalog` knows, for messages. */
  otherCatalogNames?: ((signal: AbortSignal) => Promise<readonly string[]>) | undefined;
  caller?: SqlCaller | undefined;
};

/** A table's place in a catalog. */
export type TablePlace = { catalog: Catalog; namespacePath: string[]; name: string };

/** Number of names read, and of names listed, if a table is not found. */
const maxNames = { read: 500, listed: 8 };

/** Finds the tables of queries in catalogs: `products`, `shop.products`, `"shop/eu".orders` or `"shop/eu/orders"`. */
export function catalogTables(options: CatalogTablesOptions): SqlTables {
  const open = async (name: TableName, signal: AbortSignal, version?: number): Promise<Table> => {
    const { catalog, namespacePath, name: table } = await locate(options, name, signal);
    return catalog.openTable(table, { namespacePath, version, signal });
  };
  return {
    find: async (name, signal) => wholeTable(name.name, await open(name, signal), signal),
    atVersion: async (name, version, signal) =>
      wholeTable(`${name} (version ${version})`, await open(parseName(name), signal, version), signal),
    nearest: async (name, { vector, k, column, distanceType, filter, useIndex, refineFactor, version }, signal) => {
      const table = await open(parseName(name), signal, version);
      const measured = checkChoice('nearest', 'distance_type', distanceType, distanceTypes);
      const search = table.query().nearestTo(vector, {
        ...definedEntries({ column, distanceType: measured, refineFactor }),
        ...(useIndex === false && { bypassVectorIndex: true }),
      });
      return foundRows(name, (filter === undefined ? search : search.where(filter)).limit(k), signal);
    },
    search: async (name, text, k, signal) => {
      const table = await open(parseName(name), signal);
      return foundRows(name, table.query().fullTextSearch(text).limit(k), signal);
    },
  };
}

/**
 * Parses the name of a table in a string, with the quotes that a query has: `shop.products` or `"shop/eu".orders`.
 * @throws CatalogError InvalidInput (13) if the string is not a name
 */
export function parseName(text: string): TableName {
  const tokens = tokensOf(text);
  const parts = tokens.filter((_, index) => index % 2 === 0).map(plainName);
  const isName =
    parts.length > 0 &&
    parts.length <= 3 &&
    tokens.length === parts.length * 2 - 1 &&
    parts.every((part) => part !== undefined) &&
    tokens.every((token, index) => index % 2 === 0 || token.text === '.');
  // A name with other characters, such as "shop/eu/orders", stands for itself.
  const [name = text, schema = '', catalog = ''] = isName ? parts.toReversed() : [];
  return { catalog, schema, name };
}

async function wholeTable(name: string, table: Table, signal: AbortSignal): Promise<SqlTable> {
  const [schema, rows] = await Promise.all([table.schema({ signal }), table.countRows(undefined, { signal })]);
  return {
    name,
    schema,
    rows,
    scan({ columns, filter, limit }, scanSignal) {
      // Tables take seconds to select thousands of columns by name, but not to read all of them.
      const isWhole = columns.length === schema.fields.length;
      const all = isWhole ? table.query() : table.query().select([...columns]);
      const limited = limit === undefined ? all : all.limit(limit);
      if (filter === undefined) return batchesOf(limited, scanSignal);
      return filteredBatches(limited.where(filter), limited, scanSignal);
    },
  };
}

/** The rows of a search. Their order and their number come from the search, so it has no filter. */
async function foundRows(name: string, query: Query, signal: AbortSignal): Promise<SqlTable> {
  return {
    name,
    schema: await query.outputSchema({ signal }),
    rows: undefined,
    // The query selects no columns, because a search gives `_distance` and `_score` only with all columns everywhere.
    scan: (_, scanSignal) => batchesOf(query, scanSignal),
  };
}

async function* batchesOf(query: Query, signal: AbortSignal): AsyncGenerator<RecordBatch> {
  yield* (await query.execute({ signal })).batches;
}

async function* filteredBatches(filtered: Query, all: Query, signal: AbortSignal): AsyncGenerator<RecordBatch> {
  let isBegun = false;
  try {
    for await (const batch of batchesOf(filtered, signal)) {
      isBegun = true;
      yield batch;
    }
  } catch (error) {
    // The table rejected the filter: a server may support less SQL than our own engine. Then all rows are read.
    if (isBegun || !isCatalogError(error, 'InvalidInput')) throw error;
    yield* batchesOf(all, signal);
  }
}

/**
 * Finds the place of the table for a name in SQL.
 * @throws CatalogError TableNotFound (4) naming existing tables and catalogs
 */
async function locate(options: CatalogTablesOptions, name: TableName, signal: AbortSignal): Promise<TablePlace> {
  for await (const place of candidates(options, name, signal))
    if ((await hasNamespace(place, signal)) && (await hasTable(place, signal))) return place;
  throw await notFound(options, name, signal);
}

/** Returns the place of an existing table. @throws CatalogError TableNotFound (4) */
export const findTablePlace = locate;

/**
 * Returns where a statement creates a table. The namespace must exist.
 * @throws CatalogError NamespaceNotFound (1) if the first two of three names are not a namespace anywhere
 */
export async function newTablePlace(
  options: CatalogTablesOptions,
  name: TableName,
  signal: AbortSignal,
): Promise<TablePlace> {
  let first: TablePlace | undefined;
  for await (const place of candidates(options, name, signal)) {
    // In a name such as "shop/orders", the slash separates the namespace.
    if (name.schema === '' && place.name.includes('/')) continue;
    if (await hasNamespace(place, signal)) return place;
    first ??= place;
  }
  if (first && name.catalog === '') return first;
  throw new CatalogError(
    'NamespaceNotFound',
    `Can't create the table ${writtenName(name)}: there is no namespace ${name.catalog}/${name.schema}, and no other catalog ${name.catalog} with a namespace ${name.schema}.`,
    (await catalogsHint(options, name, signal)) || 'Check the name.',
  );
}

// If the namespace is missing, there is no such table.
const hasNamespace = async ({ catalog, namespacePath }: TablePlace, signal: AbortSignal): Promise<boolean> =>
  namespacePath.length === 0 || catalog.namespaceExists(namespacePath, { signal });

const hasTable = ({ catalog, name, namespacePath }: TablePlace, signal: AbortSignal): Promise<boolean> =>
  catalog.tableExists(name, { namespacePath, signal });

/**
 * Returns the interpretations of a name, the most important first: a namespace of the default catalog comes before
 * another catalog with the same name. Slashes in a quoted name separate namespaces.
 */
async function* candidates(
  options: CatalogTablesOptions,
  { catalog: first, schema, name }: TableName,
  signal: AbortSignal,
): AsyncGenerator<TablePlace, void, undefined> {
  const { catalog: db, otherCatalog } = options;
  const path = pathOf(schema);
  const holder = first === '' ? schema : first;
  // Without a default catalog, as in a notebook for which none is chosen, other catalogs can still be queried.
  const isDefaultOpen = holder === '' || db.isOpen();
  if (path && isDefaultOpen) {
    const parents = first === '' ? [] : pathOf(first);
    if (parents) yield { catalog: db, namespacePath: [...parents, ...path], name };
  }
  const other = holder === '' ? undefined : await otherCatalog?.(holder, signal);
  const below = first === '' ? [] : path;
  if (other && below) yield { catalog: other, namespacePath: below, name };
  // The error of the default catalog says how to choose one.
  if (!other && path && !isDefaultOpen) yield { catalog: db, namespacePath: path, name };
  const [table = '', ...parents] = name.split('/').toReversed();
  if (schema === '' && table !== '' && parents.length > 0 && parents.every((part) => part !== ''))
    yield { catalog: db, namespacePath: parents.toReversed(), name: table };
}

/** Returns the namespace that a schema names; undefined if a part of its path is empty. */
function pathOf(schema: string): string[] | undefined {
  if (schema === '' || schema.toLowerCase() === 'main') return [];
  const path = schema.split('/');
  return path.every((part) => part !== '') ? path : undefined;
}

async function notFound(options: CatalogTablesOptions, name: TableName, signal: AbortSignal): Promise<CatalogError> {
  let nearest: TablePlace | undefined;
  for await (const place of candidates(options, name, signal)) {
    nearest = place;
    if (place.namespacePath.length > 0 && (await hasNamespace(place, signal))) break;
  }
  const catalog = nearest?.catalog ?? options.catalog;
  const hints = [await tablesHint(options, nearest, signal), await catalogsHint(options, name, signal)];
  return new CatalogError(
    'TableNotFound',
    `There is no table ${writtenName(name)} in ${catalog.location || 'the catalog'}.`,
    hints.filter((hint) => hint !== '').join(' '),
  );
}

/** Names tables and namespaces beside the missing table, or in the root if its namespace is missing, too. */
async function tablesHint(
  { catalog, caller }: CatalogTablesOptions,
  place: TablePlace | undefined,
  signal: AbortSignal,
): Promise<string> {
  const { catalog: searched, namespacePath } = place ?? { catalog, namespacePath: [] };
  for (const path of namespacePath.length > 0 ? [namespacePath, []] : [[]])
    try {
      const [{ tables }, { namespaces }] = await Promise.all([
        searched.listTables(path, { limit: maxNames.read, signal }),
        searched.listNamespaces(path, { limit: maxNames.read, signal }),
      ]);
      if (place && tables.includes(place.name)) return stepOf(nextSteps.listedWithoutData, caller);
      const meant = place && nearestName(place.name, tables);
      if (meant !== undefined)
        return `Did you mean ${searched === catalog ? writeSqlTable([...path, meant]) : `the table ${meant} there`}?`;
      const found = [...listed('table', tables), ...listed('namespace', namespaces)].join(' and ');
      const where = path.length === 0 ? 'The catalog' : `The namespace ${path.join('/')}`;
      if (found !== '') return `${where} has ${found}. Write a table in nested namespaces as "shop/eu".orders.`;
    } catch {
      // If the names can't be listed, there are no suggestions.
    }
  return hintsFor(caller).listTables;
}

const stepOf = (step: string, caller: SqlCaller | undefined): string =>
  caller === 'terminal' ? nextStepIn('terminal', step) : caller === 'file' ? nextStepIn('editor', step) : step;

async function catalogsHint(
  { otherCatalog, otherCatalogNames }: CatalogTablesOptions,
  { catalog, schema }: TableName,
  signal: AbortSignal,
): Promise<string> {
  const holder = catalog === '' ? schema : catalog;
  if (holder === '' || !otherCatalogNames) return '';
  if (await otherCatalog?.(holder, signal)) return '';
  const names = await otherCatalogNames(signal);
  return names.length === 0 ? '' : `Other catalogs are ${namesText(names.slice(0, maxNames.listed))}.`;
}

/** Returns `the tables a, b`; nothing if there are none. */
function listed(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > maxNames.listed ? ', …' : '';
  return [`the ${what}${names.length === 1 ? '' : 's'} ${names.slice(0, maxNames.listed).join(', ')}${more}`];
}
