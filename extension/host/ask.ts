import * as vscode from 'vscode';
import { askModal, inputText, type InputSettings, notifyProgress, pickItem, type PickChoice } from './messages.ts';

/** Prompts for a line of text. Returns `undefined` if the user cancels, as `pickOne` and `askDirectory` do. */

export const askText = (options: InputSettings): Promise<string | undefined> => inputText(options);

export type Choice<T> = PickChoice<T>;

export const pickOne = <T>(title: string, choices: readonly Choice<T>[]): Promise<T | undefined> =>
  pickItem(choices, { title });

export async function askDirectory(title: string, openLabel = 'Add Directory'): Promise<string | undefined> {
  const folders = await vscode.window.showOpenDialog({
    title,
    openLabel,
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: false,
  });
  return folders?.[0]?.fsPath;
}

export const confirm = async (message: string, detail: string, action: string): Promise<boolean> =>
  (await askModal(message, detail, action)) === action;

/** Asks how to continue after a failed connection test: correct the input, or save it anyway. */
export async function chooseAfterFailure(message: string, canKeep: boolean): Promise<'correct' | 'keep' | undefined> {
  const [correct, keep] = ['Edit…', 'Save Anyway'] as const;
  const choice = await askModal(message, '', correct, ...(canKeep ? [keep] : []));
  return choice && (choice === correct ? 'correct' : 'keep');
}

/**
 * Delay before the notification. Without the delay, the notification of a short task would stay visible after the task
 * has ended.
 */
const patienceMilliseconds = 700;

/** Runs a task. If the task is slow, shows a notification with a cancel button. @throws AbortError if cancelled */
export async function withProgress<T>(title: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const running = run(controller.signal);
  const timer = setTimeout(() => {
    void notifyProgress(title, ({ signal }) => {
      signal.addEventListener('abort', () => controller.abort());
      return running.catch(() => undefined);
    });
  }, patienceMilliseconds);
  try {
    return await running;
  } finally {
    clearTimeout(timer);
  }
}
