import ts from 'typescript-6';
import { isUdf } from './udfCalls.ts';

// The text of a file as one of its functions travels.

type Edit = { readonly start: number; readonly end: number; readonly text: string };

/**
 * The file's text as it travels: functions in the place of what describes them, and the one that is meant as the only
 * export, so that the others and what they need are left out.
 */
export function functionModule(file: ts.SourceFile, local: string | undefined): string {
  const edits: Edit[] = [];
  const visit = (node: ts.Node): void => {
    const fn = ts.isCallExpression(node) && isUdf(node.expression) ? node.arguments[1] : undefined;
    if (fn) edits.push({ start: node.getStart(file), end: node.end, text: `(${fn.getText(file)})` });
    else ts.forEachChild(node, visit);
  };
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement)) edits.push(...importEdits(file, statement));
    else {
      if (local !== undefined) edits.push(...exportEdits(file, statement));
      if (!ts.isExportDeclaration(statement)) visit(statement);
    }
  }
  let { text } = file;
  for (const { start, end, text: by } of edits.toSorted((a, b) => b.start - a.start))
    text = text.slice(0, start) + by + text.slice(end);
  return local === undefined ? text : `${text}\nexport { ${local} as default };`;
}

const without = (start: number, end: number): Edit => ({ start, end, text: '' });

/** What a statement exports, it only declares. */
function exportEdits(file: ts.SourceFile, statement: ts.Statement): Edit[] {
  if (ts.isExportDeclaration(statement)) return [without(statement.getStart(file), statement.end)];
  if (ts.isExportAssignment(statement)) return [without(statement.getStart(file), statement.expression.getStart(file))];
  const modifiers = ts.canHaveModifiers(statement) ? (ts.getModifiers(statement) ?? []) : [];
  return modifiers
    .filter(({ kind }) => kind === ts.SyntaxKind.ExportKeyword || kind === ts.SyntaxKind.DefaultKeyword)
    .map((modifier) => without(modifier.getStart(file), modifier.end));
}

/** `lance-catalog` is not there where functions run; the Arrow that it lends is. */
function importEdits(file: ts.SourceFile, statement: ts.ImportDeclaration): Edit[] {
  const { importClause, moduleSpecifier } = statement;
  if (!ts.isStringLiteral(moduleSpecifier) || moduleSpecifier.text !== 'lance-catalog') return [];
  const bindings = importClause?.namedBindings;
  const elements = bindings && ts.isNamedImports(bindings) ? bindings.elements : [];
  const arrow = elements.find((each) => (each.propertyName ?? each.name).text === 'arrow');
  const others = elements.filter(
    (each) => !each.isTypeOnly && !['udf', 'arrow'].includes((each.propertyName ?? each.name).text),
  );
  const kept = [
    ...(arrow ? [`import * as ${arrow.name.text} from 'apache-arrow';`] : []),
    // Types go by themselves, and what is used is refused by name.
    ...(others.length > 0
      ? [`import { ${others.map((each) => each.getText(file)).join(', ')} } from 'lance-catalog';`]
      : []),
  ];
  return [{ start: statement.getStart(file), end: statement.end, text: kept.join(' ') }];
}
