import { dirname } from 'node:path';
import ts from 'typescript-6';
import { missingModuleStep } from '#session/compiler/missingModules.ts';

/** A problem that the compiler reports. Positions count UTF-16 units of the text; lines and columns count from 1. */
export type CellProblem = {
  start: number;
  end: number;
  line: number;
  column: number;
  message: string;
  /** TypeScript's number, as in `TS2322`. */
  code: number;
  severity: 'error' | 'warning' | 'suggestion';
  /** A cell with a syntax problem can't run in any mode. */
  isSyntax: boolean;
  /** Path of the user's own file that has the problem; undefined for the cell itself. */
  file?: string;
  /** The line of the text where the problem starts, for display. */
  sourceLine: string;
  /** Number of UTF-16 units of `sourceLine` that the problem covers, at least one. */
  length: number;
};

/**
 * Codes of ignored diagnostics: 1202 reports `import x = require()` in a module, but a cell may contain this statement.
 */
const taken: ReadonlySet<number> = new Set([1202]);
const missingJsxRuntime = 2875;
/** Codes for a missing module; the second code is for an import without names. */
const missingModules: ReadonlySet<number> = new Set([2307, 2882]);
/** Codes for a missing name: without a suggestion, with a suggestion, as a namespace, and in `{ name }`. */
const missingNames: ReadonlySet<number> = new Set([2304, 2552, 2503, 18004]);
/** Modules that Node.js can load, but for which the compiler can't read types. */
const unseen = /^['"](?:data|file):/;

/**
 * Converts the compiler's diagnostics of one file. Diagnostics after `length` concern generated text and are dropped.
 */
export function problemsOf(
  diagnostics: readonly ts.Diagnostic[],
  options: { length: number; isSyntax: boolean; file?: string },
): CellProblem[] {
  return diagnostics.flatMap((diagnostic) => {
    const { file, code } = diagnostic;
    const start = diagnostic.start ?? 0;
    if (!file || taken.has(code) || start > options.length) return [];
    if (missingModules.has(code) && unseen.test(file.text.slice(start, start + 10))) return [];
    const end = Math.min(start + (diagnostic.length ?? 0), options.length);
    const { line, character } = file.getLineAndCharacterOfPosition(start);
    const lineStart = file.getPositionOfLineAndCharacter(line, 0);
    const sourceLine =
      /^[^\r\n\u2028\u2029]*/.exec(file.text.slice(lineStart, Math.max(lineStart, options.length)))?.[0] ?? '';
    return [
      {
        start,
        end,
        line: line + 1,
        column: character + 1,
        message: sentence(diagnostic) + shellHint(sourceLine, character),
        code,
        severity: severityOf(diagnostic.category),
        isSyntax: options.isSyntax,
        ...(options.file !== undefined && { file: options.file }),
        sourceLine,
        length: Math.max(1, Math.min(end - start, sourceLine.length - character)),
      },
    ];
  });
}

const noDeno =
  'This kernel runs Node.js, which does not have the API of Deno. Use the API of Node.js, for example node:fs.';

function sentence({ code, messageText, file }: ts.Diagnostic): string {
  if (code === missingJsxRuntime)
    return "JSX needs React, which is not installed in the notebook's folder. Run %install react @types/react in a cell, or set jsxImportSource in tsconfig.json to another library.";
  const text = ts.flattenDiagnosticMessageText(messageText, '\n');
  const [, name] = (missingModules.has(code) && /^Cannot find module .*?'([^']+)'/.exec(text)) || [];
  const step =
    name !== undefined && file
      ? missingModuleStep(name, dirname(file.fileName))
      : missingName({ code, message: text }) === 'Deno'
        ? noDeno
        : undefined;
  return step === undefined ? text : `${text} ${step}`;
}

/** Returns the name that a problem reports as not declared; undefined for other problems. */
export function missingName({ code, message }: Pick<CellProblem, 'code' | 'message'>): string | undefined {
  if (!missingNames.has(code)) return undefined;
  return /^(?:Cannot find name(?:space)?|No value exists in scope for the shorthand property) '([^']+)'/.exec(
    message,
  )?.[1];
}

/**
 * Users of Jupyter write `!ls -l` to run a program. In TypeScript the `!` is a negation, so the hint shows how to run a
 * program.
 */
function shellHint(line: string, character: number): string {
  const [, negated = '', command] = /^(\s*!)([a-z][\w.-]*)(?:\s+[-\w./~"'*$][^=&|?]*)?$/.exec(line) ?? [];
  if (command === undefined || character > negated.length + command.length + 1) return '';
  return ` To run a shell command, write %sh ${command}.`;
}

function severityOf(category: ts.DiagnosticCategory): CellProblem['severity'] {
  if (category === ts.DiagnosticCategory.Error) return 'error';
  return category === ts.DiagnosticCategory.Warning ? 'warning' : 'suggestion';
}
