import ts from 'typescript-6';
import { isAmbient } from '#session/compile/cellNames.ts';
import { asExpression, parseCell } from '#session/compile/parseCell.ts';

/**
 * The lines of a cell, from 1, at which something may run, for breakpoints in cells that have not run yet. Where a cell
 * stops in the end is for V8 to say; this is what a person would say.
 */
export function linesOf(code: string): number[] {
  const file = parseCell(code);
  const lines = new Set<number>();
  const add = (position: number) => lines.add(file.getLineAndCharacterOfPosition(position).line + 1);
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (ts.isStatement(node) && isAmbient(node)) return;
    if (ts.isStatement(node) && runs(node)) add(node.getStart(file));
    // At the end of a function it returns.
    if (ts.isBlock(node) && ts.isFunctionLike(node.parent)) add(node.end - 1);
    if (ts.isArrowFunction(node) && !ts.isBlock(node.body)) add(node.body.getStart(file));
    if (ts.isPropertyDeclaration(node) && node.initializer) add(node.getStart(file));
    ts.forEachChild(node, visit);
  };
  setParents(file);
  visit(file);
  return [...lines].toSorted((one, other) => one - other);
}

/** Whether a statement does something by itself: a block does not, and neither does a function where it is declared. */
function runs(node: ts.Statement): boolean {
  if (ts.isImportDeclaration(node)) return node.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword;
  return !(
    ts.isBlock(node) ||
    ts.isEmptyStatement(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isModuleBlock(node)
  );
}

function setParents(node: ts.Node): void {
  ts.forEachChild(node, (child) => {
    (child as { parent: ts.Node }).parent = node;
    setParents(child);
  });
}

/** What a person typed at a pause, as JavaScript: without types, and `{ a: 1 }` as the object that is meant. */
export function javascriptOf(code: string): { code: string } | { problem: string } {
  const { outputText, diagnostics = [] } = ts.transpileModule(asExpression(code) ?? code, {
    reportDiagnostics: true,
    compilerOptions: {
      target: ts.ScriptTarget.ESNext,
      module: ts.ModuleKind.ESNext,
      newLine: ts.NewLineKind.LineFeed,
      // A person at a prompt may assign to what is declared nowhere.
      alwaysStrict: false,
      ignoreDeprecations: '6.0',
    },
  });
  const [problem] = diagnostics;
  if (problem) return { problem: ts.flattenDiagnosticMessageText(problem.messageText, ' ') };
  return { code: outputText };
}
