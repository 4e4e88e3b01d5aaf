import { createInterface } from 'node:readline/promises';
import { isYes } from '#shared/isYes.ts';

/** Whether there is a person who can be asked: a script is never kept waiting. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/** Asks for yes or no on stderr; what comes of the command itself is on stdout. */
export async function askTerminal(question: string, signal: AbortSignal): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return isYes(await lines.question(`${question} [y/N] `, { signal }));
  } finally {
    lines.close();
  }
}
