import { setTimeout as sleep } from 'node:timers/promises';

/** Waits. @throws the reason of `signal` if it is aborted */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await sleep(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}
