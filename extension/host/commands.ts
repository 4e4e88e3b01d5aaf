import * as vscode from 'vscode';
import { isAbort } from '#shared/errors.ts';
import type { CommandId, CommandTypes, ContextId, ContextTypes } from '../manifest.ts';
import { errorActionOf } from './errorAction.ts';
import { type Log, logFailure } from './log.ts';
import { showError } from './messages.ts';
import { notificationText } from './notificationText.ts';

/** Runs an action of the user. A failure is shown in one sentence with a link to the log; cancellation is silent. */
export async function runCommand<T>(log: Log, what: string, run: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (isAbort(error)) return undefined;
    logFailure(log, what, error);
    showFailure(log, error);
    return undefined;
  }
}

/** Shows an error with its action and a link to the log, without waiting for the user. */
export function showFailure(log: Log, error: unknown): void {
  const showLog = 'Show Log';
  const remedy = errorActionOf(error);
  const buttons = remedy ? [remedy.title, showLog] : [showLog];
  void showError(notificationText(error), ...buttons).then((choice) => {
    if (choice === showLog) return log.show();
    return remedy && choice === remedy.title ? vscode.commands.executeCommand(remedy.command) : undefined;
  });
}

/** Registers a command of the manifest; the compiler rejects an unknown id and wrong arguments. */
export const registerCommand = <K extends CommandId>(
  log: Log,
  id: K,
  run: (...args: Parameters<CommandTypes[K]>) => ReturnType<CommandTypes[K]>,
): vscode.Disposable =>
  vscode.commands.registerCommand(id, (...args: Parameters<CommandTypes[K]>) =>
    runCommand(log, id, (): unknown => run(...args)),
  );

/** Sets a context key. All context keys are set here. */
export function setContext<K extends ContextId>(id: K, value: ContextTypes[K]): void {
  void vscode.commands.executeCommand('setContext', id, value);
}

/**
 * Ends a step of the walkthrough. The context key is true only for a moment, because VS Code overlooks a key that was
 * already true when the walkthrough was opened.
 */
export function endStep(id: 'lanceCatalog.connection.added' | 'lanceCatalog.table.previewed'): void {
  setContext(id, true);
  setContext(id, false);
}
