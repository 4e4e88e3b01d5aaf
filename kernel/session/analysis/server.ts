import type { Duplex } from 'node:stream';
import ts from 'typescript-6';
import { completionItems } from '#catalog/names/sqlCompletion.ts';
import { trackNodeComments } from '#session/compiler/lazyComments.ts';
import { useOwnOutlines } from '#session/compiler/outlinedFiles.ts';
import { answerOfMagics, magicOptionsAt, magicsAt } from '#session/magics/magicQuestions.ts';
import { sqlCompletionAt } from '#session/sql/sqlCompletion.ts';
import { encodeFrame, readFrames } from '#shared/protocol/frames.ts';
import {
  type CellPlace,
  type CompletionAnswer,
  type DefinitionAnswer,
  type DefinitionTarget,
  type Described,
  type HoverAnswer,
  languageChecks,
  type LanguageCompletion,
  type LanguageHostMethods,
  type LanguageMethods,
  type SignatureAnswer,
  type Span,
} from '#shared/protocol/languageMessages.ts';
import { checkedHandlers, Endpoint, type Handlers } from '#shared/protocol/rpc.ts';
import { namingAt } from './catalogNames.ts';
import type { CellChain } from './cellChain.ts';
import { Notebooks } from './notebooks.ts';
import { tableSourceBy } from './tableSource.ts';
import { codeAndDocumentation, isUnknown, linked, plain } from './formatDocs.ts';

const preferences: ts.UserPreferences = {
  includeCompletionsWithInsertText: true,
  includeAutomaticOptionalChainCompletions: true,
};

/** Sort keys of names in the list of completions. TypeScript's key for declarations of the cell itself is `11`. */
const ofOtherCells = '12';
const preloaded = '13';

const nothing: CompletionAnswer = { items: [], naming: null, isKnown: true };

/** Returns the completions at an offset, and what the string there names in a catalog. */
export function completionAt(chain: CellChain, id: string, offset: number): CompletionAnswer {
  const cell = chain.of(id);
  if (!cell) return nothing;
  const { service, file, code, text } = cell;
  const magic = magicCompletionAt(text, offset);
  if (magic) return magic;
  const sql = sqlCompletionAt(text, offset);
  if (sql) return { items: completionItems(sql), naming: sql.naming ?? null, isKnown: true, isSql: true };
  const source = chain.sourceOf(file);
  const naming = source
    ? namingAt(source, offset, (expression) => tableSourceBy(chain.checker, expression))
    : undefined;
  // In a string that names a table, TypeScript would offer words of the file, so its completions are left out.
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

/**
 * Returns what completes a magic and its options; undefined in code. Enter must start a new line if the user has typed a
 * magic whole, so the filters hide every item then. The word itself is still an item: without items, VS Code would offer
 * words of other cells.
 */
function magicCompletionAt(text: string, offset: number): CompletionAnswer | undefined {
  const found = magicsAt(text, offset) ?? magicOptionsAt(text, offset);
  if (!found) return undefined;
  const { names, start, end } = found;
  const typed = text.slice(start, end);
  const shown = names.includes(typed) || (names.length === 0 && typed !== '') ? [typed] : names;
  // A longer magic, such as %%timeit for %%time, is requested again when its next letter is typed. A list that VS Code
  // requests for each letter would not help, because Enter accepts an item of the previous list until the next arrives.
  const filterText = (name: string): string => {
    const shortest = names.filter((other) => name.startsWith(other)).toSorted((a, b) => a.length - b.length)[0] ?? name;
    return shortest.slice(0, -1) || ' ';
  };
  return {
    items: shown.map((name) => ({
      name,
      kind: 'magic',
      sortText: name,
      filterText: filterText(name),
      replace: { start, end },
    })),
    naming: null,
    isKnown: true,
  };
}

/** Returns the type and the documentation of a name that `completionAt` returned. */
export function describeCompletion(chain: CellChain, id: string, offset: number, name: string): Described | null {
  const cell = chain.of(id);
  if (!cell || sqlCompletionAt(cell.text, offset)) return null;
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

/** Returns the type and the documentation of the name at an offset. */
export function hoverAt(chain: CellChain, id: string, offset: number): HoverAnswer {
  const cell = chain.of(id);
  const magic = cell && answerOfMagics({ kind: 'inspect', code: cell.text, cursor: offset, detail: 0 });
  const help = magic?.kind === 'inspect' ? magic.data?.['text/plain'] : undefined;
  if (typeof help === 'string') return { code: '', documentation: help, span: { start: offset, end: offset } };
  const info = cell?.service.getQuickInfoAtPosition(cell.file, clamp(offset, cell.code));
  return info && !isUnknown(info) ? { ...codeAndDocumentation(info), span: spanOf(info.textSpan) } : null;
}

/** Returns the signatures of the call around an offset. */
export function signatureAt(
  chain: CellChain,
  id: string,
  offset: number,
  reason: { isRetrigger: boolean; trigger: string | null },
): SignatureAnswer {
  const cell = chain.of(id);
  const help = cell?.service.getSignatureHelpItems(cell.file, clamp(offset, cell.code), {
    triggerReason: triggerReason(reason),
  });
  if (!help) return null;
  const items = generalSignatures(help);
  const signatures = items.map((item) => {
    let label = plain(item.prefixDisplayParts);
    const parameters = item.parameters.map((parameter, i) => {
      if (i > 0) label += plain(item.separatorDisplayParts);
      const start = label.length;
      label += plain(parameter.displayParts);
      const range: [number, number] = [start, label.length];
      return { label: range, documentation: linked(parameter.documentation) };
    });
    return { label: label + plain(item.suffixDisplayParts), documentation: linked(item.documentation), parameters };
  });
  // A variadic function has more arguments than parameters: all further arguments belong to the last parameter.
  const known = help.items[help.selectedItemIndex];
  const activeSignature =
    known && items.includes(known)
      ? items.indexOf(known)
      : Math.max(
          items.findIndex(({ parameters }) => parameters.length > help.argumentIndex),
          0,
        );
  const selected = items[activeSignature];
  const last = (selected?.parameters.length ?? 1) - 1;
  return {
    signatures,
    activeSignature,
    activeParameter: selected?.isVariadic ? Math.min(help.argumentIndex, last) : help.argumentIndex,
  };
}

/** Leaves out signatures of `openTable` that the prelude has for tables with known columns. */
function generalSignatures({ items }: ts.SignatureHelpItems): ts.SignatureHelpItem[] {
  const general = items.filter(
    ({ prefixDisplayParts, parameters: [first] }) =>
      !(plain(prefixDisplayParts) === 'openTable(' && plain(first?.displayParts).startsWith('name: "')),
  );
  return general.length > 0 ? general : items;
}

/**
 * Returns where the name at an offset is declared, in a cell or a file. For `db`, returns where the type of `db` is
 * declared, because `db` itself has no declaration in a file.
 */
export function definitionAt(chain: CellChain, id: string, offset: number): DefinitionAnswer {
  const cell = chain.of(id);
  if (!cell) return null;
  const { service, file } = cell;
  const at = clamp(offset, cell.code);
  const found = service.getDefinitionAndBoundSpan(file, at);
  if (!found) return null;
  const targetsOf = (all: readonly Location[] | undefined) => (all ?? []).flatMap((one) => targetOf(chain, one) ?? []);
  const declared = targetsOf(found.definitions);
  const isPreloaded = declared.length === 0 && found.definitions !== undefined;
  const others = isPreloaded ? targetsOf(declarationsOf(chain, file, found.textSpan)) : [];
  const targets =
    [declared, others].find((list) => list.length > 0) ?? targetsOf(service.getTypeDefinitionAtPosition(file, at));
  return targets.length > 0 ? { origin: spanOf(found.textSpan), targets } : null;
}

/**
 * Returns all declarations of the name at a span. The prelude adds declarations to the method `openTable` of a catalog.
 */
function declarationsOf(chain: CellChain, file: string, { start }: ts.TextSpan): Location[] {
  const source = chain.sourceOf(file);
  const visit = (node: ts.Node): ts.Node | undefined =>
    start < node.getStart(source) || start >= node.getEnd()
      ? undefined
      : (ts.forEachChild(node, visit) ?? (ts.isIdentifier(node) ? node : undefined));
  const name = source && ts.forEachChild(source, visit);
  const declarations = (name && chain.checker.getSymbolAtLocation(name)?.declarations) ?? [];
  return declarations.map((node) => {
    const declared = ts.getNameOfDeclaration(node) ?? node;
    const at = declared.getStart();
    return { fileName: node.getSourceFile().fileName, textSpan: { start: at, length: declared.getEnd() - at } };
  });
}

type Location = Pick<ts.DefinitionInfo, 'fileName' | 'textSpan'>;

function targetOf(chain: CellChain, { fileName, textSpan }: Location): DefinitionTarget | undefined {
  const span = spanOf(textSpan);
  const cell = chain.cellOf(fileName);
  if (cell !== undefined) return { cell, span };
  // The prelude, which declares `db`, is neither a cell nor on disk.
  if (!ts.sys.fileExists(fileName)) return undefined;
  const start = chain.sourceOf(fileName)?.getLineAndCharacterOfPosition(textSpan.start);
  return { file: fileName, line: start?.line ?? 0, character: start?.character ?? 0, span };
}

const spanOf = ({ start, length }: ts.TextSpan): Span => ({ start, end: start + length });

const triggers: readonly string[] = [',', '(', '<'];

function triggerReason({
  isRetrigger,
  trigger,
}: {
  isRetrigger: boolean;
  trigger: string | null;
}): ts.SignatureHelpTriggerReason {
  if (isRetrigger) return { kind: 'retrigger' };
  if (trigger !== null && triggers.includes(trigger))
    return { kind: 'characterTyped', triggerCharacter: trigger as ts.SignatureHelpTriggerCharacter };
  return { kind: 'invoked' };
}

/**
 * Serves one client.
 * @param pipe the connection to the client; the caller handles its end
 * @param end called when the client's messages can no longer be read
 */
export function serve(pipe: Duplex, end: () => void): void {
  trackNodeComments();
  const outlined = useOwnOutlines();
  const notebooks = new Notebooks({
    publish: (notebook, cell, findings) => {
      // The request fails only if the pipe has closed, and the caller handles a closed pipe.
      client.request('findings', { notebook, cell, findings }).catch(() => {});
    },
    openedTables: (notebook, tables) => {
      client.request('openedTables', { notebook, tables }).catch(() => {});
    },
    settled: () => outlined.keep(),
  });
  const client = new Endpoint<LanguageMethods, LanguageHostMethods>(
    (frame) => void pipe.write(encodeFrame(frame)),
    checkedHandlers(handlersOf(notebooks), languageChecks, 'the language worker'),
  );
  readFrames(pipe, (message) => void client.receive(message), end);
  client.request('ready', { typescript: ts.version }).catch(() => {});
}

function handlersOf(notebooks: Notebooks): Handlers<LanguageMethods> {
  /**
   * Answers only after the messages sent along with the request were read, because one of them may cancel the request
   * or change the text.
   */
  const about =
    <P extends CellPlace, R>(answer: (chain: CellChain, place: P) => R, unknown: R) =>
    async (place: P, signal: AbortSignal): Promise<R> => {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      const chain = notebooks.use(place.notebook);
      return chain ? answer(chain, place) : unknown;
    };
  return {
    cells: ({ notebook, cells, ...settings }) => (notebooks.setCells(notebook, settings, cells), null),
    text: ({ notebook, cell, text }) => (notebooks.setText(notebook, cell, text), null),
    close: ({ notebook }) => (notebooks.close(notebook), null),
    tableTypes: ({ notebook, tables }) => (notebooks.setTableTypes(notebook, tables), null),
    filesChanged: () => (notebooks.filesChanged(), null),
    complete: about((chain, { cell, offset }) => completionAt(chain, cell, offset), {
      items: [],
      naming: null,
      isKnown: false,
    }),
    describe: about((chain, { cell, offset, name }) => describeCompletion(chain, cell, offset, name), null),
    hover: about((chain, { cell, offset }) => hoverAt(chain, cell, offset), null),
    signature: about((chain, { cell, offset, ...reason }) => signatureAt(chain, cell, offset, reason), null),
    definition: about((chain, { cell, offset }) => definitionAt(chain, cell, offset), null),
  };
}
