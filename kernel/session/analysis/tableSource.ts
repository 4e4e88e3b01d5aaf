import ts from 'typescript-6';
import type { NamedTable } from '#shared/catalogConfig.ts';

/** Returns the table of an expression: a table that the code opens by name, or the variable that holds it. */
export type FindSource = (expression: ts.Expression) => NamedTable | { variable: string } | undefined;

/** Returns the initializer of a variable, if the code shows it. */
type Initializer = (name: ts.Identifier) => ts.Expression | undefined;

const openers = new Set(['openTable', 'createTable', 'createEmptyTable']);
/**
 * Maximum number of steps from an expression to its table. The limit ends cycles such as `const a = b`, `const b = a`.
 */
const maxSteps = 30;

/** Follows an expression such as `query.where('…')` back to where its table was opened. */
function followTable(
  expression: ts.Expression,
  initializer: Initializer,
): NamedTable | { variable: string } | undefined {
  let at = expression;
  let variable: string | undefined;
  for (let step = 0; step < maxSteps; step++) {
    if (ts.isAwaitExpression(at) || ts.isParenthesizedExpression(at) || ts.isNonNullExpression(at)) at = at.expression;
    else if (ts.isAsExpression(at) || ts.isSatisfiesExpression(at)) at = at.expression;
    else if (ts.isCallExpression(at) && ts.isPropertyAccessExpression(at.expression)) {
      const { name, expression: receiver } = at.expression;
      if (openers.has(name.text)) return tableOpenedBy(at, receiver);
      at = receiver;
    } else if (ts.isIdentifier(at)) {
      variable = at.text;
      const made = initializer(at);
      if (!made) return { variable };
      at = made;
    } else break;
  }
  return variable === undefined ? undefined : { variable };
}

function tableOpenedBy(call: ts.CallExpression, receiver: ts.Expression): NamedTable | undefined {
  const [name] = call.arguments;
  if (!ts.isIdentifier(receiver) || !name || !ts.isStringLiteralLike(name)) return undefined;
  return namedTable(receiver.text, name.text, call);
}

/**
 * Returns the table of a call, in the namespace that its other arguments name; undefined if the namespace is not a
 * literal.
 */
export function namedTable(catalog: string, name: string, call: ts.CallExpression): NamedTable | undefined {
  let namespacePath: readonly string[] | undefined = [];
  for (const argument of call.arguments.slice(1)) {
    const path = ts.isArrayLiteralExpression(argument) ? argument : pathOption(argument);
    if (path) namespacePath = ts.isArrayLiteralExpression(path) ? stringsOf(path.elements) : undefined;
  }
  return namespacePath && { catalog, name, namespacePath };
}

function pathOption(argument: ts.Expression): ts.Expression | undefined {
  if (!ts.isObjectLiteralExpression(argument)) return undefined;
  for (const property of argument.properties) {
    if (property.name?.getText() !== 'namespacePath') continue;
    return ts.isPropertyAssignment(property) ? property.initializer : ts.factory.createNull();
  }
  return undefined;
}

/** Returns the elements of a list if all are string literals. */
export function stringsOf(elements: readonly ts.Expression[]): string[] | undefined {
  const texts = elements.map((element) => (ts.isStringLiteralLike(element) ? element.text : undefined));
  return texts.every((text) => text !== undefined) ? texts : undefined;
}

/** Finds the table of an expression; the checker resolves its variables. */
export const tableSourceBy = (checker: ts.TypeChecker, expression: ts.Expression) =>
  followTable(expression, (name) => {
    const declared = checker.getSymbolAtLocation(name)?.valueDeclaration;
    return declared && ts.isVariableDeclaration(declared) && ts.isIdentifier(declared.name)
      ? declared.initializer
      : undefined;
  });
