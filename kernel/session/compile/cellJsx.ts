import ts from 'typescript-6';
import { withoutThis, variable } from './cellNodes.ts';
import type { SharedNames } from './cellScope.ts';

// With `jsx: react` TypeScript emits calls of a factory: `React.createElement`, or another that tsconfig.json or a
// comment of the cell names. TypeScript adds the name of the factory after this converter has decided which names are
// notebook variables.

/** Replaces the names of JSX factories that are notebook variables, and adds the names to `used`. */
export function nameFactories(
  file: ts.SourceFile,
  names: SharedNames,
  used: Set<string>,
  context: ts.TransformationContext,
): ts.SourceFile {
  if (file.languageVariant !== ts.LanguageVariant.JSX) return file;
  const factoryOf = (node: ts.Node): ts.Expression | undefined => {
    if (!isAddedForJsx(node) || !names.hasAt(node.text, node.parent)) return undefined;
    used.add(node.text);
    return variable(node.text);
  };
  const visit = (node: ts.Node): ts.Node => {
    const name = factoryOf(node);
    if (name) return name;
    const visited = ts.visitEachChild(node, visit, context);
    if (!ts.isCallExpression(node) || !ts.isCallExpression(visited) || visited.expression === node.expression)
      return visited;
    // A factory that is a variable itself is called without `this`; otherwise `this` would be the object that holds the
    // variable.
    if (!ts.isIdentifier(node.expression)) return visited;
    const { typeArguments, arguments: args } = visited;
    return ts.factory.updateCallExpression(visited, withoutThis(visited.expression), typeArguments, args);
  };
  return ts.factory.updateSourceFile(
    file,
    file.statements.map((each) => visit(each) as ts.Statement),
  );
}

/**
 * Whether TypeScript has added a name for JSX. Such a name has no position in the text, and its parent is the JSX node.
 */
const isAddedForJsx = (node: ts.Node): node is ts.Identifier =>
  ts.isIdentifier(node) && node.pos < 0 && (node.parent as ts.Node | undefined) !== undefined && isJsx(node.parent);

const isJsx = (node: ts.Node): boolean =>
  ts.isJsxOpeningLikeElement(node) || ts.isJsxOpeningFragment(node) || ts.isJsxElement(node) || ts.isJsxFragment(node);
