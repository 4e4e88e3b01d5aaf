import * as vscode from 'vscode';

// Functions that the providers use to send requests. A request has a time limit, is cancelled by VS Code's token, and
// shows no error while the user types.

/** Resolves with `undefined` after the time limit or on failure: the user did not request the result explicitly. */
export async function withTimeout<T>(milliseconds: number, answer: Promise<T> | undefined): Promise<T | undefined> {
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
 * Requests results of all providers in VS Code. VS Code also calls our own provider, which must recognize such a
 * request.
 */
export class OtherProviders {
  /** Positions of requests that have not reached our own provider yet. */
  readonly #asked: string[] = [];

  /**
   * Whether `OtherProviders` sent this request of VS Code. True once per sent request, because the user may request the
   * same position meanwhile and must get a result.
   */
  isOwn(document: vscode.TextDocument, position: vscode.Position): boolean {
    const index = this.#asked.indexOf(keyOf(document.uri, position));
    if (index >= 0) this.#asked.splice(index, 1);
    return index >= 0;
  }

  async completions(document: vscode.TextDocument, position: vscode.Position, trigger?: string): Promise<Set<string>> {
    const command = 'vscode.executeCompletionItemProvider';
    const list = await this.#ask<vscode.CompletionList>(command, document.uri, position, trigger);
    // Ignore words of open documents, which come from no language service, and snippets, which are separate items.
    const known = list?.items.filter(({ kind }) => kind !== undefined && !isOfNoLanguage.has(kind)) ?? [];
    return new Set(known.map(({ label }) => (typeof label === 'string' ? label : label.label)));
  }

  /** Whether another provider knows more about a name than the type `any`. */
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
      // Remove the position if the request did not reach our provider. Then VS Code did not need our provider, or the
      // user has continued to type.
      const left = this.#asked.indexOf(key);
      if (left >= 0) this.#asked.splice(left, 1);
    }
  }
}

const keyOf = (uri: vscode.Uri, { line, character }: vscode.Position): string =>
  `${uri.toString()} ${line}:${character}`;

const saysSomething = ({ contents }: vscode.Hover): boolean =>
  contents.some((one) => !/: any\b|^\s*any\s*$/.test(typeof one === 'string' ? one : one.value));
