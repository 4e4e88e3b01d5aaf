import ts from 'typescript-6';
import type { CompletionAnswer, Described, LanguageCompletion } from '#shared/languageMessages.ts';
import { magicsAt } from '#session/magics/magicQuestions.ts';
import { sqlNamingAt } from '#session/sql/sqlNaming.ts';
import type { CellChain } from './cellChain.ts';
import { namingAt } from './catalogNames.ts';
import { tableSourceBy } from './tableSource.ts';
import { codeAndDocumentation } from './texts.ts';

const preferences: ts.UserPreferences = {
  includeCompletionsWithInsertText: true,
  includeAutomaticOptionalChainCompletions: true,
};

/** Where names stand in the list. What the cell itself declares has TypeScript's own `11`. */
const ofOtherCells = '12';
const preloaded = '13';

const nothing: CompletionAnswer = { items: [], naming: null, isKnown: true };

/** What may be written at a place, and whether it is the name of something in a catalog. */
export function completionAt(chain: CellChain, id: string, offset: number): CompletionAnswer {
  const cell = chain.of(id);
  if (!cell) return nothing;
  const { service, file, code, text } = cell;
  const magics = magicsAt(text, offset);
  if (magics) {
    const { names, start, end } = magics;
    const items = names.map((name) => ({ name, kind: 'magic', sortText: name, replace: { start, end } }));
    return { items, naming: null, isKnown: true };
  }
  const sql = sqlNamingAt(text, offset);
  if (sql) return { items: [], naming: sql.naming ?? null, isKnown: true };
  const source = chain.sourceOf(file);
  const naming = source
    ? namingAt(source, offset, (expression) => tableSourceBy(chain.checker, expression))
    : undefined;
  // In a string that names a table TypeScript has words of the file to offer, which are none of the catalog's.
  if (naming) return { items: [], naming, isKnown: true };
  const found = service.getCompletionsAtPosition(file, clamp(offset, code), preferences);
  if (!found) return { ...nothing, isKnown: !isBehindDot(code, offset) };
  const isGlobal = found.isGlobalCompletion;
  const names = isGlobal ? chain.namesBefore(file) : undefined;
  const items = found.entries
    .filter((entry) => entry.kind !== ts.ScriptElementKind.warning)
    .map((entry): LanguageCompletion => {
      const { name, kind, sortText, insertText, replacementSpan, kindModifiers } = entry;
      const rank = names?.cells.has(name) ? ofOtherCells : names?.preloaded.has(name) ? preloaded : undefined;
      const isFar = sortText === '15' || sortText.startsWith('z');
      return {
        name,
        kind,
        sortText: rank !== undefined && isFar ? rank : sortText,
        ...(insertText !== undefined && { insertText }),
        ...(replacementSpan && {
          replace: { start: replacementSpan.start, end: replacementSpan.start + replacementSpan.length },
        }),
        ...(kindModifiers?.split(',').includes('deprecated') && { isDeprecated: true }),
      };
    });
  return { items, naming: null, isKnown: items.length > 0 };
}

/** Type and documentation of a name that `completionAt` gave. */
export function describeCompletion(chain: CellChain, id: string, offset: number, name: string): Described | null {
  const cell = chain.of(id);
  if (!cell) return null;
  const { service, file, code } = cell;
  const details = service.getCompletionEntryDetails(
    file,
    clamp(offset, code),
    name,
    undefined,
    undefined,
    preferences,
    undefined,
  );
  return details ? codeAndDocumentation(details) : null;
}

const isBehindDot = (code: string, offset: number): boolean => /\.\s*[\w$]*$/.test(code.slice(0, offset));

export const clamp = (offset: number, code: string): number => Math.min(Math.max(offset, 0), code.length);
