import { sizeText } from '#shared/format/numbers.ts';
import {
  type Check,
  isBoolean,
  isInteger,
  isNonNegativeNumber,
  isString,
  listOf,
  nullable,
  oneOf,
  shape,
  shapeFor,
} from '#shared/shape.ts';

/** The state that a kernel records in case its process crashes: variable names and code, but no values. */
export type CrashNote = {
  version: 1;
  pid: number;
  /** The last started cell: its execution count and the start of its code. */
  cell: { count: number; head: string; isRunning: boolean };
  /** Names of the notebook's variables up to a limit; `unnamed` is the number of further variables. */
  names: string[];
  unnamed: number;
  /** Memory in bytes. Set after memory use came near the limit; else `null`. */
  memory: { used: number; limit: number } | null;
};

export const isCrashNote: Check<CrashNote> = shapeFor<CrashNote>({
  version: oneOf(1),
  pid: isInteger,
  cell: shape({ count: isInteger, head: isString, isRunning: isBoolean }),
  names: listOf(isString),
  unnamed: isInteger,
  memory: nullable(shape({ used: isNonNegativeNumber, limit: isNonNegativeNumber })),
});

/** Describes what was lost and what to do, after a sentence that reports the end of the kernel. */
export function crashReport({ cell, names, unnamed }: CrashNote): string {
  const at = `cell [${cell.count}]${cell.head && ` (${cell.head})`}`;
  const when = cell.isRunning ? `It was running ${at}.` : `The last cell that it ran was ${at}.`;
  if (names.length === 0) return `${when} No variables were lost.`;
  const all = unnamed > 0 ? `${names.join(', ')} and ${unnamed} more` : names.join(', ');
  return `${when} These variables were lost: ${all}. Run the cells that create them again.`;
}

/** Describes a crash in a later kernel. That kernel has only the note. */
export function crashSentence(note: CrashNote): string {
  const reason = crashReason(note);
  return `The previous kernel ended without warning${reason && `; ${reason}`}. ${crashReport(note)}`;
}

/** Returns the likely reason from the note; empty if unknown. */
export function crashReason({ memory }: CrashNote): string {
  if (!memory) return '';
  return `it used ${sizeText(memory.used)} of at most ${sizeText(memory.limit)} of memory, so it may have run out of memory`;
}
