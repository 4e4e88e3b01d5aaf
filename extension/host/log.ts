import * as vscode from 'vscode';
import { messageOf } from '#shared/errors.ts';

export type Log = vscode.LogOutputChannel;

/** The log of the extension, under "Output" with its own levels. Nothing secret is ever handed to it. */
export const createLog = (): Log => vscode.window.createOutputChannel('Lance Catalog', { log: true });

/** Writes what failed with every cause under it; people see the first sentence only. */
export function logFailure(log: Log, what: string, error: unknown): void {
  const lines = [`${what}: ${messageOf(error)}`];
  let cause = error instanceof Error ? error.cause : undefined;
  for (let depth = 0; cause !== undefined && depth < 5; depth++) {
    lines.push(`  caused by: ${messageOf(cause)}`);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  log.error(lines.join('\n'));
}
