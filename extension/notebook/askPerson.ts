import * as vscode from 'vscode';
import type { AskPerson } from '#client/kernelConversation.ts';

/** Asks the person what a cell of a notebook wants to know. The box goes away when the cell is over. */
export function askFor(notebook: () => vscode.NotebookDocument): AskPerson {
  return async ({ prompt, password }, signal) => {
    const source = new vscode.CancellationTokenSource();
    const cancel = (): void => source.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    const { uri } = notebook();
    try {
      const value = await vscode.window.showInputBox(
        {
          // Several notebooks may ask at once; a person must see who wants to know.
          title: uri.path.split('/').at(-1) ?? '',
          prompt: prompt.trim() || 'A cell asks for a line of text.',
          password,
          // A click elsewhere must not answer.
          ignoreFocusOut: true,
        },
        source.token,
      );
      return value ?? null;
    } finally {
      signal.removeEventListener('abort', cancel);
      source.dispose();
    }
  };
}
