import ts from 'typescript-6';
import { runtimeName, variablePrefix } from './generatedNames.ts';

// The syntax nodes of generated code.

const factory = ts.factory;

/** `$cell_name.v` */
export const variable = (name: string): ts.PropertyAccessExpression =>
  factory.createPropertyAccessExpression(factory.createIdentifier(variablePrefix + name), 'v');

/** `const [$cell_a, $cell_b] = $kernel.variables(['a', 'b']);` */
export function variablesOf(names: readonly string[]): ts.Statement {
  const bound = names.map((name) => factory.createBindingElement(undefined, undefined, variablePrefix + name));
  const listed = factory.createArrayLiteralExpression(names.map((name) => factory.createStringLiteral(name)));
  return constant(factory.createArrayBindingPattern(bound), call(runtime('variables'), [listed]));
}

/** `const name = value;` */
export const constant = (name: ts.BindingName, value: ts.Expression): ts.Statement =>
  factory.createVariableStatement(
    undefined,
    factory.createVariableDeclarationList(
      [factory.createVariableDeclaration(name, undefined, undefined, value)],
      ts.NodeFlags.Const,
    ),
  );

/** `$kernel.name` */
export const runtime = (name: string): ts.PropertyAccessExpression =>
  factory.createPropertyAccessExpression(factory.createIdentifier(runtimeName), name);

export const call = (callee: ts.Expression, args: readonly ts.Expression[]): ts.CallExpression =>
  factory.createCallExpression(callee, undefined, args);

/** Wraps an expression in a statement at the position of `from`, for stack traces and breakpoints. */
export const statementOf = (expression: ts.Expression, from: ts.Node): ts.Statement =>
  ts.setTextRange(ts.setOriginalNode(factory.createExpressionStatement(expression), from), from);

/** `await $kernel.load('module', [['local', 'imported'], …])` */
export function load(specifier: ts.Expression, pairs: readonly (readonly [string, string])[]): ts.AwaitExpression {
  const listed = pairs.map((pair) =>
    factory.createArrayLiteralExpression(pair.map((name) => factory.createStringLiteral(name))),
  );
  return factory.createAwaitExpression(
    call(runtime('load'), [specifier, factory.createArrayLiteralExpression(listed)]),
  );
}

/**
 * `$kernel.resume(await $kernel.waits(value, line, column))`, which ends a cell that was interrupted during the await.
 * An error without a position gets the position of this await.
 */
export function resumed(node: ts.AwaitExpression, value: ts.Expression): ts.Expression {
  const awaited = factory.updateAwaitExpression(node, ts.setTextRange(waits(value, node), value));
  return ts.setTextRange(call(runtime('resume'), [awaited]), node);
}

/** Adds the check for an interrupt to each iteration of a `for await` loop. */
export function resumedEach(loop: ts.ForOfStatement): ts.ForOfStatement {
  const { expression, statement } = loop;
  const check = factory.createExpressionStatement(waits(call(runtime('resume'), []), loop));
  const statements = ts.isBlock(statement) ? statement.statements : [statement];
  const body = ts.setTextRange(factory.createBlock([check, ...statements], true), statement);
  const source = ts.setTextRange(waits(expression, loop), expression);
  return factory.updateForOfStatement(loop, loop.awaitModifier, loop.initializer, source, body);
}

/** `$kernel.waits(value, line, column)` with the position of the await in the cell's text, counted from 1. */
function waits(value: ts.Expression, at: ts.Node): ts.Expression {
  const written = ts.getOriginalNode(at);
  const { line, character } = ts.getLineAndCharacterOfPosition(written.getSourceFile(), written.getStart());
  return call(runtime('waits'), [
    value,
    ...[line + 1, character + 1].map((each) => factory.createNumericLiteral(each)),
  ]);
}

/** The arguments of a direct `eval`: `$kernel.evalText(code, ['local', …])`. */
export function evaluated([code, ...rest]: readonly ts.Expression[], locals: readonly string[]): ts.Expression[] {
  if (!code || ts.isSpreadElement(code)) return code ? [code, ...rest] : [];
  const listed = factory.createArrayLiteralExpression(locals.map((name) => factory.createStringLiteral(name)));
  return [call(runtime('evalText'), [code, listed]), ...rest];
}

/** `(0, f)`, so that a function of the notebook does not get the object that holds its variable as `this`. */
export function withoutThis(callee: ts.Expression): ts.Expression {
  const detached = factory.createParenthesizedExpression(factory.createComma(factory.createNumericLiteral(0), callee));
  // A stack trace has the position after the callee, which should map to the start of the callee.
  ts.setEmitFlags(callee, ts.EmitFlags.NoTrailingSourceMap);
  return ts.setEmitFlags(ts.setTextRange(detached, callee), ts.EmitFlags.NoTrailingSourceMap);
}

/**
 * Sets the name of a function, because an assignment to a member, unlike one to a variable, does not name the function.
 */
export function keepFunctionName(name: string, value: ts.Expression): ts.Expression {
  let bare = value;
  while (ts.isParenthesizedExpression(bare) || ts.isSatisfiesExpression(bare)) bare = bare.expression;
  const isNameless =
    ts.isArrowFunction(bare) || ((ts.isFunctionExpression(bare) || ts.isClassExpression(bare)) && !bare.name);
  if (!isNameless || name === '__proto__') return value;
  const holder = factory.createObjectLiteralExpression([factory.createPropertyAssignment(name, value)]);
  return factory.createPropertyAccessExpression(factory.createParenthesizedExpression(holder), name);
}
