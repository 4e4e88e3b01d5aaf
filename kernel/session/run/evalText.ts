import ts from 'typescript-6';
import { runtimeName, variablePrefix } from '#session/compile/generatedNames.ts';

/**
 * The text of a direct `eval`, with what it names of the notebook read from its variables, as in the cell around it: they
 * are no variables of the script that a cell becomes.
 * @param locals names that mean something else where the eval stands
 * @param isVariable whether the notebook has a variable of a name
 */
export function evalText(code: unknown, locals: readonly string[], isVariable: (name: string) => boolean): unknown {
  if (typeof code !== 'string') return code;
  const file = ts.createSourceFile('eval.js', code, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const uses: { start: number; end: number; text: string }[] = [];
  const declared = new Set(locals);
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      if (isDeclaration(node)) declared.add(node.text);
      else if (isUse(node)) uses.push({ start: node.getStart(file), end: node.end, text: written(node) });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  const names = new Set<string>();
  let result = code;
  for (const { start, end, text } of uses.toReversed()) {
    const name = code.slice(start, end);
    // A name that the text declares somewhere is taken to mean that everywhere in it.
    if (declared.has(name) || !isVariable(name)) continue;
    names.add(name);
    result = result.slice(0, start) + text + result.slice(end);
  }
  if (names.size === 0) return code;
  const listed = [...names].map((name) => JSON.stringify(name)).join(', ');
  const bound = [...names].map((name) => variablePrefix + name).join(', ');
  return `const [${bound}] = ${runtimeName}.variables([${listed}]);${result}`;
}

function written(node: ts.Identifier): string {
  const variable = `${variablePrefix}${node.text}.v`;
  if (ts.isShorthandPropertyAssignment(node.parent)) return `${node.text}: ${variable}`;
  // A function of the notebook is not called with what holds it as its `this`.
  return ts.isCallExpression(node.parent) && node.parent.expression === node ? `(0, ${variable})` : variable;
}

const isDeclaration = ({ parent, text }: ts.Identifier): boolean =>
  !ts.isShorthandPropertyAssignment(parent) &&
  'name' in parent &&
  (parent.name as Partial<ts.Identifier> | undefined)?.text === text &&
  (ts.isVariableDeclaration(parent) ||
    ts.isParameter(parent) ||
    ts.isBindingElement(parent) ||
    ts.isFunctionLike(parent) ||
    ts.isClassLike(parent));

/** Whether an identifier reads or writes a variable, and is not the name of a property or a label. */
function isUse(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent)) return false;
  if (ts.isBindingElement(parent)) return parent.initializer === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  return !('name' in parent && parent.name === node);
}
