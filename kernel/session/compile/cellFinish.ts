import ts from 'typescript-6';
import { constant, load } from './cellNodes.ts';

const factory = ts.factory;

/** After TypeScript's own steps: what they added of imports (JSX needs one) becomes loads, and exports go. */
export const finish = (file: ts.SourceFile): ts.SourceFile =>
  factory.updateSourceFile(
    file,
    file.statements.flatMap((statement) => {
      if (ts.isExportDeclaration(statement)) return [];
      return ts.isImportDeclaration(statement) ? [loadAdded(statement)] : [statement];
    }),
  );

function loadAdded({ importClause, moduleSpecifier }: ts.ImportDeclaration): ts.Statement {
  const names = importClause?.namedBindings;
  const elements = names && ts.isNamedImports(names) ? names.elements : [];
  const pattern = factory.createObjectBindingPattern(
    elements.map((each) => factory.createBindingElement(undefined, each.propertyName, each.name)),
  );
  return constant(pattern, load(moduleSpecifier, []));
}
