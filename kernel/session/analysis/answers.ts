import ts from 'typescript-6';
import type {
  DefinitionAnswer,
  DefinitionTarget,
  HoverAnswer,
  SignatureAnswer,
  Span,
} from '#shared/languageMessages.ts';
import { answerOfMagics } from '#session/magics/magicQuestions.ts';
import type { CellChain } from './cellChain.ts';
import { clamp } from './completion.ts';
import { codeAndDocumentation, isUnknown, linked, plain } from './texts.ts';

/** What is at a place: its type, and what is written about it. */
export function hoverAt(chain: CellChain, id: string, offset: number): HoverAnswer {
  const cell = chain.of(id);
  const magic = cell && answerOfMagics({ kind: 'inspect', code: cell.text, cursor: offset, detail: 0 });
  const help = magic?.kind === 'inspect' ? magic.data?.['text/plain'] : undefined;
  if (typeof help === 'string') return { code: '', documentation: help, span: { start: offset, end: offset } };
  const info = cell?.service.getQuickInfoAtPosition(cell.file, clamp(offset, cell.code));
  return info && !isUnknown(info) ? { ...codeAndDocumentation(info), span: spanOf(info.textSpan) } : null;
}

/** The calls that a place is in the arguments of. */
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
  const signatures = help.items.map((item) => {
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
  // The last parameter of one that takes any number is meant by every argument after it.
  const selected = help.items[help.selectedItemIndex];
  const last = (selected?.parameters.length ?? 1) - 1;
  return {
    signatures,
    activeSignature: help.selectedItemIndex,
    activeParameter: selected?.isVariadic ? Math.min(help.argumentIndex, last) : help.argumentIndex,
  };
}

/** Where the name at a place is declared, in a cell or in a file; of `db`, which is declared nowhere, its type. */
export function definitionAt(chain: CellChain, id: string, offset: number): DefinitionAnswer {
  const cell = chain.of(id);
  if (!cell) return null;
  const { service, file } = cell;
  const at = clamp(offset, cell.code);
  const found = service.getDefinitionAndBoundSpan(file, at);
  if (!found) return null;
  const targetsOf = (all: readonly ts.DefinitionInfo[] | undefined) =>
    (all ?? []).flatMap((one) => targetOf(chain, one) ?? []);
  const declared = targetsOf(found.definitions);
  const targets = declared.length > 0 ? declared : targetsOf(service.getTypeDefinitionAtPosition(file, at));
  return targets.length > 0 ? { origin: spanOf(found.textSpan), targets } : null;
}

function targetOf(chain: CellChain, { fileName, textSpan }: ts.DefinitionInfo): DefinitionTarget | undefined {
  const span = spanOf(textSpan);
  const cell = chain.cellOf(fileName);
  if (cell !== undefined) return { cell, span };
  // The one file that is in no cell and not on the disk says what `db` is.
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
