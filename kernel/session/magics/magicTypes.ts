import type { CellOutcome, CellRunner } from '#session/run/cellRunner.ts';
import type { Input } from '#session/input/askUser.ts';
import type { Span } from './cellParts.ts';
import type { MagicName } from './magicNames.ts';

export type MagicDeps = {
  runner: CellRunner;
  /** Globals that the notebook has before its first cell, by name. */
  given: Readonly<Record<string, unknown>>;
  ask: Input;
  signal: () => AbortSignal;
  /** Returns the documentation of the name at a position in code, as text. */
  describe: (code: string, cursor: number, detail: 0 | 1) => Promise<string | undefined>;
};

export type MagicUse = {
  name: MagicName;
  /** The text after the name, trimmed. */
  rest: string;
  body: string | undefined;
  /** The whole cell, and the range of the magic's code in it. */
  source: string;
  code: Span | undefined;
  count: number;
  signal: AbortSignal;
};

/**
 * Runs a magic. Returns the value of the cell, or the error of the code that the magic ran; `undefined` if there is no
 * output.
 */
export type MagicRun = (use: MagicUse, parts: MagicDeps) => Promise<CellOutcome | void> | CellOutcome | void;

/** The error of a magic that can't do what the user requests. */
export class MagicError extends Error {
  override readonly name: string = 'MagicError';
}

export const nothing: CellOutcome = { value: undefined, error: null };

/**
 * Splits an argument line into words; within quotes, blanks belong to the word; a backslash escapes the next character.
 */
export function splitArguments(text: string): string[] {
  const found = text.matchAll(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/gs);
  return [...found].map(([word]) =>
    word.replaceAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/gs, (_, double?: string, single?: string, escaped?: string) =>
      double !== undefined ? double.replaceAll(/\\(["\\])/g, '$1') : (single ?? escaped ?? ''),
    ),
  );
}
