import { writeSync } from 'node:fs';
import { messageOf } from '#shared/errors.ts';

/**
 * Writes to stderr why the process ends, with the message in the last line, because editors show the last line of a
 * dead kernel. Writes straight to the descriptor, because `process.stderr` belongs to cells once the kernel runs.
 */
export function writeFatalError(what: string, error?: unknown): void {
  const stack = error instanceof Error ? `${error.stack}\n` : '';
  // Only the first line is written, because Node.js may add lines, for instance about modules.
  const why = error === undefined ? '' : `: ${messageOf(error).split('\n', 1)[0]}`;
  writeSync(2, `${stack}${what}${why}\n`);
}
