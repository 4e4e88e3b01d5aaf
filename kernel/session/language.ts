import { isCompleteCode } from 'tslab/dist/converter.js';
import { printQuickInfo } from 'tslab/dist/inspect.js';
import ts from 'typescript-6';
import { messageOf } from '#shared/errors.ts';
import type { CellService } from './compile/cellConverter.ts';
import type { Question, QuestionAnswer } from './coreMessages.ts';

/** What knows the notebook: a language service over a cell and those that ran before it. */
type Compiler = { service(code: string): CellService };

/** Answers what a person asks about code they are typing. Positions count UTF-16 units. */
export function answer(compiler: Compiler, question: Exclude<Question, { kind: 'variables' }>): QuestionAnswer {
  try {
    switch (question.kind) {
      case 'complete':
        return complete(compiler, question.code, clamp(question.cursor, question.code));
      case 'inspect':
        return inspect(compiler, question.code, clamp(question.cursor, question.code));
      case 'isComplete':
        return isComplete(question.code);
    }
  } catch (error) {
    return { kind: 'failed', message: `The compiler could not answer: ${messageOf(error)}` };
  }
}

// Its declarations are written against tslab's own TypeScript; under this one the two kinds are the same.
const print = printQuickInfo as unknown as (info: ts.QuickInfo) => string;

const clamp = (cursor: number, code: string): number => Math.min(Math.max(cursor, 0), code.length);

function complete(compiler: Compiler, code: string, cursor: number): QuestionAnswer {
  const { service, file } = compiler.service(code);
  const found = service.getCompletionsAtPosition(file, cursor, {});
  const start = cursor - (/[\p{ID_Continue}$]*$/u.exec(code.slice(0, cursor))?.[0].length ?? 0);
  const end = cursor + (/^[\p{ID_Continue}$]*/u.exec(code.slice(cursor))?.[0].length ?? 0);
  const typed = code.slice(start, cursor).toLowerCase();
  const matches = (found?.entries ?? [])
    .map(({ name, kind, sortText }) => ({ name, kind, order: orderOf(name, typed, sortText) }))
    .filter(({ order }) => order !== undefined)
    .toSorted((a, b) => compare(a.order ?? '', b.order ?? '') || compare(a.name, b.name))
    .map(({ name, kind }) => ({ text: name, kind }));
  return { kind: 'complete', matches, start, end };
}

/** Names that begin as typed come first, then those that hold it; others are no match. */
function orderOf(name: string, typed: string, sortText: string): string | undefined {
  const at = name.toLowerCase().indexOf(typed);
  return at < 0 ? undefined : `${at === 0 ? 0 : 1}${sortText}`;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function inspect(compiler: Compiler, code: string, cursor: number): QuestionAnswer {
  // A cursor behind a name means that name, as in every front; the compiler looks at what follows the cursor.
  const at = [cursor, cursor - 1].find((each) => /[\w$]/.test(code[each] ?? ''));
  if (at === undefined) return { kind: 'inspect', data: null };
  const { service, file } = compiler.service(code);
  const info = service.getQuickInfoAtPosition(file, at);
  return {
    kind: 'inspect',
    data: info ? { 'text/plain': print(info) } : null,
  };
}

function isComplete(code: string): QuestionAnswer {
  const { completed, indent } = isCompleteCode(code);
  if (!completed) return { kind: 'isComplete', status: 'incomplete', indent: indent ?? '' };
  const file = ts.createSourceFile('cell.tsx', code, ts.ScriptTarget.Latest, false, ts.ScriptKind.TSX);
  const { parseDiagnostics = [] } = file as { parseDiagnostics?: readonly ts.Diagnostic[] };
  return { kind: 'isComplete', status: parseDiagnostics.length ? 'invalid' : 'complete', indent: '' };
}
