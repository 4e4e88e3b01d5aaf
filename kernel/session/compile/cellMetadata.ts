import ts from 'typescript-6';
import { namesOf } from './cellNames.ts';
import { variable } from './cellNodes.ts';
import type { SharedNames } from './cellScope.ts';

// With `emitDecoratorMetadata` TypeScript writes the types of what is decorated as values, after the cell's own names were
// told from those of the notebook.

/** Makes variables of the notebook of those names in the metadata that mean one, and adds them to `used`. */
export function nameMetadata(
  file: ts.SourceFile,
  cell: ts.SourceFile,
  names: SharedNames,
  used: Set<string>,
  context: ts.TransformationContext,
): ts.SourceFile {
  if (!context.getCompilerOptions().emitDecoratorMetadata) return file;
  // A class that describes itself is no variable yet.
  const local = new Set(cell.statements.filter(isKept).flatMap(namesOf));
  const inMetadata = (node: ts.Node): ts.Node => {
    if (ts.isPropertyAccessExpression(node))
      return ts.factory.updatePropertyAccessExpression(node, inMetadata(node.expression) as ts.Expression, node.name);
    if (!ts.isIdentifier(node)) return ts.visitEachChild(node, inMetadata, context);
    if (local.has(node.text) || !names.hasAt(node.text, cell)) return node;
    used.add(node.text);
    return variable(node.text);
  };
  const visit = (node: ts.Node): ts.Node => {
    if (!ts.isCallExpression(node) || !isMetadataHelper(node.expression))
      return ts.visitEachChild(node, visit, context);
    const args = node.arguments.map((each) => inMetadata(each) as ts.Expression);
    return ts.factory.updateCallExpression(node, node.expression, node.typeArguments, args);
  };
  return ts.factory.updateSourceFile(
    file,
    file.statements.map((each) => visit(each) as ts.Statement),
  );
}

const isMetadataHelper = (node: ts.Node): boolean => ts.isIdentifier(node) && node.text === '__metadata';

const isKept = (node: ts.Statement): boolean =>
  ts.isClassDeclaration(node) ||
  ts.isEnumDeclaration(node) ||
  ts.isFunctionDeclaration(node) ||
  ts.isModuleDeclaration(node);
