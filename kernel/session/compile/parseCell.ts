import ts from 'typescript-6';
import type { NotebookLanguage } from '#shared/notebookLanguage.ts';
import type { CellProblem } from './cellProblems.ts';

/** Cells are parsed as modules, because in a module `await` is always a keyword. */
export const asModule: ts.CreateSourceFileOptions = {
  languageVersion: ts.ScriptTarget.Latest,
  setExternalModuleIndicator(file) {
    (file as { externalModuleIndicator?: true }).externalModuleIndicator = true;
  },
};

/**
 * Parses a cell as TypeScript, or as TSX if the parser reports fewer errors for TSX. The two differ: in TypeScript
 * `<T>x` is a type assertion, in TSX `<T>` is an element.
 */
export function parseCell(source: string, language: NotebookLanguage = 'typescript'): ts.SourceFile {
  // A `.js` file is always parsed with JSX.
  if (language === 'javascript') return ts.createSourceFile('cell.js', source, asModule, false, ts.ScriptKind.JS);
  const plain = ts.createSourceFile('cell.ts', source, asModule, false, ts.ScriptKind.TS);
  const count = errorCount(plain);
  if (count === 0 || !source.includes('<')) return plain;
  const jsx = ts.createSourceFile('cell.tsx', source, asModule, false, ts.ScriptKind.TSX);
  return errorCount(jsx) < count ? jsx : plain;
}

/**
 * Converts a cell that is only `{ a: 1 }` to an object expression, as JavaScript prompts do; a module would parse it as
 * a labeled block.
 * @returns the expression, with positions shifted by one; undefined for any other cell
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

/** Moves the position of a problem in the result of `asExpression` to its position in the original cell. */
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

/** Returns the number of syntax errors that the parser found. */
export const errorCount = (file: ts.SourceFile): number =>
  (file as { parseDiagnostics?: readonly ts.Diagnostic[] }).parseDiagnostics?.length ?? 0;
