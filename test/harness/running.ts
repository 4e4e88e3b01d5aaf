import { existsSync, readFileSync } from 'node:fs';
import * as processes from '#processes/running.ts';

/** Whether a process runs. A zombie does not run, although it is listed until its parent reads its exit code. */
export function isRunning(pid: number): boolean {
  if (!processes.isProcessRunning(pid)) return false;
  try {
    const state = `/proc/${pid}/stat`;
    return !existsSync(state) || readFileSync(state, 'utf8').split(') ').at(-1)?.[0] !== 'Z';
  } catch {
    return false;
  }
}
