import { writeSync } from 'node:fs';
import { messageOf } from '#shared/errors.ts';

/**
 * Writes to stderr why the process ends, the message last: editors show the last line of a dead kernel. Writes
 * straight to the descriptor, because `process.stderr` belongs to cells once the kernel runs.
 */
export function writeFatalError(what: string, error?: unknown): void {
  const stack = error instanceof Error ? `${error.stack}\n` : '';
  // Node.js adds more lines after the first, about modules for instance.
  const why = error === undefined ? '' : `: ${messageOf(error).split('\n', 1)[0]}`;
  writeSync(2, `${stack}${what}${why}\n`);
}
