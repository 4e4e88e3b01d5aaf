import { readFileSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { processFile } from '#processes/jobsFolder.ts';
import { isCount, isString, shapeFor } from '#shared/shape.ts';

/** The content of the mark file. Other processes use it to find the process of a running job. */
export type Heartbeat = {
  readonly pid: number;
  /** Machines may share a home directory, but a socket works only on the machine that created it. */
  readonly host: string;
  /** A socket or named pipe. While it accepts connections, the process lives. */
  readonly address: string;
  /** A secret that clients must send. Needed on Windows, because other users may open a named pipe. */
  readonly secret: string;
};

/** Written to stdout when the process has taken over its job; nothing else is written to stdout. */
export const readyLine = 'ready\n';

const isMark = shapeFor<Heartbeat>({ pid: isCount, host: isString, address: isString, secret: isString });

/** Interval of updating the time of a mark, and the age at which the mark of another machine counts as dead. */
export const heartbeatMs = 15_000;
const lapsedMs = 4 * heartbeatMs;

/** Returns `undefined` if there is no valid mark. */
export function readMark(folder: string): Heartbeat | undefined {
  try {
    const mark: unknown = JSON.parse(readFileSync(join(folder, processFile), 'utf8'));
    return isMark(mark) ? mark : undefined;
  } catch {
    return undefined;
  }
}

export const isOnOtherHost = (mark: Heartbeat): boolean => mark.host !== hostname();

/** Returns when a process last touched its mark, in milliseconds since 1970. */
export const lastHeartbeat = (folder: string): number | undefined =>
  statSync(join(folder, processFile), { throwIfNoEntry: false })?.mtimeMs;

/** Whether the mark is fresh; used for processes on another machine. */
export function isRecent(folder: string): boolean {
  const at = lastHeartbeat(folder);
  return at !== undefined && Date.now() - at < lapsedMs;
}
