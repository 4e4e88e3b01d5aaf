import ts from 'typescript-6';
import { boundNames, importedNames, isDisposed, namesOf } from '#session/compile/cellNames.ts';

/** How a variable of the notebook was declared. */
export type Declared =
  | { readonly kind: 'import'; readonly from: string; readonly imported: string }
  | { readonly kind: 'const' | 'let' | 'var' | 'function' | 'class' | 'enum' | 'other' };

/**
 * How the variables of a notebook were declared.
 * @param declarations of its cells, as the compiler keeps them; the last one of a name counts
 */
export function declaredVariables(declarations: string): ReadonlyMap<string, Declared> {
  const file = ts.createSourceFile('cells.d.ts', declarations, ts.ScriptTarget.Latest, false);
  const found = new Map<string, Declared>();
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) {
      const from = ts.isStringLiteral(statement.moduleSpecifier) ? statement.moduleSpecifier.text : '';
      for (const { local, imported } of importedNames(statement))
        found.set(local.text, { kind: 'import', from, imported });
    } else if (ts.isVariableStatement(statement)) {
      const list = statement.declarationList;
      const kind = isDisposed(list) ? 'other' : kindOf(list);
      for (const { name } of list.declarations) for (const each of boundNames(name)) found.set(each, { kind });
    } else
      for (const name of namesOf(statement))
        if (!isType(statement)) found.set(name, { kind: statementKind(statement) });
  }
  return found;
}

const kindOf = ({ flags }: ts.VariableDeclarationList): 'const' | 'let' | 'var' =>
  flags & ts.NodeFlags.Const ? 'const' : flags & ts.NodeFlags.Let ? 'let' : 'var';

const isType = (statement: ts.Statement): boolean =>
  ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement);

function statementKind(statement: ts.Statement): 'function' | 'class' | 'enum' | 'other' {
  if (ts.isFunctionDeclaration(statement)) return 'function';
  if (ts.isClassDeclaration(statement)) return 'class';
  return ts.isEnumDeclaration(statement) ? 'enum' : 'other';
}
