import { isCompleteCode, type Converter } from 'tslab/dist/converter.js';
import { printQuickInfo } from 'tslab/dist/inspect.js';
import ts from 'typescript-6';
import { messageOf } from '#shared/errors.ts';
import type { Question, QuestionAnswer } from './coreMessages.ts';

/** Answers what a person asks about code they are typing. Positions count UTF-16 units. */
export function answer(converter: Converter, question: Question): QuestionAnswer {
  try {
    switch (question.kind) {
      case 'complete':
        return complete(converter, question.code, clamp(question.cursor, question.code));
      case 'inspect':
        return inspect(converter, question.code, clamp(question.cursor, question.code));
      case 'isComplete':
        return isComplete(question.code);
    }
  } catch (error) {
    return { kind: 'failed', message: `The compiler could not answer: ${messageOf(error)}` };
  }
}

const clamp = (cursor: number, code: string): number => Math.min(Math.max(cursor, 0), code.length);

function complete(converter: Converter, code: string, cursor: number): QuestionAnswer {
  const found = converter.complete('', code, cursor);
  const kinds = new Map<string, string>(found.original?.entries.map((entry) => [entry.name, entry.kind]));
  return {
    kind: 'complete',
    matches: found.candidates.map((text) => ({ text, kind: kinds.get(text) ?? '' })),
    start: found.start,
    end: found.end,
  };
}

function inspect(converter: Converter, code: string, cursor: number): QuestionAnswer {
  // A cursor behind a name means that name, as in every front; the compiler looks at what follows the cursor.
  const at = [cursor, cursor - 1].find((each) => /[\w$]/.test(code[each] ?? ''));
  const info = at === undefined ? undefined : converter.inspect('', code, at);
  return { kind: 'inspect', data: info ? { 'text/plain': printQuickInfo(info) } : null };
}

function isComplete(code: string): QuestionAnswer {
  const { completed, indent } = isCompleteCode(code);
  if (!completed) return { kind: 'isComplete', status: 'incomplete', indent: indent ?? '' };
  const file = ts.createSourceFile('cell.tsx', code, ts.ScriptTarget.Latest, false, ts.ScriptKind.TSX);
  const { parseDiagnostics = [] } = file as { parseDiagnostics?: readonly ts.Diagnostic[] };
  return { kind: 'isComplete', status: parseDiagnostics.length ? 'invalid' : 'complete', indent: '' };
}
