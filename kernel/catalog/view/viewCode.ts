import { writeSqlTable } from '#catalog/names/sqlNames.ts';
import type { Ordering } from '#catalog/query/querySpec.ts';
import { quotedName, quotedText } from '#shared/sqlTokens.ts';
import { CatalogError } from '#shared/errors.ts';
import { stringLiteral } from '#shared/literals.ts';
import { displayPath } from '#shared/names.ts';
import { viewFilterSql } from './viewFilterSql.ts';
import type { ViewOfTable } from './tableRows.ts';
import { pythonCode, type PythonCatalog } from './viewPython.ts';

export const codeLanguages = ['typescript', 'sql', 'python'] as const;
export type CodeLanguage = (typeof codeLanguages)[number];

/**
 * Returns code that reads the rows of a view: TypeScript for a cell, SQL for a `%%sql` cell or a SQL file, or Python.
 * Names and values are data, also if they contain quotes, `${` or line breaks.
 * @param catalog how Python opens the catalog; the code has no secrets
 * @throws CatalogError Unsupported (0) if the language can't express the view
 */
export function viewCode(language: CodeLanguage, view: ViewOfTable, catalog: PythonCatalog): string {
  switch (language) {
    case 'typescript':
      return typescriptCode(view);
    case 'sql':
      return sqlCode(view);
    case 'python':
      return pythonCode(view, catalog);
  }
}

function typescriptCode({ namespacePath, name, version, where, orderBy, columns, limit }: ViewOfTable): string {
  const options = [
    ...(namespacePath.length > 0 ? [`namespacePath: ${stringList(namespacePath)}`] : []),
    ...(version === undefined ? [] : [`version: ${version}`]),
  ];
  const given = options.length > 0 ? `, { ${options.join(', ')} }` : '';
  const steps = [
    ...(where === undefined ? [] : [`.where(${stringLiteral(where)})`]),
    ...(orderBy && orderBy.length > 0 ? [`.orderBy([${orderBy.map(orderingCode).join(', ')}])`] : []),
    ...(columns ? [`.select(${stringList(columns)})`] : []),
    ...(limit === undefined ? [] : [`.limit(${limit})`]),
  ];
  const query = steps.length > 1 ? ['table', '.query()', ...steps].join('\n  ') : `table.query()${steps.join('')}`;
  return `const table = await db.openTable(${stringLiteral(name)}${given});\n${query}`;
}

const stringList = (items: readonly string[]): string => `[${items.map(stringLiteral).join(', ')}]`;

function orderingCode({ column, descending = false, nullsFirst = false }: Ordering): string {
  const flags = `${descending ? ', descending: true' : ''}${nullsFirst ? ', nullsFirst: true' : ''}`;
  return `{ column: ${stringLiteral(column)}${flags} }`;
}

function sqlCode({ namespacePath, name, version, where, orderBy, columns, limit, allColumns }: ViewOfTable): string {
  const table = writeSqlTable([...namespacePath, name]);
  const lines = [
    `select ${columns ? columns.map(selectedColumn).join(', ') : '*'}`,
    `from ${version === undefined ? table : `version(${quotedText(table)}, ${version})`}`,
    ...(where === undefined ? [] : [`where ${viewFilterSql(where, allColumns)}`]),
    ...(orderBy && orderBy.length > 0 ? [`order by ${orderBy.map(sqlOrdering).join(', ')}`] : []),
    ...(limit === undefined ? [] : [`limit ${limit}`]),
  ];
  const sql = lines.join('\n');
  // In a cell, `${…}` is a value of the notebook. Strings are written without it, but names have no other form.
  if (!sql.includes('${')) return sql;
  const what = `Can't write the view of "${displayPath(namespacePath, name)}" as SQL: a name contains \${, and in a cell \${…} is a value.`;
  throw new CatalogError('Unsupported', what, 'Copy the view as TypeScript.');
}

/** A name with a dot is the path of a nested column. */
const columnPath = (column: string): string => column.split('.').map(quotedName).join('.');

const selectedColumn = (column: string): string =>
  column.includes('.') ? `${columnPath(column)} as ${quotedName(column)}` : quotedName(column);

const sqlOrdering = ({ column, descending = false, nullsFirst = false }: Ordering): string =>
  `${columnPath(column)}${descending ? ' desc' : ''} nulls ${nullsFirst ? 'first' : 'last'}`;
