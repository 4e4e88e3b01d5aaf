import { writeSqlTable } from '#catalog/names/sqlNames.ts';
import type { Ordering } from '#catalog/query/querySpec.ts';
import { quotedName, quotedText } from '#shared/sqlTokens.ts';
import { CatalogError } from '#shared/errors.ts';
import { parseFieldPath } from '#shared/fieldPath.ts';
import { stringLiteral } from '#shared/literals.ts';
import { displayPath } from '#shared/names.ts';
import { distanceColumn } from '#shared/vectorTypes.ts';
import { type ChangesOfTables, changesSql, changesTypescript } from './changesCode.ts';
import { changesPython } from './changesPython.ts';
import { type NearestSpec, refineFactorOf, vectorCode, vectorsOf } from './nearestSpec.ts';
import { viewFilterSql } from './viewFilterSql.ts';
import type { ViewOfTable } from './tableRows.ts';
import { pythonCode, type PythonCatalog } from './viewPython.ts';

export type CodeLanguage = 'typescript' | 'sql' | 'python';

/**
 * Returns code that reads the rows of a view, or the differences between two tables: TypeScript for a cell, SQL for a `%%sql` cell or a SQL file, or Python.
 * Names and values are data, also if they contain quotes, `${` or line breaks.
 * @param catalog how Python opens the catalog; the code has no secrets
 * @throws CatalogError Unsupported (0) if the language can't express the view
 */
export function viewCode(language: CodeLanguage, view: ViewOfTable | ChangesOfTables, catalog: PythonCatalog): string {
  const isComparison = 'before' in view;
  switch (language) {
    case 'typescript':
      return isComparison ? changesTypescript(view) : typescriptCode(view);
    case 'sql':
      return isComparison ? changesSql(view) : sqlCode(view);
    case 'python':
      return isComparison ? changesPython(view, catalog) : pythonCode(view, catalog);
  }
}

function typescriptCode(view: ViewOfTable): string {
  const { namespacePath, name, version, where, nearest, columns } = view;
  const orderBy = nearest ? distanceOrder(view, 'TypeScript') : view.orderBy;
  const options = [
    ...(namespacePath.length > 0 ? [`namespacePath: ${stringList(namespacePath)}`] : []),
    ...(version === undefined ? [] : [`version: ${version}`]),
  ];
  const given = options.length > 0 ? `, { ${options.join(', ')} }` : '';
  const steps = [
    ...(nearest ? [nearestStep(nearest)] : []),
    ...(where === undefined ? [] : [`.where(${stringLiteral(where)})`]),
    ...(orderBy && orderBy.length > 0 ? [`.orderBy([${orderBy.map(orderingCode).join(', ')}])`] : []),
    ...(columns ? [`.select(${stringList(columns)})`] : []),
    ...limitOf(view).map((rows) => `.limit(${rows})`),
  ];
  const query = steps.length > 1 ? ['table', '.query()', ...steps].join('\n  ') : `table.query()${steps.join('')}`;
  return `const table = await db.openTable(${stringLiteral(name)}${given});\n${query}`;
}

/** Returns the maximum number of rows, as a list of one number or none. */
const limitOf = ({ nearest, limit }: ViewOfTable): number[] => {
  const rows = Math.min(nearest?.k ?? Infinity, limit ?? Infinity);
  return rows === Infinity ? [] : [rows];
};

function nearestStep(nearest: NearestSpec): string {
  const { column, distanceType, useIndex, k } = nearest;
  const options = [
    `column: ${stringLiteral(column)}`,
    ...(distanceType ? [`distanceType: ${stringLiteral(distanceType)}`] : []),
    useIndex === false ? 'bypassVectorIndex: true' : `refineFactor: ${refineFactorOf(k)}`,
  ];
  return `.nearestTo(${vectorCode(nearest)}, { ${options.join(', ')} })`;
}

/**
 * Returns the order of a search that code can leave out, because the engine returns the rows in it.
 * @throws CatalogError Unsupported (0) for other orders, which a query has not
 */
function distanceOrder({ namespacePath, name, orderBy = [] }: ViewOfTable, language: string): [] {
  const [first] = orderBy;
  if (!first || (first.column === distanceColumn && first.descending !== true)) return [];
  const what = `Can't write the view of "${displayPath(namespacePath, name)}" as ${language}: a search returns its rows in the order of their distance.`;
  throw new CatalogError('Unsupported', what, 'Copy the view as SQL, or clear the sort.');
}

const stringList = (items: readonly string[]): string => `[${items.map(stringLiteral).join(', ')}]`;

function orderingCode({ column, descending = false, nullsFirst = false }: Ordering): string {
  const flags = `${descending ? ', descending: true' : ''}${nullsFirst ? ', nullsFirst: true' : ''}`;
  return `{ column: ${stringLiteral(column)}${flags} }`;
}

function sqlCode(view: ViewOfTable): string {
  const { namespacePath, name, version, where, orderBy, nearest, columns, limit, allColumns } = view;
  const table = writeSqlTable([...namespacePath, name]);
  const source = version === undefined ? table : `version(${quotedText(table)}, ${version})`;
  const order = nearest && !orderBy?.some(({ column }) => column === distanceColumn) ? byDistance : [];
  const lines = [
    `select ${columns ? columns.map(selectedColumn).join(', ') : '*'}`,
    `from ${nearest ? nearestSql(view, nearest) : source}`,
    ...(where === undefined || nearest ? [] : [`where ${viewFilterSql(where, allColumns)}`]),
    ...sqlOrder([...(orderBy ?? []), ...order]),
    ...(limit === undefined ? [] : [`limit ${limit}`]),
  ];
  const sql = lines.join('\n');
  // In a cell, `${…}` is a value of the notebook. Strings are written without it, but names have no other form.
  if (!sql.includes('${')) return sql;
  const what = `Can't write the view of "${displayPath(namespacePath, name)}" as SQL: a name contains \${, and in a cell \${…} is a value.`;
  throw new CatalogError('Unsupported', what, 'Copy the view as TypeScript.');
}

/** Rows with equal values are in the order of their distance. */
const byDistance: readonly Ordering[] = [{ column: distanceColumn }];

const sqlOrder = (orderBy: readonly Ordering[]): string[] =>
  orderBy.length > 0 ? [`order by ${orderBy.map(sqlOrdering).join(', ')}`] : [];

/** @throws CatalogError Unsupported (0) for a search by several vectors */
function nearestSql({ namespacePath, name, version, where }: ViewOfTable, nearest: NearestSpec): string {
  const { column, k, distanceType, useIndex } = nearest;
  const table = writeSqlTable([...namespacePath, name]);
  if (vectorsOf(nearest).length > 1) {
    const what = `Can't write the view of "${displayPath(namespacePath, name)}" as SQL: it searches by several vectors.`;
    throw new CatalogError('Unsupported', what, 'Copy the view as TypeScript.');
  }
  const given = [
    `k := ${k}`,
    `vector_column := ${constantText(column)}`,
    ...(distanceType ? [`distance_type := ${quotedText(distanceType)}`] : []),
    ...(where === undefined ? [] : [`filter := ${constantText(where)}`]),
    useIndex === false ? 'use_index := false' : `refine_factor := ${refineFactorOf(k)}`,
    ...(version === undefined ? [] : [`table_version := ${version}`]),
  ];
  return `nearest(${constantText(table)}, ${vectorCode(nearest)}, ${given.join(', ')})`;
}

/** A string without `${`, which would be a value of the notebook in a `%%sql` cell. */
const constantText = (text: string): string => quotedText(text).replaceAll('${', () => "$' || '{");

/** A name with a dot is the path of a nested field. */
const columnPath = (column: string): string => (parseFieldPath(column) ?? [column]).map(quotedName).join('.');

const selectedColumn = (column: string): string =>
  column.includes('.') ? `${columnPath(column)} as ${quotedName(column)}` : quotedName(column);

const sqlOrdering = ({ column, descending = false, nullsFirst = false }: Ordering): string =>
  `${columnPath(column)}${descending ? ' desc' : ''} nulls ${nullsFirst ? 'first' : 'last'}`;
