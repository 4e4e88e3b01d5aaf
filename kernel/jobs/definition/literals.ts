import ts from 'typescript-6';
import * as arrow from '#arrow';
import { invalid } from './functionOptions.ts';

/**
 * Evaluates an expression without running it.
 * Supports strings, numbers, booleans, arrays, objects, Arrow types (`new arrow.Int32()`, with arguments) and
 * constants of the file.
 * @throws JobError FunctionInvalid with the position of an expression that would have to run
 */
export function literalOf(node: ts.Expression, file: ts.SourceFile): unknown {
  const bare = bareExpression(node);
  if (ts.isStringLiteralLike(bare)) return bare.text;
  if (ts.isNumericLiteral(bare)) return Number(bare.text);
  if (bare.kind === ts.SyntaxKind.TrueKeyword) return true;
  if (bare.kind === ts.SyntaxKind.FalseKeyword) return false;
  if (bare.kind === ts.SyntaxKind.NullKeyword) return null;
  if (ts.isArrayLiteralExpression(bare)) return bare.elements.map((each) => literalOf(each, file));
  if (ts.isObjectLiteralExpression(bare)) return objectOf(bare, file);
  if (ts.isNewExpression(bare)) return typeOf(bare, file);
  if (ts.isIdentifier(bare)) {
    if (bare.text === 'undefined') return undefined;
    const constant = constantOf(bare.text, file);
    if (constant) return literalOf(constant, file);
  }
  if (ts.isPropertyAccessExpression(bare)) {
    const unit = enumMember(bare);
    if (unit !== undefined) return unit;
  }
  throw unreadable(bare, file);
}

/** Removes parentheses and type assertions. */
export function bareExpression(node: ts.Expression): ts.Expression {
  let bare = node;
  while (
    ts.isParenthesizedExpression(bare) ||
    ts.isAsExpression(bare) ||
    ts.isSatisfiesExpression(bare) ||
    ts.isNonNullExpression(bare)
  )
    bare = bare.expression;
  return bare;
}

function objectOf(node: ts.ObjectLiteralExpression, file: ts.SourceFile): Record<string, unknown> {
  return Object.fromEntries(
    node.properties.map((property) => {
      const name =
        property.name && (ts.isIdentifier(property.name) || ts.isStringLiteral(property.name))
          ? property.name.text
          : undefined;
      if (name === undefined) throw unreadable(property, file);
      if (ts.isPropertyAssignment(property)) return [name, literalOf(property.initializer, file)];
      if (ts.isShorthandPropertyAssignment(property)) return [name, literalOf(property.name, file)];
      throw unreadable(property, file);
    }),
  );
}

const classes: Readonly<Record<string, unknown>> = arrow;

/** Returns the last name of `arrow.Int32` or `Int32`. */
const lastName = (node: ts.Expression): string | undefined => {
  if (ts.isIdentifier(node)) return node.text;
  return ts.isPropertyAccessExpression(node) ? node.name.text : undefined;
};

type Make = new (...args: unknown[]) => unknown;

function typeOf(node: ts.NewExpression, file: ts.SourceFile): unknown {
  const made = classes[lastName(node.expression) ?? ''];
  const isType = typeof made === 'function' && (made === arrow.Field || made.prototype instanceof arrow.DataType);
  if (!isType) throw unreadable(node, file);
  return new (made as unknown as Make)(...(node.arguments ?? []).map((each) => literalOf(each, file)));
}

/** Evaluates enum members such as `arrow.TimeUnit.MICROSECOND`. */
function enumMember(node: ts.PropertyAccessExpression): number | undefined {
  const members = classes[lastName(node.expression) ?? ''];
  if (typeof members !== 'object' || members === null) return undefined;
  const value: unknown = (members as Record<string, unknown>)[node.name.text];
  return typeof value === 'number' ? value : undefined;
}

function constantOf(name: string, file: ts.SourceFile): ts.Expression | undefined {
  for (const statement of file.statements) {
    if (!ts.isVariableStatement(statement) || !(statement.declarationList.flags & ts.NodeFlags.Const)) continue;
    for (const each of statement.declarationList.declarations)
      if (ts.isIdentifier(each.name) && each.name.text === name) return each.initializer;
  }
  return undefined;
}

function unreadable(node: ts.Node, file: ts.SourceFile): Error {
  const { line, character } = file.getLineAndCharacterOfPosition(node.getStart(file));
  const text = node.getText(file).split('\n')[0]?.slice(0, 80) ?? '';
  return invalid(
    `The option "${text}" of udf, at ${line + 1}:${character + 1}, is not a plain value.`,
    "Write options as literals: name: 'words', input: ['text'], output: new arrow.Int32().",
  );
}
