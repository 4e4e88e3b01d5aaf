import ts from 'typescript-6';
import { isAmbient, isDefaultExport } from './cellNames.ts';
import { namelessDefault } from './cellNodes.ts';

// Small questions about statements of a cell, and small statements that stand for them.

const factory = ts.factory;

/** `f = () => 1`, which names the function. */
export const isNaming = (node: ts.Node): node is ts.BinaryExpression & { left: ts.Identifier } =>
  ts.isBinaryExpression(node) && namingOperators.has(node.operatorToken.kind) && ts.isIdentifier(node.left);

const namingOperators: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.EqualsToken,
  ts.SyntaxKind.QuestionQuestionEqualsToken,
  ts.SyntaxKind.BarBarEqualsToken,
  ts.SyntaxKind.AmpersandAmpersandEqualsToken,
]);

/** A name for the function or class of `export default` that has none. */
export const nameless = (statement: ts.Node): ts.Identifier | undefined =>
  isDefaultExport(statement) ? factory.createIdentifier(namelessDefault) : undefined;

/** What `export … from` makes variables of, as pairs of the variable and the export. */
export function exportedPairs({ exportClause }: ts.ExportDeclaration): [string, string][] {
  if (!exportClause) return [];
  if (ts.isNamespaceExport(exportClause)) return [[exportClause.name.text, '*']];
  return exportClause.elements
    .filter((each) => !each.isTypeOnly)
    .map(({ name, propertyName }) => [name.text, (propertyName ?? name).text]);
}

export const isFunctionWithBody = (statement: ts.Statement): statement is ts.FunctionDeclaration =>
  ts.isFunctionDeclaration(statement) && statement.body !== undefined && !isAmbient(statement);

/** Statements that may follow the last expression without taking its value away. */
export const isSilent = (statement: ts.Statement): boolean =>
  ts.isEmptyStatement(statement) || (ts.isExportDeclaration(statement) && !statement.moduleSpecifier);
