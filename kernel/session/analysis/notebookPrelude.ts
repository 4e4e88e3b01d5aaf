import { prelude } from '#session/compile/prelude.ts';
import { propertyName, stringLiteral } from '#shared/literals.ts';
import type { TablePath, TypedTable } from '#shared/protocol/languageMessages.ts';
import { keyOf, type OpenedTable } from './openedTables.ts';

/** A table with the TypeScript types of its columns. */
export type RowColumns = TablePath & { columns: readonly { name: string; type: string; bigintType: string | null }[] };

const declaration = 'declare let db: import("lance-catalog").Catalog;';

/**
 * Returns the prelude of a notebook in which `db.openTable` returns tables with the types of their rows.
 *
 * Each known table becomes an overload of `openTable`, in addition to the overloads of `Catalog`. The overloads of
 * `Catalog` come first in hovers and completions, but TypeScript tries overloads with literal types first. A table at a
 * version, tag or branch may have other columns, so a call that opens such a table matches no overload of a known
 * table.
 */
export function notebookPrelude(tables: readonly RowColumns[]): string {
  if (tables.length === 0) return prelude;
  const typed = prelude.replace(declaration, () => `${declaration.slice(0, -1)} & NotebookTables;`);
  return `${typed}interface NotebookTables {\n${tables.map(overload).join('')}}\n`;
}

function overload({ name, namespacePath, columns }: RowColumns): string {
  const path = `readonly [${namespacePath.map(stringLiteral).join(', ')}]`;
  const isRoot = namespacePath.length === 0 ? '?' : '';
  const newest = 'signal?: AbortSignal | undefined; version?: undefined; tag?: undefined; branch?: undefined';
  const options = `{ namespacePath${isRoot}: ${path}; ${newest} }`;
  const row = rowText(columns.map((column) => [column.name, column.type]));
  const bigints = rowText(
    columns.flatMap((column) => (column.bigintType === null ? [] : [[column.name, column.bigintType]])),
  );
  const table = `import("lance-catalog").Table<${row}, ${bigints}>`;
  return `  /** Opens a table to read and write. */
  openTable(name: ${stringLiteral(name)}, namespacePath${isRoot}: ${path} | ${options}, options?: { ${newest} }): Promise<${table}>;\n`;
}

const rowText = (columns: readonly (readonly string[])[]): string =>
  columns.length === 0
    ? '{}'
    : `{ ${columns.map(([name = '', type = '']) => `${propertyName(name)}: ${type};`).join(' ')} }`;

/**
 * Returns the tables that cells open, with their known columns. Columns that the cells themselves add or change may
 * have any type, because their types are known only after the cells ran.
 */
export function withTableChanges(opened: readonly OpenedTable[], typed: readonly TypedTable[]): RowColumns[] {
  const known = new Map(typed.map((table) => [keyOf(table), table]));
  return opened.flatMap(({ added, changed, ...table }) => {
    const columns = known.get(keyOf(table))?.columns;
    if (!columns) return [];
    const names = new Set(columns.map(({ name }) => name));
    const isChanged = new Set(changed);
    const fresh = [...new Set([...added, ...changed])].filter((name) => !names.has(name));
    return [
      {
        ...table,
        columns: [
          ...columns.map((one) => (isChanged.has(one.name) ? anyColumn(one.name) : one)),
          ...fresh.map(anyColumn),
        ],
      },
    ];
  });
}

const anyColumn = (name: string) => ({ name, type: 'any', bigintType: null });
