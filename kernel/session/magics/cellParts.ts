import ts from 'typescript-6';
import { formOf, isMagicName } from './magicNames.ts';

/** A range of a cell's text, in UTF-16 units. */
export type Span = { start: number; end: number };

/** `%name rest` on a line, or `%%name rest` on the first line of a cell. */
export type MagicPart = Span & {
  kind: 'magic';
  name: string;
  /** Written with `%%`. */
  isCell: boolean;
  /** The text after the name, up to the end of the line or up to the end of the code that starts there. */
  rest: Span;
  /** The lines below a cell magic; undefined for a line magic, or if the magic is not on the first line. */
  body: Span | undefined;
  /** The part of `rest` and `body` that is notebook code. */
  code: Span | undefined;
};

/** `?name` or `name?`; two question marks request full detail. */
export type QuestionPart = Span & { kind: 'question'; about: string; detail: 0 | 1 };

export type CellPart = (Span & { kind: 'code' }) | MagicPart | QuestionPart;

const anyMark = /^[^\S\n]*[%?]|\?[^\S\n]*$/m;
const magicHead = /^\s*(%%?)([a-zA-Z]\w*)(?=\s|$)/;
const options = /^(?:\s+-[a-z]\s*\d+)*\s*/;
const name = String.raw`%{0,2}[\p{ID_Start}$_][\p{ID_Continue}$.]*`;
const asksFirst = new RegExp(String.raw`^\s*(?<marks>\?{1,2})\s*(?<about>${name})\s*;?\s*$`, 'u');
const asksLast = new RegExp(String.raw`^\s*(?<about>${name})\s*(?<marks>\?{1,2})\s*$`, 'u');

/**
 * Splits a cell into code, magics and questions, in order; returns undefined if the cell is only code. A line inside
 * open brackets, a string or a comment is not a magic.
 */
export function partsOf(source: string): CellPart[] | undefined {
  if (!anyMark.test(source)) return undefined;
  const written = linesOf(source).filter(({ text }) => text.trim() !== '');
  const [head] = written;
  const magic = head && magicOn(source, head);
  if (magic?.isCell) {
    const body = { start: Math.min(magic.end + 1, source.length), end: source.length };
    return [{ ...magic, body, code: magic.code && body, end: source.length }];
  }
  const parts = takeApart(source, written);
  return parts.every(({ kind }) => kind === 'code') ? undefined : parts;
}

/**
 * Returns a range of a cell at its original position: text before the range is blanked, text after the range is
 * dropped.
 */
export const alone = (source: string, { start, end }: Span): string =>
  blanked(source.slice(0, start)) + source.slice(start, end);

/** Replaces all characters except line breaks by blanks. */
export const blanked = (text: string): string => text.replace(/[^\r\n]/g, ' ');

type Line = Span & { text: string };

function linesOf(source: string): Line[] {
  let start = 0;
  return source.split('\n').map((text) => {
    const line = { text, start, end: start + text.length };
    start = line.end + 1;
    return line;
  });
}

function takeApart(source: string, lines: readonly Line[]): CellPart[] {
  const parts: CellPart[] = [];
  let from = 0;
  for (const line of lines) {
    // The line is a part of the code of a magic above, so it is skipped.
    if (line.start < from) continue;
    const before = source.slice(from, line.start);
    const part = questionOn(line, before, lines.length === 1) ?? magicAmong(source, line, before);
    if (!part) continue;
    if (before.trim() !== '') parts.push({ kind: 'code', start: from, end: line.start });
    parts.push(part);
    from = part.end;
  }
  if (source.slice(from).trim() !== '') parts.push({ kind: 'code', start: from, end: source.length });
  return parts;
}

/**
 * Accepts `?b` only without code above, and `b?` only if it is the only line. Elsewhere, `?b` and `b?` may be parts of
 * a conditional expression.
 */
function questionOn({ text, start, end }: Line, before: string, isAlone: boolean): QuestionPart | undefined {
  const found = (before.trim() === '' && asksFirst.exec(text)) || (isAlone && asksLast.exec(text));
  const { about, marks } = (found || undefined)?.groups ?? {};
  if (about === undefined || marks === undefined) return undefined;
  return { kind: 'question', about, detail: marks.length === 2 ? 1 : 0, start, end };
}

function magicAmong(source: string, line: Line, before: string): MagicPart | undefined {
  const magic = magicOn(source, line);
  if (!magic || endsOpen(before)) return undefined;
  // `%rest` at the start of a line may also be the remainder operator. It counts as a magic if the name is known or the
  // code is not valid otherwise.
  return isMagicName(magic.name) || !isValid(source) ? magic : undefined;
}

function magicOn(source: string, { text, start, end: lineEnd }: Line): MagicPart | undefined {
  const [head, marks, word] = magicHead.exec(text) ?? [];
  if (head === undefined || marks === undefined || word === undefined) return undefined;
  const isCell = marks === '%%';
  const takesCode = isMagicName(word) && formOf(word).takesCode === true;
  const restStart = start + head.length;
  const end = takesCode && !isCell ? endOfCode(source, restStart, lineEnd) : lineEnd;
  const rest = { start: restStart, end };
  const given = options.exec(source.slice(restStart, end))?.[0].length ?? 0;
  const code = takesCode ? { start: restStart + given, end } : undefined;
  return { kind: 'magic', name: word, isCell, rest, body: undefined, code, start, end };
}

/** Returns the end of the code of a magic, which continues on the next line while brackets or a string are open. */
function endOfCode(source: string, start: number, lineEnd: number): number {
  let end = lineEnd;
  while (end < source.length && source.slice(start, end).trim() !== '' && endsOpen(source.slice(start, end))) {
    const next = source.indexOf('\n', end + 1);
    end = next < 0 ? source.length : next;
  }
  // If the code never closes, it ends with its line, so that the error is reported for that line.
  return endsOpen(source.slice(start, end)) ? lineEnd : end;
}

/** Whether code ends inside brackets, a multiline string, a comment or an expression. */
function endsOpen(code: string): boolean {
  const text = code.trimEnd();
  return text !== '' && mistakesIn(text).some((mistake) => mistake.start + mistake.length >= text.length);
}

const isValid = (code: string): boolean => mistakesIn(code).length === 0;

function mistakesIn(code: string): readonly ts.DiagnosticWithLocation[] {
  const file = ts.createSourceFile('cell.tsx', code, ts.ScriptTarget.Latest, false, ts.ScriptKind.TSX);
  return (file as { parseDiagnostics?: readonly ts.DiagnosticWithLocation[] }).parseDiagnostics ?? [];
}
