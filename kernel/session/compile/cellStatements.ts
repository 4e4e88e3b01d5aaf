import ts from 'typescript-6';
import { isAmbient, isDefaultExport, isExportModifier } from './cellNames.ts';
import { namelessDefault } from './generatedNames.ts';

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

/** A declaration that stays one: without its export, and with a name. @param written as it stands in the cell */
export function keptDeclaration(
  visited: ts.FunctionDeclaration | ts.ClassDeclaration | ts.EnumDeclaration,
  written: ts.Statement,
): ts.Statement {
  const modifiers = visited.modifiers?.filter((each) => !isExportModifier(each));
  if (ts.isEnumDeclaration(visited))
    return factory.updateEnumDeclaration(visited, modifiers, visited.name, visited.members);
  const nameless = isDefaultExport(written) ? factory.createIdentifier(namelessDefault) : undefined;
  const name = visited.name ?? nameless;
  const { typeParameters } = visited;
  if (ts.isClassDeclaration(visited)) {
    const { heritageClauses, members } = visited;
    return factory.updateClassDeclaration(visited, modifiers, name, typeParameters, heritageClauses, members);
  }
  const { asteriskToken, parameters, type, body } = visited;
  return factory.updateFunctionDeclaration(
    visited,
    modifiers,
    asteriskToken,
    name,
    typeParameters,
    parameters,
    type,
    body,
  );
}

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
