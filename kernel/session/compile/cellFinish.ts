import ts from 'typescript-6';
import { constant, load, variablesOf } from './cellNodes.ts';

const factory = ts.factory;

/**
 * After TypeScript's own steps: what they added of imports (JSX needs one) becomes loads, and exports go.
 * @param used names of the notebook's variables that the cell uses, which come first
 */
export function finish(file: ts.SourceFile, used: ReadonlySet<string>): ts.SourceFile {
  const statements = file.statements.flatMap((statement) => {
    if (ts.isExportDeclaration(statement)) return [];
    return ts.isImportDeclaration(statement) ? [loadAdded(statement)] : [statement];
  });
  const variables = used.size > 0 ? [variablesOf([...used])] : [];
  return factory.updateSourceFile(file, [...variables, ...statements]);
}

function loadAdded({ importClause, moduleSpecifier }: ts.ImportDeclaration): ts.Statement {
  const names = importClause?.namedBindings;
  const elements = names && ts.isNamedImports(names) ? names.elements : [];
  const pattern = factory.createObjectBindingPattern(
    elements.map((each) => factory.createBindingElement(undefined, each.propertyName, each.name)),
  );
  return constant(pattern, load(moduleSpecifier, []));
}
