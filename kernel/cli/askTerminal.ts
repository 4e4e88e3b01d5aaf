import { createInterface } from 'node:readline/promises';
import { isYes } from '#shared/isYes.ts';

/** Whether there is a person who can be asked: a script is never kept waiting. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/**
 * Asks for yes or no on stderr; what comes of the command itself is on stdout. An end of the input, Ctrl-D, is a no.
 * @throws the signal's reason when it aborts, as by Ctrl-C where signals abort it
 */
export async function askTerminal(question: string, signal: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Readline takes keys one by one, so that Ctrl-C is a key here, and no signal before it is made one.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([lines.question(`${question} [y/N] `, { signal }), ended]);
    return isYes(answer);
  } finally {
    lines.close();
  }
}
