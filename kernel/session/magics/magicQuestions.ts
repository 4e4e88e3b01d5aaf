import type { CodeQuestion, QuestionAnswer } from '#session/threads/coreMessages.ts';
import { partsOf } from './cellParts.ts';
import { helpOf } from './help.ts';
import { formOf, isMagicName, magicNames } from './magicNames.ts';

/** Answers a question about a magic that is being typed; undefined if the language service has to answer. */
export function answerOfMagics(question: CodeQuestion): QuestionAnswer | undefined {
  switch (question.kind) {
    case 'complete':
      return complete(question.code, question.cursor);
    case 'inspect':
      return inspect(question.code, question.cursor);
    case 'isComplete':
      return isComplete(question.code);
  }
}

/** Returns the magics that complete the input at the start of a line. */
export function magicsAt(code: string, cursor: number): { names: string[]; start: number; end: number } | undefined {
  const lineStart = code.lastIndexOf('\n', cursor - 1) + 1;
  const [, blanks, marks, typed] = /^(\s*)(%%?)(\w*)$/.exec(code.slice(lineStart, cursor)) ?? [];
  if (blanks === undefined || marks === undefined || typed === undefined) return undefined;
  const isFirst = code.slice(0, lineStart).trim() === '';
  const names = magicNames
    .filter((name) => name.startsWith(typed.toLowerCase()))
    .flatMap((name) => {
      const { line, cell } = formOf(name);
      const isLine = marks === '%' && line !== undefined;
      return [...(isLine ? [`%${name}`] : []), ...(isFirst && cell !== undefined ? [`%%${name}`] : [])];
    });
  const end = cursor + (/^\w*/.exec(code.slice(cursor))?.[0].length ?? 0);
  return { names, start: lineStart + blanks.length, end };
}

/** Returns the options that complete the word after the name of a magic; undefined in code and outside of magics. */
export function magicOptionsAt(
  code: string,
  cursor: number,
): { names: string[]; start: number; end: number } | undefined {
  const part = partsOf(code)?.find(
    (each) => each.kind === 'magic' && each.rest.start < cursor && cursor <= each.rest.end,
  );
  if (part?.kind !== 'magic' || !isMagicName(part.name)) return undefined;
  if (part.code && part.code.start <= cursor) return undefined;
  const start = cursor - (/\S*$/.exec(code.slice(part.rest.start, cursor))?.[0].length ?? 0);
  const end = cursor + (/^\S*/.exec(code.slice(cursor, part.rest.end))?.[0].length ?? 0);
  const typed = code.slice(start, cursor);
  const { line, cell } = formOf(part.name);
  const known = (part.isCell ? cell : line)?.match(/(?<=[\s[])--?[a-z]+/gi) ?? [];
  return { names: typed.startsWith('-') ? known.filter((name) => name.startsWith(typed)) : [], start, end };
}

function complete(code: string, cursor: number): QuestionAnswer | undefined {
  const found = magicsAt(code, cursor);
  if (!found) return undefined;
  const { names, start, end } = found;
  return { kind: 'complete', matches: names.map((text) => ({ text, kind: 'magic' })), start, end };
}

function inspect(code: string, cursor: number): QuestionAnswer | undefined {
  const part = partsOf(code)?.find(
    (each) => each.kind === 'magic' && each.start <= cursor && cursor <= each.rest.start && isMagicName(each.name),
  );
  if (part?.kind !== 'magic' || !isMagicName(part.name)) return undefined;
  return { kind: 'inspect', data: { 'text/plain': helpOf(part.name) } };
}

/** In a console, a blank line ends a cell magic. */
function isComplete(code: string): QuestionAnswer | undefined {
  const [part] = partsOf(code) ?? [];
  if (part?.kind !== 'magic' || !part.body) return undefined;
  const body = code.slice(part.body.start, part.body.end);
  const isDone = body.trim() !== '' && /\n[^\S\n]*$/.test(body);
  return { kind: 'isComplete', status: isDone ? 'complete' : 'incomplete', indent: '' };
}
