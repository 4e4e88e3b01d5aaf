import ts from 'typescript-6';
import type { NamedTable, Naming } from '#shared/catalogConfig.ts';
import { namedTable, stringsOf, type FindSource } from './tableSource.ts';

/** Catalog methods whose first argument is an existing table. */
const ofTables = new Set([
  'openTable',
  'dropTable',
  'describeTable',
  'tableExists',
  'isOnlyDeclared',
  'deregisterTable',
  'renameTable',
]);
/** The methods of `ofTables` that take a namespace as the second argument. */
const ofTablesInNamespaces = new Set([...ofTables].filter((method) => method !== 'renameTable'));
/** Methods whose first argument is the path of a table or a namespace. */
const ofPaths = new Set(['copy', 'export']);
/** Methods whose first argument is a namespace path. */
const ofNamespaces = new Set([
  'listTables',
  'tableNames',
  'listNamespaces',
  'createNamespace',
  'describeNamespace',
  'namespaceExists',
  'dropNamespace',
]);
/** Methods that take a namespace after the table name. */
const inNamespaces = new Set([...ofTables, 'createTable', 'createEmptyTable', 'declareTable', 'registerTable']);

/** Methods of tables and queries whose first argument names columns, alone or in SQL. */
const ofColumns = new Set(['select', 'orderBy', 'createIndex', 'dropColumns', 'mergeInsert', 'backfillColumn']);
const ofFilters = new Set(['where', 'countRows', 'delete']);
/** Options that name columns, alone or in SQL. */
const columnOptions = new Set(['column', 'columns', 'path']);
const filterOptions = new Set(['where', 'filter', 'predicate']);

type Literal = ts.StringLiteral | ts.NoSubstitutionTemplateLiteral;
type Call = { call: ts.CallExpression; method: string; receiver: ts.Expression };

/**
 * Returns what the string at a position names in a catalog, if anything.
 * Recognizes `openTable('…`, `namespacePath: ['…`, `.where('…` by the syntax; `find` resolves the variables that hold
 * tables.
 * @param source a parsed file whose nodes have their parents set
 */
export function namingAt(source: ts.SourceFile, offset: number, find: FindSource): Naming | undefined {
  const literal = literalAt(source, offset);
  if (!literal) return undefined;
  const what = whatOf(literal, find);
  if (!what) return undefined;
  const text = source.text;
  const quote = text[literal.getStart(source)];
  if (quote !== '"' && quote !== "'" && quote !== '`') return undefined;
  const begin = literal.getStart(source) + 1;
  const isOpen = literal.isUnterminated === true || literal.getEnd() <= begin || text[literal.getEnd() - 1] !== quote;
  // An unterminated string extends to the end of the line; the name ends with the word at the cursor.
  const end = isOpen ? offset + (/^[\w$]*/.exec(text.slice(offset))?.[0].length ?? 0) : literal.getEnd() - 1;
  if (what.kind === 'anyTable')
    return { start: begin, end: isOpen ? end : end + 1, quote, what: { ...what, isClosed: !isOpen } };
  if (what.kind !== 'column' || !what.isSql) return { start: begin, end, quote, what };
  const word = sqlWord(text.slice(begin, offset), text.slice(offset, end));
  return word && { start: offset - word.before, end: offset + word.after, quote, what };
}

function literalAt(source: ts.SourceFile, offset: number): Literal | undefined {
  const visit = (node: ts.Node): Literal | undefined => {
    if (offset <= node.getStart(source) || offset > node.getEnd()) return undefined;
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
      const isBehind = offset === node.getEnd() && node.getEnd() - node.getStart(source) > 1;
      const closed = (node as { isUnterminated?: boolean }).isUnterminated !== true;
      return isBehind && closed ? undefined : node;
    }
    return ts.forEachChild(node, visit);
  };
  return ts.forEachChild(source, visit);
}

function whatOf(literal: Literal, find: FindSource): Naming['what'] | undefined {
  const isListed = ts.isArrayLiteralExpression(literal.parent);
  const value: ts.Expression = ts.isArrayLiteralExpression(literal.parent) ? literal.parent : literal;
  const { parent } = value;
  const call = enclosingCall(value);
  if (!call) return undefined;
  const { method } = call;
  const before = isListed ? elementsBefore(literal) : undefined;
  if (ts.isPropertyAssignment(parent)) {
    const name = ts.isComputedPropertyName(parent.name) ? '' : parent.name.getText();
    if (name === 'namespacePath') return before && namespaceOf(call, before);
    if (columnOptions.has(name)) return columnOf(call, find, false);
    if (method === 'select' || filterOptions.has(name)) return columnOf(call, find, true);
    return undefined;
  }
  const position = call.call.arguments.indexOf(value);
  if (position < 0) return undefined;
  if (position > 0) return inNamespaces.has(method) && before ? namespaceOf(call, before) : undefined;
  if (ofNamespaces.has(method)) return before && namespaceOf(call, before);
  if (ofPaths.has(method) && before) return childOf(call, before);
  if (ofTables.has(method) && !isListed) return tableOf(call);
  if (ofColumns.has(method)) return columnOf(call, find, false);
  if (ofFilters.has(method) && !isListed) return columnOf(call, find, true);
  return undefined;
}

/** Finds the call whose arguments contain an expression, directly or within objects and lists. */
function enclosingCall(value: ts.Node): Call | undefined {
  let at: ts.Node = value.parent;
  while (ts.isPropertyAssignment(at) || ts.isObjectLiteralExpression(at) || ts.isArrayLiteralExpression(at))
    at = at.parent;
  if (!ts.isCallExpression(at) || !ts.isPropertyAccessExpression(at.expression)) return undefined;
  return { call: at, method: at.expression.name.text, receiver: at.expression.expression };
}

function tableOf({ call, method, receiver }: Call): Naming['what'] | undefined {
  const isAlone = call.arguments.length === 1 && ofTablesInNamespaces.has(method);
  if (isAlone && ts.isIdentifier(receiver)) return { kind: 'anyTable', catalog: receiver.text, isClosed: false };
  const table = ts.isIdentifier(receiver) ? namedTable(receiver.text, '', call) : undefined;
  return table && { kind: 'table', catalog: table.catalog, namespacePath: table.namespacePath };
}

const namespaceOf = ({ receiver }: Call, parent: readonly string[]): Naming['what'] | undefined =>
  ts.isIdentifier(receiver) ? { kind: 'namespace', catalog: receiver.text, parent } : undefined;

const childOf = ({ receiver }: Call, parent: readonly string[]): Naming['what'] | undefined =>
  ts.isIdentifier(receiver) ? { kind: 'child', catalog: receiver.text, parent } : undefined;

function columnOf({ receiver }: Call, find: FindSource, isSql: boolean): Naming['what'] | undefined {
  const table: NamedTable | { variable: string } | undefined = find(receiver);
  return table && { kind: 'column', table, isSql };
}

/** Returns the names before a list element; undefined if one of them is not a literal. */
function elementsBefore(literal: Literal): string[] | undefined {
  const list = literal.parent;
  return ts.isArrayLiteralExpression(list)
    ? stringsOf(list.elements.slice(0, list.elements.indexOf(literal)))
    : undefined;
}

/** Returns how much of the SQL around a position is the name being typed; undefined within an SQL string. */
function sqlWord(before: string, after: string): { before: number; after: number } | undefined {
  if ((before.replaceAll("\\'", "'").match(/'/g)?.length ?? 0) % 2 === 1) return undefined;
  const isQuoted = (before.replaceAll('\\`', '`').match(/`/g)?.length ?? 0) % 2 === 1;
  if (isQuoted) {
    const start = /\\?`[^`]*$/.exec(before)?.[0].length ?? 0;
    return { before: start, after: /^[^`\\]*\\?`/.exec(after)?.[0].length ?? 0 };
  }
  const start = /[\w$.]*$/.exec(before)?.[0] ?? '';
  // No column name starts with a digit or a dot.
  if (/^[\d.]/.test(start)) return undefined;
  return { before: start.length, after: /^[\w$]*/.exec(after)?.[0].length ?? 0 };
}
