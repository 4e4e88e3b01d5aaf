import { isRecord } from '#shared/records.ts';

/** What a kernel writes down for the case that its process ends without warning. Names and code of the person, no values. */
export type CrashNote = {
  version: 1;
  pid: number;
  /** The cell that was begun last, by its number and the beginning of its code. */
  cell: { count: number; head: string; isRunning: boolean };
  /** The notebook's variables, of which `unnamed` more have no place here. */
  names: string[];
  unnamed: number;
  /** Set once the process came near the most that it may take; bytes. */
  memory: { used: number; limit: number } | null;
};

/** Whether what a file holds is a note. */
export function isCrashNote(value: unknown): value is CrashNote {
  if (!isRecord(value)) return false;
  const { version, pid, cell, names, unnamed, memory } = value;
  if (version !== 1 || !Number.isSafeInteger(pid) || !Number.isSafeInteger(unnamed)) return false;
  if (!isRecord(cell) || !Number.isSafeInteger(cell['count']) || typeof cell['head'] !== 'string') return false;
  if (typeof cell['isRunning'] !== 'boolean') return false;
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) return false;
  return memory === null || (isRecord(memory) && isSize(memory['used']) && isSize(memory['limit']));
}

/** What was lost and what to do, to follow the sentence that says that the kernel has ended. */
export function crashReport({ cell, names, unnamed }: CrashNote): string {
  const at = `cell [${cell.count}]${cell.head && ` (${cell.head})`}`;
  const when = cell.isRunning ? `It was running ${at}.` : `The last cell that it ran was ${at}.`;
  if (names.length === 0) return `${when} No variables were lost.`;
  const all = unnamed > 0 ? `${names.join(', ')} and ${unnamed} more` : names.join(', ');
  return `${when} These variables were lost: ${all}. Run the cells that make them again.`;
}

/** What is told of a kernel that ended, by the one that follows it and knows its note alone. */
export function crashSentence(note: CrashNote): string {
  const reason = crashReason(note);
  return `The kernel before this one ended without warning${reason && `; ${reason}`}. ${crashReport(note)}`;
}

/** What is known of the reason from the note alone; empty where nothing is. */
export function crashReason({ memory }: CrashNote): string {
  if (!memory) return '';
  return `it had taken ${inGigabytes(memory.used)} of memory, of at most ${inGigabytes(memory.limit)}, so it may have run out of it`;
}

const isSize = (value: unknown): value is number => typeof value === 'number' && value >= 0 && Number.isFinite(value);
const inGigabytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GB`;
