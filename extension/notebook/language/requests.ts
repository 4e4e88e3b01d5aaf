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

/** Asks the other providers of the editor. It asks ours as well, who have to tell that question from a person's. */
export class Others {
  /** Where the editor is asked by us, and has not asked our own provider yet. */
  readonly #asked: string[] = [];

  /**
   * Whether this question of the editor is our own, come back. It is so once for each: meanwhile a person types on, and
   * is not to go without an answer.
   */
  isOwn(document: vscode.TextDocument, position: vscode.Position): boolean {
    const index = this.#asked.indexOf(keyOf(document.uri, position));
    if (index >= 0) this.#asked.splice(index, 1);
    return index >= 0;
  }

  async completions(document: vscode.TextDocument, position: vscode.Position, trigger?: string): Promise<Set<string>> {
    const command = 'vscode.executeCompletionItemProvider';
    const list = await this.#ask<vscode.CompletionList>(command, document.uri, position, trigger);
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

  async #ask<T>(command: string, uri: vscode.Uri, position: vscode.Position, trigger?: string): Promise<T | undefined> {
    const key = keyOf(uri, position);
    this.#asked.push(key);
    try {
      return await vscode.commands.executeCommand<T>(command, uri, position, trigger);
    } finally {
      // It was not asked: the editor had no need to, or the person has typed on.
      const left = this.#asked.indexOf(key);
      if (left >= 0) this.#asked.splice(left, 1);
    }
  }
}

const keyOf = (uri: vscode.Uri, { line, character }: vscode.Position): string =>
  `${uri.toString()} ${line}:${character}`;

const saysSomething = ({ contents }: vscode.Hover): boolean =>
  contents.some((one) => !/: any\b|^\s*any\s*$/.test(typeof one === 'string' ? one : one.value));
