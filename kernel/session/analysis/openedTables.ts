import ts from 'typescript-6';
import type { NamedTable } from '#shared/catalogConfig.ts';
import type { TablePath } from '#shared/protocol/languageMessages.ts';
import { type FindSource, namedTable } from './tableSource.ts';

/** A table of `db` that cells open by its name. */
export type OpenedTable = TablePath & {
  /** Columns that cells add: they may not exist before the cells run. */
  added: string[];
  /** Columns that cells change, so that their types may differ after the cells have run. */
  changed: string[];
};

/**
 * Methods that give a name to a table, with the index of the argument that holds the name. The columns of such a table
 * may change.
 */
const creating: Readonly<Record<string, number>> = {
  createTable: 0,
  createEmptyTable: 0,
  declareTable: 0,
  registerTable: 0,
  renameTable: 1,
};
/** Methods of a table that add columns (`adding`) or change them (`changing`). */
const adding = new Set(['addColumns', 'backfill', 'backfillColumn']);
const changing = new Set(['alterColumns']);
/** Properties that hold the name of a column in the arguments of these methods. */
const columnProperties = new Set(['name', 'path', 'rename']);

/** Maximum number of tables whose types are requested for one notebook. */
const maxTables = 50;

type Change = { kind: 'added' | 'changed'; columns: string[] | undefined; table: ts.Expression };
type FoundCalls = { opened: NamedTable[]; created: string[]; changes: Change[]; isAssigned: boolean };

/** The calls found in each parsed cell. A parsed cell stays the same object until the cell is edited. */
const known = new WeakMap<ts.SourceFile, FoundCalls>();

/**
 * Returns the tables that cells open in `db` by literal names, each once. A table is left out if the cells may change
 * its columns in a way that the code does not show. No table is returned if cells assign another catalog to `db`.
 * @param find resolves the variables of tables
 */
export function findOpenedTables(cells: readonly ts.SourceFile[], find: FindSource): OpenedTable[] {
  const calls = cells.map(callsIn);
  if (calls.some(({ isAssigned }) => isAssigned)) return [];
  const created = new Set(calls.flatMap((one) => one.created));
  const opened = new Map<string, OpenedTable | undefined>();
  for (const { name, namespacePath } of calls.flatMap((one) => one.opened)) {
    if (created.has(name)) continue;
    opened.set(keyOf({ name, namespacePath }), { name, namespacePath, added: [], changed: [] });
    if (opened.size === maxTables) break;
  }
  if (opened.size === 0) return [];
  for (const { kind, columns, table } of calls.flatMap(({ changes }) => changes)) {
    const source = find(table);
    const isNamed = source && 'name' in source;
    if (isNamed && source.catalog !== 'db') continue;
    // If the code does not name the changed table, the change may concern any table.
    for (const key of isNamed ? [keyOf(source)] : opened.keys()) {
      const changed = opened.get(key);
      if (!changed) continue;
      if (columns) changed[kind].push(...columns);
      else opened.set(key, undefined);
    }
  }
  return [...opened.values()].filter((table) => table !== undefined);
}

export const keyOf = ({ name, namespacePath }: TablePath): string => JSON.stringify([...namespacePath, name]);

function callsIn(cell: ts.SourceFile): FoundCalls {
  const before = known.get(cell);
  if (before) return before;
  const found: FoundCalls = { opened: [], created: [], changes: [], isAssigned: false };
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression))
      addCall(node, node.expression, found);
    else if (isAssignmentToDb(node)) found.isAssigned = true;
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(cell, visit);
  known.set(cell, found);
  return found;
}

function addCall(call: ts.CallExpression, { name, expression }: ts.PropertyAccessExpression, found: FoundCalls): void {
  const method = name.text;
  const [first] = call.arguments;
  if (method === 'openTable') {
    const isDb = ts.isIdentifier(expression) && expression.text === 'db';
    const opened = isDb && first && ts.isStringLiteralLike(first) ? namedTable('db', first.text, call) : undefined;
    if (opened) found.opened.push(opened);
  } else if (Object.hasOwn(creating, method)) {
    const created = call.arguments[creating[method] ?? 0];
    found.created.push(...(created ? (columnNames(created) ?? []) : []));
  } else if (adding.has(method) || changing.has(method)) {
    const columns = first ? columnNames(first) : [];
    found.changes.push({ kind: adding.has(method) ? 'added' : 'changed', columns, table: expression });
  }
}

/** Returns the names in an argument such as `'a'` or `[{ name: 'a' }]`; undefined if not all are literals. */
function columnNames(argument: ts.Expression): string[] | undefined {
  if (ts.isStringLiteralLike(argument)) return [argument.text];
  if (ts.isArrayLiteralExpression(argument)) return joined(argument.elements.map(columnNames));
  if (ts.isNewExpression(argument)) return argument.arguments?.[0] ? columnNames(argument.arguments[0]) : undefined;
  if (!ts.isObjectLiteralExpression(argument)) return undefined;
  return joined(
    argument.properties.map((property) => {
      const name = property.name && ts.isIdentifier(property.name) ? property.name.text : undefined;
      if (name === undefined || !ts.isPropertyAssignment(property)) return undefined;
      if (name === 'computed') return columnNames(property.initializer);
      if (!columnProperties.has(name)) return [];
      const names = columnNames(property.initializer);
      // The path of a struct's field begins with the name of the column.
      return name === 'path' ? names?.map((path) => path.split('.')[0] ?? path) : names;
    }),
  );
}

const joined = (lists: readonly (string[] | undefined)[]): string[] | undefined =>
  lists.every((list) => list !== undefined) ? lists.flat() : undefined;

/** Whether a node is `db = …`, also within a pattern such as `({ db } = …)`. */
function isAssignmentToDb(node: ts.Node): boolean {
  if (!ts.isBinaryExpression(node)) return false;
  const { kind } = node.operatorToken;
  if (kind < ts.SyntaxKind.FirstAssignment || kind > ts.SyntaxKind.LastAssignment) return false;
  return /^db$|^[({[].*\bdb\b/s.test(node.left.getText());
}
