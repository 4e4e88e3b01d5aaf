import { existsSync, readFileSync } from 'node:fs';
import * as processes from '#processes/running.ts';

/** Whether a process runs: one that has ended, and is listed until its parent looks at it, does not. */
export function isRunning(pid: number): boolean {
  if (!processes.isProcessRunning(pid)) return false;
  try {
    const state = `/proc/${pid}/stat`;
    return !existsSync(state) || readFileSync(state, 'utf8').split(') ').at(-1)?.[0] !== 'Z';
  } catch {
    return false;
  }
}
