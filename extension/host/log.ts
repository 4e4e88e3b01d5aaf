import * as vscode from 'vscode';
import { messageOf } from '#shared/errors.ts';

export type Log = vscode.LogOutputChannel;

/** Creates the log of the extension in the "Output" panel. Callers must not log a secret. */
export const createLog = (): Log => vscode.window.createOutputChannel('Lance Catalog', { log: true });

/** Logs a failure with up to five nested causes; users see only the first message. */
export function logFailure(log: Log, what: string, error: unknown): void {
  const lines = [`${what}: ${messageOf(error)}`];
  let cause = error instanceof Error ? error.cause : undefined;
  for (let depth = 0; cause !== undefined && depth < 5; depth++) {
    lines.push(`  caused by: ${messageOf(cause)}`);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  log.error(lines.join('\n'));
}
