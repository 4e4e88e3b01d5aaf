import ts from 'typescript-6';
import { runtimeName, variablePrefix } from '#session/compile/generatedNames.ts';

/** A name in the text of a function that means something outside of it. */
export type UsedName = {
  readonly name: string;
  /** `variable`: of the notebook; `kernel`: of what generated code has; `other`: of the realm, or of code around it. */
  readonly of: 'variable' | 'kernel' | 'other';
  /** Where it stands in the text. */
  readonly start: number;
  readonly end: number;
};

/** The text of a function, and what it uses from outside. */
export type FunctionText = { readonly text: string; readonly names: readonly UsedName[] };

const fileName = '/function.js';
const head = '(';

/**
 * Reads the text of a function or a class as it was compiled, where variables of the notebook are told by their prefix.
 * @returns undefined for a text that is no expression, such as that of a method
 */
export function usedNames(text: string): FunctionText | undefined {
  const file = ts.createSourceFile(fileName, `${head}${text})`, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const { parseDiagnostics = [] } = file as { parseDiagnostics?: readonly unknown[] };
  if (parseDiagnostics.length > 0 || file.statements.length !== 1) return undefined;
  const checker = checkerOf(file);
  const names: UsedName[] = [];
  const add = (name: string, of: UsedName['of'], node: ts.Node): void => {
    names.push({ name, of, start: node.getStart(file) - head.length, end: node.end - head.length });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
      const { text: owner } = node.expression;
      if (owner === runtimeName) return add(node.name.text, 'kernel', node);
      if (owner.startsWith(variablePrefix) && node.name.text === 'v')
        return add(owner.slice(variablePrefix.length), 'variable', node);
    }
    if (ts.isIdentifier(node) && isUse(node) && !isDeclared(checker, node)) add(node.text, 'other', node);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return { text, names };
}

/** Without libraries, so that what nobody in the text declares is not found. */
function checkerOf(file: ts.SourceFile): ts.TypeChecker {
  const host: ts.CompilerHost = {
    getSourceFile: (name) => (name === fileName ? file : undefined),
    getDefaultLibFileName: () => '/lib.d.ts',
    writeFile: () => {},
    getCurrentDirectory: () => '/',
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => '\n',
    fileExists: (name) => name === fileName,
    readFile: () => undefined,
  };
  const options: ts.CompilerOptions = {
    allowJs: true,
    noLib: true,
    noResolve: true,
    types: [],
    target: ts.ScriptTarget.Latest,
  };
  return ts.createProgram([fileName], options, host).getTypeChecker();
}

/** What every function has. */
const ofLanguage: ReadonlySet<string> = new Set(['arguments', 'undefined', 'globalThis']);

function isDeclared(checker: ts.TypeChecker, node: ts.Identifier): boolean {
  const { parent } = node;
  const symbol = ts.isShorthandPropertyAssignment(parent)
    ? checker.getShorthandAssignmentValueSymbol(parent)
    : checker.getSymbolAtLocation(node);
  // The compiler takes JavaScript for CommonJS, and so has a `require` that nobody declares.
  return (symbol?.declarations ?? []).length > 0 || ofLanguage.has(node.text);
}

/** Not the name of a property or a label. */
function isUse(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isShorthandPropertyAssignment(parent)) return parent.name === node;
  if (ts.isBindingElement(parent)) return parent.propertyName !== node && parent.name !== node;
  if (ts.isLabeledStatement(parent) || ts.isBreakOrContinueStatement(parent) || ts.isMetaProperty(parent)) return false;
  return !('name' in parent && parent.name === node);
}
