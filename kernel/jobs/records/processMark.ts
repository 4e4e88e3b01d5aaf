import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { processFile } from '#processes/jobsFolder.ts';
import { isCount, isText, shape } from '#shared/jobs/jobShapes.ts';

/** The mark file, by which other processes find a running job's process. */
export type ProcessMark = {
  readonly pid: number;
  /** Machines may share a home directory, but a socket works only on the machine that created it. */
  readonly host: string;
  /** A socket or named pipe. While it accepts connections, the process lives. */
  readonly address: string;
  /** Needed on Windows, where other users may open a named pipe. */
  readonly secret: string;
};

/** Written to stdout when the process has taken over its job; nothing else is written there. */
export const readyWord = 'ready\n';

const isMark = shape({ pid: isCount, host: isText, address: isText, secret: isText });

/** Interval of touching a mark, and the age at which one of another machine counts as dead. */
export const touchMs = 15_000;
const lapsedMs = 4 * touchMs;

/** Returns `undefined` if there is no valid mark. */
export function readMark(folder: string): ProcessMark | undefined {
  try {
    const mark: unknown = JSON.parse(readFileSync(join(folder, processFile), 'utf8'));
    return isMark(mark) ? (mark as ProcessMark) : undefined;
  } catch {
    return undefined;
  }
}

export const isElsewhere = (mark: ProcessMark): boolean => mark.host !== hostname();

/** Returns when a process last touched its mark, in milliseconds since 1970. */
export const markedAt = (folder: string): number | undefined =>
  statSync(join(folder, processFile), { throwIfNoEntry: false })?.mtimeMs;

/** Whether the mark is fresh; used for processes on another machine. */
export function isRecent(folder: string): boolean {
  const at = markedAt(folder);
  return at !== undefined && Date.now() - at < lapsedMs;
}
