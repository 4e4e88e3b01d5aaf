import * as vscode from 'vscode';
import type { AskPerson } from '#client/kernelConversation.ts';
import { nameOf } from './notices.ts';

/** What the kernel ends a question with whose answer is yes or no; terminals and Jupyter have it typed. */
const yesOrNo = /\s*\[y\/N\]$/;
/** A longer question would be cut above a list; below a box it is whole. */
const lineCharacters = 80;

/** Asks the person what a cell of a notebook wants to know. The box goes away when the cell is over. */
export function askFor(notebook: () => vscode.NotebookDocument): AskPerson {
  return async ({ prompt, password }, signal) => {
    const source = new vscode.CancellationTokenSource();
    const cancel = (): void => source.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    const common = {
      // Several notebooks may ask at once; a person must see who wants to know.
      title: nameOf(notebook()),
      // A click elsewhere must not answer.
      ignoreFocusOut: true,
    };
    const text = prompt.trim();
    const question = text.replace(yesOrNo, '');
    const isChoice = question !== text && !password && question.length <= lineCharacters && !question.includes('\n');
    try {
      if (isChoice) {
        const choices = [
          { label: 'Yes', value: 'y' },
          { label: 'No', value: 'n' },
        ];
        const options = { ...common, placeHolder: question };
        return (await vscode.window.showQuickPick(choices, options, source.token))?.value ?? null;
      }
      const options = { ...common, prompt: text || 'A cell asks for a line of text.', password };
      return (await vscode.window.showInputBox(options, source.token)) ?? null;
    } finally {
      signal.removeEventListener('abort', cancel);
      source.dispose();
    }
  };
}
