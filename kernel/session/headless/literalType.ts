import ts from 'typescript-6';

/**
 * The type that a parameter without one is meant to have, as code, read off the value it is given: `string[]` of
 * `["a"]`. Undefined for what is no plain value, such as a call, and for what holds nothing to go by.
 */
export function literalType(node: ts.Expression): string | undefined {
  if (ts.isParenthesizedExpression(node)) return literalType(node.expression);
  if (ts.isNumericLiteral(node)) return 'number';
  if (ts.isBigIntLiteral(node)) return 'bigint';
  if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) return 'string';
  if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) return 'boolean';
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.MinusToken) return literalType(node.operand);
  if (ts.isArrayLiteralExpression(node)) return listType(node.elements);
  return ts.isObjectLiteralExpression(node) ? recordType(node) : undefined;
}

function listType(elements: readonly ts.Expression[]): string | undefined {
  const types = new Set(elements.map(literalType));
  const [first] = types;
  if (first === undefined || types.has(undefined)) return undefined;
  return types.size === 1 ? `${first}[]` : `(${[...types].join(' | ')})[]`;
}

function recordType({ properties }: ts.ObjectLiteralExpression): string | undefined {
  const fields = properties.map((property) => {
    if (!ts.isPropertyAssignment(property) || ts.isComputedPropertyName(property.name)) return undefined;
    const type = literalType(property.initializer);
    return type && `${property.name.getText()}: ${type}`;
  });
  return fields.length === 0 || fields.includes(undefined) ? undefined : `{ ${fields.join('; ')} }`;
}
