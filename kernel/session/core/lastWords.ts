import { writeSync } from 'node:fs';
import { messageOf } from '#shared/errors.ts';

/**
 * Says why the process ends, the sentence last: of a dead kernel its editor shows the last line. Straight to the
 * descriptor, for `process.stderr` is a cell's once the kernel runs.
 */
export function lastWords(what: string, error?: unknown): void {
  const stack = error instanceof Error ? `${error.stack}\n` : '';
  // Node puts more lines below the first, about modules for instance.
  const why = error === undefined ? '' : `: ${messageOf(error).split('\n', 1)[0]}`;
  writeSync(2, `${stack}${what}${why}\n`);
}
