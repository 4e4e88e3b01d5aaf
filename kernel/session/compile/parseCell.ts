import ts from 'typescript-6';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import type { CellProblem } from './cellProblems.ts';

/** In a module `await` is no name, whatever stands behind it. */
export const asModule: ts.CreateSourceFileOptions = {
  languageVersion: ts.ScriptTarget.Latest,
  setExternalModuleIndicator(file) {
    (file as { externalModuleIndicator?: true }).externalModuleIndicator = true;
  },
};

/** A cell is TypeScript, and with JSX where it is valid only so: `<T>x` is a type in the one and an element in the other. */
export function parseCell(source: string, language: NotebookLanguage = 'typescript'): ts.SourceFile {
  // A `.js` file is parsed with JSX, so there is no second way to read one.
  if (language === 'javascript') return ts.createSourceFile('cell.js', source, asModule, false, ts.ScriptKind.JS);
  const plain = ts.createSourceFile('cell.ts', source, asModule, false, ts.ScriptKind.TS);
  const count = errorCount(plain);
  if (count === 0 || !source.includes('<')) return plain;
  const jsx = ts.createSourceFile('cell.tsx', source, asModule, false, ts.ScriptKind.TSX);
  return errorCount(jsx) < count ? jsx : plain;
}

/**
 * A cell that is nothing but `{ a: 1 }` means the object, as at any prompt, where a module would see a block with a label.
 * @returns the cell as the expression that is meant, positions one further; undefined for any other cell
 */
export function asExpression(source: string, language?: NotebookLanguage): string | undefined {
  if (!/^\s*\{/.test(source) || !/\}\s*$/.test(source)) return undefined;
  const wrapped = `(${source})`;
  const file = parseCell(wrapped, language);
  const [statement, ...more] = file.statements;
  if (errorCount(file) > 0 || more.length > 0 || !statement || !ts.isExpressionStatement(statement)) return undefined;
  const { expression } = statement;
  return ts.isParenthesizedExpression(expression) && ts.isObjectLiteralExpression(expression.expression)
    ? wrapped
    : undefined;
}

/** A finding in such an expression, at its place in the cell as it was written. */
export function unwrapped(problem: CellProblem, source: string): CellProblem {
  const { start, end, line, column } = problem;
  return {
    ...problem,
    start: start - 1,
    end: end - 1,
    column: line === 1 ? column - 1 : column,
    sourceLine: source.split(/\r?\n/)[line - 1] ?? '',
  };
}

/** How many errors of syntax the parser has found. */
export const errorCount = (file: ts.SourceFile): number =>
  (file as { parseDiagnostics?: readonly ts.Diagnostic[] }).parseDiagnostics?.length ?? 0;
