import * as vscode from 'vscode';
import type { CompletionItem as KernelItem } from '#shared/kernelMessages.ts';
import { notebookIds } from '../manifest.ts';
import type { NotebookKernels } from './controller.ts';

/** A busy kernel does not answer between two statements; the editor's own suggestions should not wait for it. */
const limitMilliseconds = 800;

const kinds: Record<string, vscode.CompletionItemKind> = {
  method: vscode.CompletionItemKind.Method,
  property: vscode.CompletionItemKind.Property,
  getter: vscode.CompletionItemKind.Property,
  function: vscode.CompletionItemKind.Function,
  const: vscode.CompletionItemKind.Constant,
  let: vscode.CompletionItemKind.Variable,
  var: vscode.CompletionItemKind.Variable,
  class: vscode.CompletionItemKind.Class,
  interface: vscode.CompletionItemKind.Interface,
  type: vscode.CompletionItemKind.TypeParameter,
  module: vscode.CompletionItemKind.Module,
  keyword: vscode.CompletionItemKind.Keyword,
};

/**
 * Completion and hover in cells by what the kernel knows: `db`, and the variables of cells that ran. The editor's own
 * TypeScript answers too, knows some of it, and its answers are added to ours: so ours leaves out what it has.
 */
export function registerCellLanguage(kernels: NotebookKernels): vscode.Disposable {
  const selector = ['typescript', 'javascript'].map((language) => ({
    notebookType: notebookIds.notebookType,
    language,
  }));
  /** Set while the other providers are asked, since asking them asks ours as well. */
  let isAsking = false;
  const askOthers = async <T>(command: string, ...args: unknown[]): Promise<T | undefined> => {
    isAsking = true;
    try {
      return await vscode.commands.executeCommand<T>(command, ...args);
    } finally {
      isAsking = false;
    }
  };

  const completion: vscode.CompletionItemProvider = {
    async provideCompletionItems(document, position, token, context) {
      const kernel = isAsking ? undefined : await kernelOf(kernels, document);
      if (!kernel) return undefined;
      const [reply, others] = await Promise.all([
        withLimit(kernel.complete(document.getText(), document.offsetAt(position), signalOf(token))),
        askOthers<vscode.CompletionList>(
          'vscode.executeCompletionItemProvider',
          document.uri,
          position,
          context.triggerCharacter,
        ),
      ]);
      if (!reply) return undefined;
      const known = new Set(others?.items.filter(isFromLanguage).map(labelOf));
      const range = new vscode.Range(document.positionAt(reply.cursorStart), document.positionAt(reply.cursorEnd));
      return reply.matches.filter(({ text }) => !known.has(text)).map((match) => itemOf(match, range));
    },
  };
  const hover: vscode.HoverProvider = {
    async provideHover(document, position, token) {
      const kernel = isAsking ? undefined : await kernelOf(kernels, document);
      if (!kernel) return undefined;
      const [reply, others] = await Promise.all([
        withLimit(kernel.inspect(document.getText(), document.offsetAt(position), signalOf(token))),
        askOthers<vscode.Hover[]>('vscode.executeHoverProvider', document.uri, position),
      ]);
      const text = reply?.found ? reply.data['text/plain'] : undefined;
      if (typeof text !== 'string' || others?.some(saysSomething)) return undefined;
      return new vscode.Hover(new vscode.MarkdownString().appendCodeblock(text, 'typescript'));
    },
  };
  return vscode.Disposable.from(
    vscode.languages.registerCompletionItemProvider(selector, completion, '.', '"', "'", '/'),
    vscode.languages.registerHoverProvider(selector, hover),
  );
}

/** The kernel of the notebook that a cell is in, when it runs; asking for a completion starts none. */
async function kernelOf(kernels: NotebookKernels, document: vscode.TextDocument) {
  const notebook = vscode.workspace.notebookDocuments.find((one) =>
    one.getCells().some((cell) => cell.document === document),
  );
  return notebook && kernels.session(notebook)?.kernel?.catch(() => undefined);
}

/** What arrives in time; a failure counts as silence, since nobody asked to be told. */
const withLimit = <T>(answer: Promise<T>): Promise<T | undefined> =>
  Promise.race([
    answer.catch(() => undefined),
    new Promise<undefined>((resolve) => {
      setTimeout(() => resolve(undefined), limitMilliseconds);
    }),
  ]);

function signalOf(token: vscode.CancellationToken): AbortSignal {
  const controller = new AbortController();
  token.onCancellationRequested(() => controller.abort());
  return controller.signal;
}

// Words of the open documents are no knowledge of the language, and give way to real suggestions.
const isFromLanguage = (item: vscode.CompletionItem): boolean => item.kind !== vscode.CompletionItemKind.Text;

const labelOf = ({ label }: vscode.CompletionItem): string => (typeof label === 'string' ? label : label.label);

/** Whether a hover of the editor's TypeScript tells more than that it does not know. */
const saysSomething = ({ contents }: vscode.Hover): boolean =>
  contents.some((one) => !/: any\b|^\s*any\s*$/.test(typeof one === 'string' ? one : one.value));

function itemOf({ text, kind }: KernelItem, range: vscode.Range): vscode.CompletionItem {
  const item = new vscode.CompletionItem(text, kinds[kind] ?? vscode.CompletionItemKind.Variable);
  item.range = range;
  return item;
}
