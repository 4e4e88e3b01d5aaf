import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { processFile } from '#processes/jobsFolder.ts';
import { isCount, isText, shape } from '#shared/jobs/jobShapes.ts';

/** What the process of a job leaves in the job's folder while it runs, so that others find it. */
export type ProcessMark = {
  readonly pid: number;
  /** A home may be shared by machines, and a socket in it answers on one of them only. */
  readonly host: string;
  /** A socket or a named pipe: while somebody listens there, the process lives. */
  readonly address: string;
  /** For Windows, where others may open a named pipe. */
  readonly secret: string;
};

/** What a process says on its standard output once it is in charge of its job; nothing else is ever written there. */
export const readyWord = 'ready\n';

const isMark = shape({ pid: isCount, host: isText, address: isText, secret: isText });

/** How often a process touches its mark, and for how long one of another machine counts as alive without it. */
export const touchMs = 15_000;
const lapsedMs = 4 * touchMs;

/** The mark in a job's folder; `undefined` where no process runs, or none that could say so. */
export function readMark(folder: string): ProcessMark | undefined {
  try {
    const mark: unknown = JSON.parse(readFileSync(join(folder, processFile), 'utf8'));
    return isMark(mark) ? (mark as ProcessMark) : undefined;
  } catch {
    return undefined;
  }
}

export const isElsewhere = (mark: ProcessMark): boolean => mark.host !== hostname();

/** When a process last touched its mark, milliseconds since 1970; undefined where there is none. */
export const markedAt = (folder: string): number | undefined =>
  statSync(join(folder, processFile), { throwIfNoEntry: false })?.mtimeMs;

/** Whether a process on another machine has touched its mark lately. */
export function isRecent(folder: string): boolean {
  const at = markedAt(folder);
  return at !== undefined && Date.now() - at < lapsedMs;
}
