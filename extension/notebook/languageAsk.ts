import * as vscode from 'vscode';

// How the providers ask: with a limit, cancelled with the editor's token, and never with an error for who types.

/** What arrives in time; a failure counts as silence, since nobody asked to be told. */
export async function within<T>(milliseconds: number, answer: Promise<T> | undefined): Promise<T | undefined> {
  if (!answer) return undefined;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  try {
    return await Promise.race([answer, late]);
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** The editor's token as a signal. */
export function signalOf(token: vscode.CancellationToken): AbortSignal {
  const controller = new AbortController();
  if (token.isCancellationRequested) controller.abort();
  token.onCancellationRequested(() => controller.abort());
  return controller.signal;
}

const isOfNoLanguage: ReadonlySet<vscode.CompletionItemKind> = new Set([
  vscode.CompletionItemKind.Text,
  vscode.CompletionItemKind.Snippet,
]);

/**
 * Asks the other providers of the editor. While they are asked ours are, too, so it says whether it is asking at all.
 */
export class Others {
  #asking = 0;

  get areAsked(): boolean {
    return this.#asking > 0;
  }

  async completions(document: vscode.TextDocument, position: vscode.Position, trigger?: string): Promise<Set<string>> {
    const list = await this.#ask<vscode.CompletionList>(
      'vscode.executeCompletionItemProvider',
      document.uri,
      position,
      trigger,
    );
    // Words of the open documents are no knowledge of the language, and give way to real suggestions; snippets are
    // things of their own.
    const known = list?.items.filter(({ kind }) => kind !== undefined && !isOfNoLanguage.has(kind)) ?? [];
    return new Set(known.map(({ label }) => (typeof label === 'string' ? label : label.label)));
  }

  /** Whether one of them tells more about a name than that it does not know it. */
  async knowAbout(document: vscode.TextDocument, position: vscode.Position): Promise<boolean> {
    const hovers = await this.#ask<vscode.Hover[]>('vscode.executeHoverProvider', document.uri, position);
    return hovers?.some(saysSomething) ?? false;
  }

  async #ask<T>(command: string, ...args: unknown[]): Promise<T | undefined> {
    this.#asking++;
    try {
      return await vscode.commands.executeCommand<T>(command, ...args);
    } finally {
      this.#asking--;
    }
  }
}

const saysSomething = ({ contents }: vscode.Hover): boolean =>
  contents.some((one) => !/: any\b|^\s*any\s*$/.test(typeof one === 'string' ? one : one.value));
