import { setTimeout as pause } from 'node:timers/promises';
import { ClusterError } from '#cluster/errors.ts';

/** Waits so many milliseconds. @throws ClusterError Aborted */
export async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(milliseconds, undefined, { signal });
  } catch (cause) {
    throw new ClusterError('Aborted', 'Waiting for Ray was canceled.', '', { cause });
  }
}
