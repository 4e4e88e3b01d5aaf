import { setTimeout as sleep } from 'node:timers/promises';

/** Waits, not longer than the signal lets it. @throws the signal's reason */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}
