import * as vscode from 'vscode';

/** Prompts of the extension. Each returns `undefined` if the user cancels. */

export async function askText(options: {
  title: string;
  prompt: string;
  value?: string;
  placeHolder?: string;
  check?: (value: string) => string | undefined;
}): Promise<string | undefined> {
  const { title, prompt, value, placeHolder, check } = options;
  return vscode.window.showInputBox({
    title,
    prompt,
    ignoreFocusOut: true,
    ...(value !== undefined && { value }),
    ...(placeHolder !== undefined && { placeHolder }),
    ...(check && { validateInput: check }),
  });
}

export type Choice<T> = { label: string; description?: string; detail?: string; icon?: string; value: T };

export async function pickOne<T>(title: string, choices: readonly Choice<T>[]): Promise<T | undefined> {
  const items = choices.map(({ label, description, detail, icon, value }) => ({
    label: icon ? `$(${icon}) ${label}` : label,
    value,
    ...(description !== undefined && { description }),
    ...(detail !== undefined && { detail }),
  }));
  return (await vscode.window.showQuickPick(items, { title, ignoreFocusOut: true }))?.value;
}

export async function askDirectory(title: string): Promise<string | undefined> {
  const folders = await vscode.window.showOpenDialog({
    title,
    openLabel: 'Add Directory',
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: false,
  });
  return folders?.[0]?.fsPath;
}

export async function confirm(message: string, detail: string, action: string): Promise<boolean> {
  return (await vscode.window.showWarningMessage(message, { modal: true, detail }, action)) === action;
}

/** Asks how to continue after a failed connection test: correct the input, or save it anyway. */
export async function chooseAfterFailure(message: string, canKeep: boolean): Promise<'correct' | 'keep' | undefined> {
  const correct = { title: 'Correct…', value: 'correct' as const };
  const keep = { title: 'Save Anyway', value: 'keep' as const };
  const choices = canKeep ? [correct, keep] : [correct];
  return (await vscode.window.showWarningMessage(message, { modal: true }, ...choices))?.value;
}

/** Shorter tasks need no notification, which would stay longer than the task takes. */
const patienceMilliseconds = 700;

/** Runs a task; if it takes longer, shows a notification that can cancel it. @throws AbortError if cancelled */
export async function withProgress<T>(title: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const running = run(controller.signal);
  const timer = setTimeout(() => {
    const location = vscode.ProgressLocation.Notification;
    void vscode.window.withProgress({ location, title, cancellable: true }, (_progress, token) => {
      token.onCancellationRequested(() => controller.abort());
      return running.catch(() => undefined);
    });
  }, patienceMilliseconds);
  try {
    return await running;
  } finally {
    clearTimeout(timer);
  }
}
