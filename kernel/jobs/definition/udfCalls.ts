import ts from 'typescript-6';
import { bareExpression } from './literals.ts';

// Finds the functions of a file: calls of `udf` that are exported or are top-level constants.

type FoundCall = {
  readonly call: ts.CallExpression;
  /** Name of the constant; undefined if the export is the call itself. */
  readonly local: string | undefined;
};

/** Finds the `udf` call of an export, directly or through a constant of the file. */
export function exportedCall(file: ts.SourceFile, name: string): FoundCall | undefined {
  for (const statement of file.statements) {
    if (name === 'default' && ts.isExportAssignment(statement) && !statement.isExportEquals) {
      const { expression } = statement;
      return ts.isIdentifier(expression) ? constantCall(file, expression.text) : exportedAs(expression);
    }
    if (ts.isVariableStatement(statement) && isExported(statement) && declared(statement, name))
      return constantCall(file, name);
    if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier || !statement.exportClause) continue;
    if (!ts.isNamedExports(statement.exportClause)) continue;
    const each = statement.exportClause.elements.find((element) => element.name.text === name);
    const local = each && (each.propertyName ?? each.name);
    if (local) return constantCall(file, local.text);
  }
  return undefined;
}

function exportedAs(expression: ts.Expression): FoundCall | undefined {
  const call = callOf(expression);
  return call && { call, local: undefined };
}

function constantCall(file: ts.SourceFile, local: string): FoundCall | undefined {
  for (const statement of file.statements) {
    const found = ts.isVariableStatement(statement) ? declared(statement, local) : undefined;
    const call = found?.initializer && callOf(found.initializer);
    if (call) return { call, local };
  }
  return undefined;
}

const isExported = (statement: ts.VariableStatement): boolean =>
  statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) ?? false;

const declared = (statement: ts.VariableStatement, name: string): ts.VariableDeclaration | undefined =>
  statement.declarationList.declarations.find((each) => ts.isIdentifier(each.name) && each.name.text === name);

function callOf(expression: ts.Expression): ts.CallExpression | undefined {
  const bare = bareExpression(expression);
  return ts.isCallExpression(bare) && isUdf(bare.expression) ? bare : undefined;
}

/** Matches `udf` and members of that name such as `catalog.udf`. */
export const isUdf = (callee: ts.Expression): boolean =>
  (ts.isIdentifier(callee) && callee.text === 'udf') ||
  (ts.isPropertyAccessExpression(callee) && callee.name.text === 'udf');

/** Finds the `udf` call whose options have this name. */
export function namedCall(file: ts.SourceFile, name: string): FoundCall | undefined {
  const all = file.statements.flatMap((statement): (FoundCall | undefined)[] => {
    if (ts.isExportAssignment(statement)) return [exportedAs(statement.expression)];
    if (!ts.isVariableStatement(statement)) return [];
    return statement.declarationList.declarations.map((each) =>
      ts.isIdentifier(each.name) ? constantCall(file, each.name.text) : undefined,
    );
  });
  return all.find((found) => found && nameOf(found.call) === name);
}

function nameOf({ arguments: [options] }: ts.CallExpression): string | undefined {
  if (!options || !ts.isObjectLiteralExpression(options)) return undefined;
  for (const each of options.properties) {
    if (!ts.isPropertyAssignment(each) || !ts.isIdentifier(each.name) || each.name.text !== 'name') continue;
    return ts.isStringLiteralLike(each.initializer) ? each.initializer.text : undefined;
  }
  return undefined;
}
