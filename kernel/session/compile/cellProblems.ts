import { dirname } from 'node:path';
import ts from 'typescript-6';
import { isPath, missingFile } from '#session/compiler/installedFiles.ts';

/** What the compiler has against a cell. Positions count UTF-16 units of its text; lines and columns count from 1. */
export type CellProblem = {
  start: number;
  end: number;
  line: number;
  column: number;
  message: string;
  /** TypeScript's number of it, as in `TS2322`. */
  code: number;
  severity: 'error' | 'warning' | 'suggestion';
  /** A cell with such a problem is no program at all, so nothing can run whatever the mode. */
  isSyntax: boolean;
  /** Path of the person's own file that has the problem; undefined for the cell itself. */
  file?: string;
  /** The line of the text where it begins, for showing. */
  sourceLine: string;
  /** Units of that line that it covers, one at least. */
  length: number;
};

/** Said of `import x = require()` in a module, which a cell may write all the same. */
const taken: ReadonlySet<number> = new Set([1202]);
const missingJsxRuntime = 2875;
/** The second is of an import that takes no name. */
const missingModules: ReadonlySet<number> = new Set([2307, 2882]);
/** Modules that Node loads and the compiler can't look into. */
const unseen = /^['"](?:data|file):/;

/** Turns the compiler's diagnostics of one file into problems; what concerns text behind `length` is not the person's. */
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

function sentence({ code, messageText, file }: ts.Diagnostic): string {
  if (code === missingJsxRuntime)
    return "JSX needs React, and the notebook's folder has none: run %install react @types/react in a cell, or name another library as jsxImportSource in tsconfig.json.";
  const text = ts.flattenDiagnosticMessageText(messageText, '\n');
  const [, name] = (missingModules.has(code) && /^Cannot find module .*?'([^']+)'/.exec(text)) || [];
  const step = name !== undefined && file ? stepFor(name, dirname(file.fileName)) : undefined;
  return step === undefined ? text : `${text} ${step}`;
}

/** What to do about a module that is not there. */
function stepFor(name: string, folder: string): string | undefined {
  if (isPath(name)) return missingFile(name, folder);
  const [, toInstall] = /^((?:@[^/]+\/)?[^./][^/]*)/.exec(name) ?? [];
  return toInstall === undefined ? undefined : `Run %install ${toInstall} in a cell.`;
}

/** People who know Jupyter write `!ls -l`, which is a negation here. */
function shellHint(line: string, character: number): string {
  const [, negated = '', command] = /^(\s*!)([a-z][\w.-]*)(?:\s+[-\w./~"'*$][^=&|?]*)?$/.exec(line) ?? [];
  if (command === undefined || character > negated.length + command.length + 1) return '';
  return ` A command for the shell is written %sh ${command}.`;
}

function severityOf(category: ts.DiagnosticCategory): CellProblem['severity'] {
  if (category === ts.DiagnosticCategory.Error) return 'error';
  return category === ts.DiagnosticCategory.Warning ? 'warning' : 'suggestion';
}
