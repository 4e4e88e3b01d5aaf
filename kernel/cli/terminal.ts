import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { withCatalog } from '#jobs/openCatalog.ts';
import { CatalogError, isCatalogError } from '#shared/errors.ts';
import { escapeInvisibleCharacters, namesText } from '#shared/format/markup.ts';
import { functionForms } from '#shared/jobs/computedFunction.ts';
import { isJobError, JobError } from '#shared/jobs/jobErrors.ts';
import { messageIn, nextSteps } from '#shared/nextSteps.ts';
import { isAffirmative } from '#shared/records.ts';
import type { BackfillArguments } from './backfillArguments.ts';

/**
 * Escapes invisible characters of text that may come from a server or a table. Control and bidirectional characters
 * could set the title of the terminal, clear the screen, or look like a prompt.
 */
export const terminalText = (text: string): string => escapeInvisibleCharacters(text);

/** Returns the message of a failure, with a next step that is possible in a terminal. */
export const failureText = (error: unknown): string => terminalText(messageIn('terminal', error));

/** Whether a user can answer a prompt; a script must never wait for one. */
export const canAsk = (): boolean => process.stdin.isTTY && process.stderr.isTTY;

/**
 * Asks for yes or no. The end of the input, Ctrl-D, means no.
 * @throws the reason of `signal` if it aborts, for example by Ctrl-C
 */
export const askTerminal = async (question: string, signal: AbortSignal): Promise<boolean> =>
  isAffirmative((await askLine(`${question} [y/N] `, signal)) ?? '');

/**
 * Asks for a line on stderr, because stdout is for the command's output.
 * @returns `undefined` at the end of the input, Ctrl-D @throws the signal's reason if it aborts
 */
export async function askLine(prompt: string, signal: AbortSignal): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // In readline's raw mode Ctrl-C is a key and must be converted to a signal.
  lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  try {
    return await Promise.race([lines.question(prompt, { signal }), ended]);
  } finally {
    lines.close();
  }
}

/** Milliseconds between progress updates: a terminal line is overwritten, a log gets a new line. */
const pause = { terminal: 100, log: 5000 } as const;

/** Shows progress on stderr: one overwritten line in a terminal, occasional lines elsewhere. */
export function progressLine(): { show: (text: string) => void; clear: () => void } {
  const isTerminal = process.stderr.isTTY;
  let last = 0;
  let isShown = false;
  return {
    show: (text) => {
      const now = performance.now();
      if (last !== 0 && now - last < pause[isTerminal ? 'terminal' : 'log']) return;
      last = now;
      isShown = isTerminal;
      process.stderr.write(
        isTerminal
          ? `\r\u001b[2K${terminalText(text).slice(0, process.stderr.columns - 1)}`
          : `${terminalText(text)}\n`,
      );
    },
    clear: () => {
      if (isShown) process.stderr.write('\r\u001b[2K');
      isShown = false;
    },
  };
}

/** A position in source code; lines and columns count from 1. */
export type TextPosition = { readonly line: number; readonly column: number };

/** Lines shown above and below the failing one. */
const around = 3;

/** Returns the lines around a position, with a caret below it; the start of the cell if the position is unknown. */
export function codeExcerpt(source: string, place: TextPosition | undefined): string[] {
  const lines = source.split(/\r?\n/);
  const first = Math.max(1, (place?.line ?? 1) - around);
  const last = Math.min(lines.length, (place?.line ?? first) + around);
  const width = String(last).length;
  return lines.slice(first - 1, last).flatMap((text, index) => {
    const line = first + index;
    const isPlace = line === place?.line;
    const shown = `${isPlace ? '>' : ' '} ${String(line).padStart(width)} | ${text}`.trimEnd();
    // Tabs are kept, so that the caret is below its character.
    const before = text.slice(0, (place?.column ?? 1) - 1).replace(/[^\t]/g, ' ');
    return isPlace ? [shown, `  ${' '.repeat(width)} | ${before}^`] : [shown];
  });
}

type Place = Pick<BackfillArguments, 'catalog' | 'namespacePath'>;

/** Runs an action on a table, and replaces hints meant for notebooks with hints for a terminal. */
export async function withCliHints<T>(place: Place, signal: AbortSignal, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw await reworded(error, place, signal);
  }
}

async function reworded(error: unknown, place: Place, signal: AbortSignal): Promise<unknown> {
  if (isJobError(error) && error.hint.includes(functionForms)) {
    const hint = error.hint.replace(functionForms, '--sql EXPR, or --file FILE with a TypeScript or Python file');
    return new JobError(error.kind, error.what, hint, { cause: error });
  }
  // If a name is near, the error has it already.
  if (isCatalogError(error, 'TableNotFound') && error.hint === nextSteps.listTables) {
    return new CatalogError(error.kind, error.toJSON().error, await tablesText(place, signal), { cause: error });
  }
  return error;
}

/** Names the tables of the namespace, so that a wrong name is corrected without another command. */
async function tablesText({ catalog, namespacePath }: Place, signal: AbortSignal): Promise<string> {
  try {
    const names = await withCatalog(catalog, signal, (opened) => opened.tableNames(namespacePath, { signal }));
    return names.length === 0 ? 'The namespace has no tables.' : `Its namespace has ${namesText(names)}.`;
  } catch {
    return 'Check its name and --catalog.';
  }
}

/** Prints chunks as fast as the reader of stdout takes them. If the reader has stopped, the command ends: see cli.ts. */
export async function printChunks(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
  clear?: () => void,
): Promise<void> {
  for await (const chunk of chunks) {
    if (process.stdout.isTTY) clear?.();
    if (!process.stdout.write(chunk)) await once(process.stdout, 'drain', { signal });
  }
}
