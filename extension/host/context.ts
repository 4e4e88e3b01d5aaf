import * as vscode from 'vscode';
import type { ContextId, ContextTypes } from '../manifest.ts';

/** The only writer of context keys. */
export function setContext<K extends ContextId>(id: K, value: ContextTypes[K]): void {
  void vscode.commands.executeCommand('setContext', id, value);
}
