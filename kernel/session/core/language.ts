import { isCompleteCode } from 'tslab/dist/converter.js';
import ts from 'typescript-6';
import { type CatalogNames, fits } from '#catalog/names/catalogNames.ts';
import type { SqlCompletion } from '#catalog/names/sqlCompletion.ts';
import { messageOf } from '#shared/errors.ts';
import type { Naming } from '#shared/catalogConfig.ts';
import type { CompletionItem } from '#shared/protocol/kernelMessages.ts';
import { namingAt } from '#session/analysis/catalogNames.ts';
import { codeOf } from '#session/analysis/cellSource.ts';
import { tableSourceBy } from '#session/analysis/tableSource.ts';
import { codeAndDocumentation, isUnknown, withoutAnyRows } from '#session/analysis/formatDocs.ts';
import type { CellService } from '#session/compile/cellConverter.ts';
import type { CodeQuestion, QuestionAnswer } from '#session/threads/coreMessages.ts';
import { partsOf } from '#session/magics/cellParts.ts';
import { sqlCompletionAt } from '#session/sql/sqlCompletion.ts';

/** Provides a language service over a cell and the cells that ran before it. */
type Compiler = { service(code: string): CellService };

type LanguageDeps = { compiler: Compiler; names: CatalogNames };

/**
 * Maximum number of names whose signature is computed. A longer list has every name in scope, and computing all
 * signatures would take too long.
 */
const maxSignatures = 200;
/** Maximum length of a declaration in characters. */
const maxDeclaration = 4000;

/** Answers a request about code that the user is typing. Positions count UTF-16 units. */
export async function answer(parts: LanguageDeps, question: CodeQuestion): Promise<QuestionAnswer> {
  try {
    const sql = question.kind === 'complete' && sqlCompletionAt(question.code, question.cursor);
    if (sql) return await completeSql(parts, question.code, question.cursor, sql);
    // Lines that are not TypeScript are blanked, so that the positions around them stay the same.
    const code = codeOf(question.code);
    switch (question.kind) {
      case 'complete':
        return await complete(parts, code, clamp(question.cursor, code));
      case 'inspect':
        return inspect(parts.compiler, code, clamp(question.cursor, code), question.detail);
      case 'isComplete':
        return isComplete(question.code, code);
    }
  } catch (error) {
    return { kind: 'failed', message: `The compiler failed: ${messageOf(error)}` };
  }
}

const clamp = (cursor: number, code: string): number => Math.min(Math.max(cursor, 0), code.length);

async function complete({ compiler, names }: LanguageDeps, code: string, cursor: number): Promise<QuestionAnswer> {
  const { service, file, program } = compiler.service(code);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const naming = source && namingAt(source, cursor, (expression) => tableSourceBy(checker, expression));
  if (naming) return completeNames({ compiler, names }, code, cursor, naming);
  const found = service.getCompletionsAtPosition(file, cursor, { includeSymbol: true });
  const start = cursor - (/[\p{ID_Continue}$]*$/u.exec(code.slice(0, cursor))?.[0].length ?? 0);
  const end = cursor + (/^[\p{ID_Continue}$]*/u.exec(code.slice(cursor))?.[0].length ?? 0);
  const typed = code.slice(start, cursor).toLowerCase();
  const entries = (found?.entries ?? [])
    .map((entry) => ({ entry, order: orderOf(entry.name, typed, entry.sortText) }))
    .filter(({ order }) => order !== undefined)
    .toSorted((a, b) => compare(a.order ?? '', b.order ?? '') || compare(a.entry.name, b.entry.name));
  const areFew = entries.length <= maxSignatures;
  const matches = entries.map(({ entry: { name, kind, symbol } }): CompletionItem => {
    const signature = areFew && symbol && source ? signatureOf(checker, symbol, source) : undefined;
    return { text: name, kind, ...(signature !== undefined && { signature }) };
  });
  return { kind: 'complete', matches, start, end };
}

async function completeNames(
  { names }: LanguageDeps,
  code: string,
  cursor: number,
  naming: Naming,
): Promise<QuestionAnswer & { kind: 'complete' }> {
  const typed = code.slice(naming.start, cursor);
  const { names: found } = await names.fitting(naming, { typed });
  const matches = found
    .filter((one) => fits(one, typed))
    .map(({ text, kind, detail }) => ({ text, kind, signature: detail }));
  return { kind: 'complete', matches, start: naming.start, end: Math.max(naming.end, cursor) };
}

/** Returns the names of the catalog, then the words of SQL that start with the typed text. */
async function completeSql(
  deps: LanguageDeps,
  code: string,
  cursor: number,
  { naming, words, start, end }: SqlCompletion,
): Promise<QuestionAnswer> {
  const named = naming && (await completeNames(deps, code, cursor, naming));
  const typed = code.slice(start, cursor).replace(/^["`]/, '').toLowerCase();
  const taken = new Set(named?.matches.map(({ text }) => text));
  const fitting = words
    .filter(({ text }) => text.replace(/^"/, '').toLowerCase().startsWith(typed) && !taken.has(text))
    .map(({ text, kind, signature }) => ({ text, kind, ...(signature !== undefined && { signature }) }));
  const all = [...(named?.matches ?? []), ...fitting];
  return { kind: 'complete', matches: all, start: named?.start ?? start, end: named?.end ?? Math.max(end, cursor) };
}

/** Returns the first signature of a function; undefined if the symbol is not a function. */
function signatureOf(checker: ts.TypeChecker, symbol: ts.Symbol, source: ts.SourceFile): string | undefined {
  const [signature] = checker.getTypeOfSymbolAtLocation(symbol, source).getCallSignatures();
  // No enclosing node is passed, so that types are written without the files that declare them.
  const flags = ts.TypeFormatFlags.UseAliasDefinedOutsideCurrentScope;
  return signature && withoutAnyRows(checker.signatureToString(signature, undefined, flags));
}

/**
 * Sort key: names that start with the typed text come first, then names that contain the text. Returns undefined for
 * other names.
 */
function orderOf(name: string, typed: string, sortText: string): string | undefined {
  const at = name.toLowerCase().indexOf(typed);
  return at < 0 ? undefined : `${at === 0 ? 0 : 1}${sortText}`;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function inspect(compiler: Compiler, code: string, cursor: number, detail: 0 | 1): QuestionAnswer {
  // A cursor directly after a name refers to that name, as in every client. The compiler reads what follows the cursor,
  // so the position moves back onto the name.
  const at = [cursor, cursor - 1].find((each) => /[\w$]/.test(code[each] ?? ''));
  if (at === undefined) return { kind: 'inspect', data: null };
  const { service, file, program } = compiler.service(code);
  const info = service.getQuickInfoAtPosition(file, at);
  // The compiler reports only `any` for an undeclared name.
  if (!info || isUnknown(info)) return { kind: 'inspect', data: null };
  const declared = detail === 1 ? declarationAt(service, program, file, at) : undefined;
  const described = codeAndDocumentation(info);
  return {
    kind: 'inspect',
    data: {
      'text/plain': [described.code, described.documentation, declared ?? '']
        .filter((text) => text !== '')
        .join('\n\n'),
      'text/markdown': [block(described.code), described.documentation, declared === undefined ? '' : block(declared)]
        .filter((text) => text !== '')
        .join('\n\n'),
    },
  };
}

const block = (text: string): string => `\`\`\`typescript\n${text}\n\`\`\``;

/**
 * Returns the text of a declaration; undefined if the declaration is long or the compiler does not know where it is.
 */
function declarationAt(
  service: ts.LanguageService,
  program: ts.Program,
  file: string,
  position: number,
): string | undefined {
  const [found] = service.getDefinitionAtPosition(file, position) ?? [];
  const source = found && program.getSourceFile(found.fileName);
  if (!found?.contextSpan || !source) return undefined;
  const { start, length } = found.contextSpan;
  return length > maxDeclaration ? undefined : source.text.slice(start, start + length);
}

/** Input that ends with a blank line counts as finished, even if more could follow. */
const enough = /\n\s*\n\s*$/;
const unterminatedTemplate = 1160;

/** @param code `typed` without the lines that are not TypeScript */
function isComplete(typed: string, code: string): QuestionAnswer {
  const { completed, indent } = isCompleteCode(code);
  if (!completed) return { kind: 'isComplete', status: 'incomplete', indent: indent ?? '' };
  const file = ts.createSourceFile('cell.tsx', code, ts.ScriptTarget.Latest, false, ts.ScriptKind.TSX);
  const { parseDiagnostics = [] } = file as { parseDiagnostics?: readonly ts.Diagnostic[] };
  const isOpen = isOpenMagic(typed) || parseDiagnostics.some((each) => each.code === unterminatedTemplate);
  if (isOpen && !enough.test(typed)) return { kind: 'isComplete', status: 'incomplete', indent: '' };
  return { kind: 'isComplete', status: parseDiagnostics.length ? 'invalid' : 'complete', indent: '' };
}

/**
 * Whether the body of a magic may continue. As in IPython, a blank line ends the body of `%%sql`, because the body has
 * no other end mark.
 */
function isOpenMagic(typed: string): boolean {
  const [part] = partsOf(typed) ?? [];
  if (part?.kind !== 'magic' || !part.body) return false;
  const isBlank = typed.slice(part.body.start, part.body.end).trim() === '';
  return isBlank || !/\n[^\S\n]*$/.test(typed);
}
