import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { processFile } from '#processes/jobsFolder.ts';
import { isCount, isText, shape } from '#shared/jobs/jobShapes.ts';

/** Content of the mark file, by which other processes find the process of a running job. */
export type ProcessMark = {
  readonly pid: number;
  /** Host name. Machines may share a home directory, but a socket in it works only on the machine that created it. */
  readonly host: string;
  /** Path of a socket or named pipe. While it accepts connections, the process lives. */
  readonly address: string;
  /** Needed on Windows, where other users may open a named pipe. */
  readonly secret: string;
};

/** Written to stdout when the process has taken over its job. Nothing else is ever written there. */
export const readyWord = 'ready\n';

const isMark = shape({ pid: isCount, host: isText, address: isText, secret: isText });

/** Interval at which a process touches its mark, and the time after which one on another machine counts as dead. */
export const touchMs = 15_000;
const lapsedMs = 4 * touchMs;

/** Reads the mark in a job's folder, `undefined` if there is no valid one. */
export function readMark(folder: string): ProcessMark | undefined {
  try {
    const mark: unknown = JSON.parse(readFileSync(join(folder, processFile), 'utf8'));
    return isMark(mark) ? (mark as ProcessMark) : undefined;
  } catch {
    return undefined;
  }
}

export const isElsewhere = (mark: ProcessMark): boolean => mark.host !== hostname();

/** When a process last touched its mark, milliseconds since 1970; `undefined` if there is none. */
export const markedAt = (folder: string): number | undefined =>
  statSync(join(folder, processFile), { throwIfNoEntry: false })?.mtimeMs;

/** Whether a process, which may run on another machine, touched its mark recently. */
export function isRecent(folder: string): boolean {
  const at = markedAt(folder);
  return at !== undefined && Date.now() - at < lapsedMs;
}
