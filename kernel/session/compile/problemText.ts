import type { CellError } from '#session/threads/coreMessages.ts';
import type { CellProblem } from './cellProblems.ts';

/** Maximum number of reported problems, because one mistake can cause hundreds. */
const maxProblems = 10;
/** Number of UTF-16 units shown of a long source line, and number of units shown before the problem. */
const lineWidth = 160;
const before = 60;

/**
 * Converts the problems of a cell to the error that the cell fails with.
 * @param checkedBy the tsconfig.json whose checks apply, if any
 */
export function problemsError(problems: readonly CellProblem[], count: number, checkedBy?: string): CellError {
  const shown = problems.slice(0, maxProblems);
  return {
    ename: problems.some(({ isSyntax }) => isSyntax) ? 'SyntaxError' : 'TypeScriptError',
    evalue: [
      ...shown.map(({ line, column, message, file }) => `${file ? `${file}:` : ''}${line}:${column} - ${message}`),
      ...more(problems),
    ].join('\n'),
    traceback: [...problemLines(problems, count), ...(checkedBy === undefined ? [] : ['', strictness(checkedBy)])],
  };
}

const strictness = (file: string): string =>
  `"${file}" says how strictly cells are checked. To run cells with type errors, use --type-check warn, or the setting lanceCatalog.notebook.typeCheck in VS Code.`;

/** Formats the problems for printing next to a cell that runs anyway. */
export const problemsText = (problems: readonly CellProblem[], count: number): string =>
  `${problemLines(problems, count).join('\n')}\n`;

function problemLines(problems: readonly CellProblem[], count: number): string[] {
  return [
    ...problems.slice(0, maxProblems).flatMap((problem) => [...describe(problem, count), '']),
    ...more(problems),
  ].filter((line, index, all) => line !== '' || index < all.length - 1);
}

const more = (problems: readonly CellProblem[]): string[] =>
  problems.length > maxProblems ? [`… and ${problems.length - maxProblems} more.`] : [];

/** The message with its position, then the source line with carets below. */
function describe(
  { line, column, message, code, severity, file, sourceLine, length }: CellProblem,
  count: number,
): string[] {
  const place = `${file ?? `[${count}]`}:${line}:${column}`;
  // Cuts a very long line to the part around the problem.
  const from = column > lineWidth - before ? column - before : 0;
  const number = `${line} | `;
  const part = sourceLine.slice(from, from + lineWidth);
  const caret = Math.max(1, Math.min(length, part.length - (column - 1 - from)));
  // Tabs stay tabs, so that the carets align with the text.
  const indent = part.slice(0, column - 1 - from).replace(/[^\t]/g, ' ');
  return [
    `${place} - ${severity} TS${code}: ${message}`,
    `${number}${part}`,
    `${' '.repeat(number.length)}${indent}${'^'.repeat(caret)}`,
  ];
}
