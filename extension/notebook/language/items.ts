import * as vscode from 'vscode';
import type { FittingName } from '#catalog/names/catalogNames.ts';
import type { Naming } from '#shared/catalogConfig.ts';
import type { CompletionItem as KernelItem } from '#shared/protocol/kernelMessages.ts';
import type { CellPlace, Described, LanguageCompletion, Span } from '#shared/protocol/languageMessages.ts';
import { codeBlock, documentationMarkdown } from '../../host/inertMarkdown.ts';
import { createHover, createMarkdown } from '../../host/messages.ts';

// Converts results of the language worker, the kernel and a catalog to VS Code's types.

/** A completion of the language worker, which sends the details after the user selects the item. */
export type CellItem = vscode.CompletionItem & { place?: CellPlace };

const { CompletionItemKind } = vscode;
const kinds: Readonly<Record<string, vscode.CompletionItemKind>> = {
  method: CompletionItemKind.Method,
  construct: CompletionItemKind.Constructor,
  constructor: CompletionItemKind.Constructor,
  property: CompletionItemKind.Property,
  getter: CompletionItemKind.Property,
  setter: CompletionItemKind.Property,
  accessor: CompletionItemKind.Property,
  function: CompletionItemKind.Function,
  'local function': CompletionItemKind.Function,
  const: CompletionItemKind.Constant,
  let: CompletionItemKind.Variable,
  var: CompletionItemKind.Variable,
  'local var': CompletionItemKind.Variable,
  using: CompletionItemKind.Variable,
  'await using': CompletionItemKind.Variable,
  parameter: CompletionItemKind.Variable,
  alias: CompletionItemKind.Variable,
  class: CompletionItemKind.Class,
  'local class': CompletionItemKind.Class,
  interface: CompletionItemKind.Interface,
  type: CompletionItemKind.TypeParameter,
  'type parameter': CompletionItemKind.TypeParameter,
  enum: CompletionItemKind.Enum,
  'enum member': CompletionItemKind.EnumMember,
  module: CompletionItemKind.Module,
  'external module name': CompletionItemKind.Module,
  script: CompletionItemKind.File,
  directory: CompletionItemKind.Folder,
  string: CompletionItemKind.Constant,
  keyword: CompletionItemKind.Keyword,
  magic: CompletionItemKind.Keyword,
  table: CompletionItemKind.Struct,
  namespace: CompletionItemKind.Module,
  column: CompletionItemKind.Field,
};
const kindOf = (kind: string): vscode.CompletionItemKind =>
  (Object.hasOwn(kinds, kind) ? kinds[kind] : undefined) ?? CompletionItemKind.Variable;

export const rangeOf = (document: vscode.TextDocument, { start, end }: Span): vscode.Range =>
  new vscode.Range(document.positionAt(start), document.positionAt(end));

/** @param place the place in a notebook, for the details of the item; `undefined` for items without details */
export function itemOfWorker(
  document: vscode.TextDocument,
  place: CellPlace | undefined,
  one: LanguageCompletion,
): CellItem {
  const label = one.signature === undefined ? one.name : { label: one.name, description: one.signature };
  const item: CellItem = new vscode.CompletionItem(label, kindOf(one.kind));
  item.sortText = one.sortText;
  if (place) item.place = place;
  if (one.insertText !== undefined) item.insertText = one.insertText;
  if (one.isDeprecated) item.tags = [vscode.CompletionItemTag.Deprecated];
  if (one.replace) {
    item.range = rangeOf(document, one.replace);
    // VS Code filters by the text that the item replaces. An item that changes `row.a-b` to `row["a-b"]` also replaces
    // the dot.
    const before = document.getText(item.range).replace(/[\w$]*$/, '');
    item.filterText = one.name.startsWith(before) ? one.name : before + one.name;
  }
  if (one.filterText !== undefined) item.filterText = one.filterText;
  return item;
}

/** Converts a name that only the kernel knows, for example from a cell that was changed or deleted after it ran. */
export function itemOfKernel({ text, kind }: KernelItem, range: vscode.Range): vscode.CompletionItem {
  const item = new vscode.CompletionItem(text, kindOf(kind));
  item.range = range;
  item.sortText = '14';
  // Without its last letter, a magic that is typed whole is hidden. Else Enter would accept it.
  if (kind === 'magic') item.filterText = text.slice(0, -1);
  return item;
}

/** @param index position of the name in the catalog's order; the suggestions keep this order */
export function itemOfName(
  document: vscode.TextDocument,
  naming: Naming,
  one: FittingName,
  index: number,
): vscode.CompletionItem {
  const item = new vscode.CompletionItem({ label: one.name, description: one.detail }, kindOf(one.kind));
  item.range = rangeOf(document, naming);
  item.insertText = one.text;
  item.filterText = one.filter;
  item.sortText = String(index).padStart(4, '0');
  return item;
}

export function describe(item: vscode.CompletionItem, { code, documentation }: Described): void {
  item.detail = code;
  item.documentation = createMarkdown(documentationMarkdown(documentation));
}

export function hoverOf({ code, documentation }: Described, range?: vscode.Range): vscode.Hover {
  const parts = [
    ...(code ? [codeBlock(code, 'typescript')] : []),
    ...(documentation ? [documentationMarkdown(documentation)] : []),
  ];
  return createHover(parts, range);
}

/**
 * Returns an item that fits no typed word and is never shown. If a provider has no items at all, VS Code suggests words
 * of the document, and Enter would accept one instead of starting a new line.
 */
export function hiddenItem(): vscode.CompletionItem {
  const item = new vscode.CompletionItem(' ', vscode.CompletionItemKind.Text);
  item.filterText = '\u{ffff}';
  return item;
}
