import type { CellOutcome, CellRunner } from '#session/run/cellRunner.ts';
import type { Input } from '#session/input/askUser.ts';
import type { Span } from './cellParts.ts';
import type { MagicName } from './magicNames.ts';

/** What magics may use of the kernel. */
export type MagicParts = {
  runner: CellRunner;
  /** What the notebook has before its first cell, by name. */
  given: Readonly<Record<string, unknown>>;
  ask: Input;
  /** Aborts when the cell whose code is running is interrupted. */
  signal: () => AbortSignal;
  /** What is known of the name at a place in code, as text. */
  describe: (code: string, cursor: number, detail: 0 | 1) => Promise<string | undefined>;
};

/** One use of a magic in a cell. */
export type MagicUse = {
  name: MagicName;
  /** What is written behind the name, without blanks around it. */
  rest: string;
  /** The lines below a cell magic. */
  body: string | undefined;
  /** The whole cell, and where in it the magic's code is. */
  source: string;
  code: Span | undefined;
  /** Number of the cell. */
  count: number;
  /** Aborts when the cell is interrupted. */
  signal: AbortSignal;
};

/** What a magic leaves as the cell's value, or the error of code that it ran; nothing where there is nothing to show. */
export type MagicRun = (use: MagicUse, parts: MagicParts) => Promise<CellOutcome | void> | CellOutcome | void;

/** A magic can't do what it is told. */
export class MagicError extends Error {
  override readonly name: string = 'MagicError';
}

export const nothing: CellOutcome = { value: undefined, error: null };

/** Words of an argument line; quotes hold blanks together, a backslash takes what follows as it is. */
export function wordsOf(text: string): string[] {
  const found = text.matchAll(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/gs);
  return [...found].map(([word]) =>
    word.replaceAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/gs, (_, double?: string, single?: string, escaped?: string) =>
      double !== undefined ? double.replaceAll(/\\(["\\])/g, '$1') : (single ?? escaped ?? ''),
    ),
  );
}
