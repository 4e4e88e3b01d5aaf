import type { JupyterMessage } from './jupyterFrames.ts';
import type { Reply } from './jupyterReplies.ts';

const wordsToLeave = /^\s*(?:exit|quit)\s*(?:\(\s*\))?\s*;?\s*$/;

/**
 * The reply by which a console ends, for the words that its own help gives. It leaves them to the kernel, and in TypeScript
 * they mean nothing. A notebook says which cell it is that runs; there they are names like all others.
 * @param executionCount how many cells have run
 */
export function consoleExit({ content, metadata }: JupyterMessage, executionCount: number): Reply | undefined {
  const { code, silent, allow_stdin: asks } = content;
  const isConsole = asks === true && silent !== true && metadata['cellId'] === undefined;
  if (!isConsole || typeof code !== 'string' || !wordsToLeave.test(code)) return undefined;
  const payload = [{ source: 'ask_exit', keepkernel: false }];
  return { content: { status: 'ok', execution_count: executionCount, user_expressions: {}, payload } };
}
